"""Bank profiles as files hold them, checked before anything uses them: also the values that only a connector reads."""

from pathlib import Path

from kontor.connectors.catalogue import list_groups, load_catalogue
from kontor.connectors.profiles import ProfileError, Profiles, load_profiles


def load_bank_profiles(place: Path | None) -> Profiles:
    """Checked, also the values that only a connector understands."""
    try:
        profiles = load_profiles(place)
        if place is not None:
            check_profiles(profiles)
    except ProfileError as error:
        raise ProfileError(f"KONTOR_BANKS: {error}") from None
    return profiles


def check_profiles(profiles: Profiles) -> None:
    """Raises ProfileError for the first value that the catalogue or a connector does not understand."""
    from kontor.connectors.fints.quirks import read_quirks
    from kontor.connectors.xs2a import read_profile
    from kontor.connectors.xs2a.banks import list_dialects

    for family in profiles.families.values():
        if unknown := sorted(set(family.groups) - list_groups()):
            raise ProfileError(f"{family.place}: no bank of the catalogue is in {', '.join(unknown)}")
        try:
            read_quirks(family.quirks)
        except ValueError as error:
            raise ProfileError(f"{family.place}: {error}") from None
    try:
        list_dialects(profiles)
        for code, bank in profiles.banks.items():
            if bank.xs2a:
                read_profile(bank.xs2a, code, profiles)
        load_catalogue(frozenset(), True, profiles)  # new banks have what they need
    except ValueError as error:
        raise ProfileError(str(error)) from None
