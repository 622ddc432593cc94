"""The banks that the operator offers through Enable Banking (ASPSPs): a file that `kontor bank fetch` writes."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

BUSINESS, PERSONAL = "business", "personal"
ALWAYS_KNOWN = frozenset(("psu-ip-address",))


class SetupError(ValueError):
    """What the operator has set up for Enable Banking cannot be used; in words for the operator."""


class BankListError(SetupError):
    """The list of banks cannot be used."""


class AspspBank(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bank as Enable Banking names it: by name and country. Of a bank's answer to `GET /aspsps` this is kept."""

    name: str
    country: str
    maximum_consent_validity: int  # seconds
    bic: str | None = None
    group: str | None = None
    psu_types: tuple[str, ...] = (PERSONAL,)
    required_psu_headers: tuple[str, ...] = ()
    beta: bool = False

    @property
    def psu_type(self) -> str:
        """Private customers where the bank takes them."""
        return PERSONAL if PERSONAL in self.psu_types or not self.psu_types else BUSINESS

    @property
    def takes_address(self) -> bool:
        """May a customer's address be told? Banks want all headers that they ask for, or none."""
        return {name.lower() for name in self.required_psu_headers} <= ALWAYS_KNOWN


class _BankList(msgspec.Struct):
    banks: tuple[AspspBank, ...]


def read_bank_list(path: Path) -> tuple[AspspBank, ...]:
    """As `kontor bank fetch` has written it. Raises BankListError."""
    try:
        banks = msgspec.json.decode(path.read_bytes(), type=_BankList).banks
    except OSError as error:
        raise BankListError(f"{path} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BankListError(f"{path} is not a list of banks: {error}") from None
    names = [(bank.country, bank.name) for bank in banks]
    if twice := sorted({name for country, name in names if names.count((country, name)) > 1}):
        raise BankListError(f"{path} names {', '.join(twice)} twice")
    if odd := [bank.name for bank in banks if not _is_usable(bank)]:
        raise BankListError(f"{path}: {', '.join(odd)} has no name, no country or no validity of consents")
    return banks


def write_bank_list(banks: Iterable[AspspBank]) -> bytes:
    ordered = tuple(sorted(banks, key=lambda bank: (bank.country, bank.name)))
    return msgspec.json.format(msgspec.json.encode(_BankList(ordered)), indent=2) + b"\n"


def choose_banks(banks: Sequence[AspspBank], names: Sequence[str]) -> tuple[AspspBank, ...]:
    """Those whose name contains one of these texts; all without any."""
    wanted = [name.casefold() for name in names]
    return tuple(bank for bank in banks if not wanted or any(text in bank.name.casefold() for text in wanted))


def _is_usable(bank: AspspBank) -> bool:
    has_country = len(bank.country) == 2 and bank.country.isascii() and bank.country.isupper()
    return bool(bank.name.strip()) and has_country and bank.maximum_consent_validity > 0
