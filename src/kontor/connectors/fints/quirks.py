"""Banks and what is particular about them over FinTS, from their profiles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from kontor.connectors.profiles import Profiles
from kontor.domain.providers import Provider


class Quirks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a bank does differently. A profile names only what differs."""

    uses_mt940: bool = False  # although it offers camt
    has_one_step: bool = False  # no second factor for reading
    history_days: int | None = None  # how far back it answers at all


@dataclass(frozen=True, slots=True)
class FintsBank:
    """Where a bank's server is, and how it is to be treated."""

    bank_code: str
    url: str
    quirks: Quirks = Quirks()


def read_quirks(values: Mapping[str, Any]) -> Quirks:
    """Raises ValueError for what is none."""
    try:
        return msgspec.convert(dict(values), Quirks)
    except msgspec.ValidationError as error:
        raise ValueError(f"fints: {error}") from None


def find_quirks(profiles: Profiles, bank_code: str, group: str | None) -> Quirks:
    family = profiles.find_family(bank_code, group)
    return Quirks() if family is None else read_quirks(family.quirks)


def find_fints_bank(profiles: Profiles, provider: Provider) -> FintsBank | None:
    if provider.bank_code is None or provider.address is None:
        return None
    return FintsBank(provider.bank_code, provider.address, find_quirks(profiles, provider.bank_code, provider.group))
