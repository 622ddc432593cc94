"""Bank profiles: addresses, dialect and quirks of a bank or a family of banks, in one TOML file each.

Those in `data/` come with Kontor. A file of the same name in the operator's folder (`KONTOR_BANKS`) replaces one.
"""

from kontor.connectors.profiles.reading import (
    Family,
    OwnBank,
    ProfileError,
    Profiles,
    load_profiles,
    load_shipped,
)

__all__ = ["Family", "OwnBank", "ProfileError", "Profiles", "load_profiles", "load_shipped"]
