"""Bank profiles: check files before they are used, and show what is known about a bank."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from cyclopts import App, Parameter

from kontor.cli.context import say, use_services
from kontor.config import read_settings
from kontor.domain.errors import InvalidError, NotAllowedNowError

bank = App(name="bank", help="Bank profiles: addresses, dialects and quirks.")


@bank.command(name="check")
def check_file(path: Path) -> None:
    """Check a file or a folder of bank profiles as KONTOR_BANKS would be read. The first mistake is named."""
    from kontor.connectors.profile_checks import check_profiles
    from kontor.connectors.profiles import load_profiles, load_shipped

    profiles, shipped = load_profiles(path), load_shipped().families
    check_profiles(profiles)
    own = [name for name, family in profiles.families.items() if family != shipped.get(name)]
    say(f"Usable: {len(own)} profiles with {len(profiles.banks)} banks.")
    if replaced := sorted(set(own) & set(shipped)):
        say(f"Replaces what Kontor knows about {', '.join(replaced)}.")


@bank.command(name="show")
def show_bank(
    code: str,
    *,
    statistics: Annotated[bool, Parameter(negative="", help="With what this installation has measured.")] = False,
) -> None:
    """Print what is known about a bank, by its bank code, in the form of a profile."""
    from kontor.connectors.catalogue import load_catalogue, provider_id
    from kontor.connectors.profile_checks import load_bank_profiles

    profiles = load_bank_profiles(read_settings().banks)
    found = load_catalogue(frozenset(["fints", "xs2a"]), True, profiles).find(provider_id(code))
    if found is None:
        raise InvalidError("no bank has this code", code)
    family = profiles.find_family(code, found.group)
    tables: dict[str, dict[str, Any]] = {"": {"codes": [code]}}
    tables["fints"] = {"address": found.address} if found.address else {}
    if family is not None:
        if family.offers is not None:
            tables[""] |= {"offers": [capability.lower() for capability in family.offers]}
        tables["fints"] |= family.quirks
        tables["xs2a"] = dict(family.xs2a)
    if statistics:
        tables["statistics"] = _measure(found.id)
    say(f"{found.name}, {'no profile' if family is None else f'profile {family.place}'}")
    print(_write(tables))  # noqa: T201 (for a file)


@bank.command(name="fetch")
def fetch_list(
    file: Path,
    *,
    country: Annotated[
        list[str] | None, Parameter(negative="", help="Two letters, such as DE; repeatable.", show_default=False)
    ] = None,
    name: Annotated[
        list[str] | None,
        Parameter(negative="", help="Only banks whose name contains this; repeatable.", show_default=False),
    ] = None,
) -> None:
    """Write the banks that Enable Banking reaches to a file, for KONTOR_ENABLE_BANKING_BANKS. Germany's by default."""
    from kontor.bootstrap import load_enable_banking
    from kontor.connectors.aspsps import choose_banks, write_bank_list
    from kontor.connectors.catalogue import find_aspsps, load_catalogue
    from kontor.connectors.enablebanking import list_banks
    from kontor.connectors.enablebanking.failures import CallError
    from kontor.connectors.profile_checks import load_bank_profiles

    settings = read_settings()
    access = load_enable_banking(settings)
    try:
        found = [bank for code in country or ["DE"] for bank in list_banks(*access, code.upper())]
    except CallError as error:
        raise NotAllowedNowError(f"Enable Banking gives no list: {error.detail or error.kind}.") from None
    chosen = choose_banks(found, name or [])
    if not chosen:
        raise InvalidError("no bank fits", "--name")
    file.write_bytes(write_bank_list(chosen))
    profiles = load_bank_profiles(settings.banks)
    known = load_catalogue(frozenset(["fints", "xs2a"]), True, profiles)
    linked = sum(known.find(id) is not None for id in find_aspsps(profiles, chosen))
    say(f"Written to {file}: {len(chosen)} banks, {linked} of them in the catalogue already.")


def _measure(provider: UUID) -> dict[str, Any]:
    measured = use_services(lambda services: services.providers.read_statistics(provider))
    told = {"fetches": measured.fetches, "successes": measured.successes, "until": datetime.now(UTC).date()}
    return told | ({} if measured.mean_seconds is None else {"mean_seconds": round(measured.mean_seconds, 1)})


def _write(tables: Mapping[str, Mapping[str, Any]]) -> str:
    lines: list[str] = []
    for name, values in tables.items():
        if values:
            lines += ["", f"[{name}]"] if name else []
            lines += [f"{key} = {_write_value(value)}" for key, value in values.items()]
    return "\n".join(lines)


def _write_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | date):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_write_value(item) for item in value)}]"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
