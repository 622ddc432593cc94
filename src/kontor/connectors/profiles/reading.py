"""Reading bank profiles. Whatever is not understood is an error: a typing error must not hide a bank or a quirk.

```toml
groups = ["ING"]                  # of the catalogue: whose banks these are
codes = ["50010517"]              # and these bank codes
sources = ["https://…"]           # where it is from
offers = ["accounts", "depots"]   # over FinTS, as far as it is known: accounts, cards, depots

[fints]                           # `address`, and values of `Quirks`
address = "https://fints.bank.example/fints"

[xs2a]                            # the dialect: values of `Xs2aBank`

[statistics]                      # measured somewhere, for reviewers
fetches = 120

[[bank]]                          # a bank of its own
code = "99999999"                 # of the catalogue, or a new one, which then needs a name
name = "Testbank"
fints = "https://127.0.0.1:8443/fints"

[bank.xs2a]
base_url = "https://xs2a.example"
```
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from kontor.domain.providers import Capability

_KNOWN = {"groups", "codes", "sources", "offers", "fints", "xs2a", "statistics", "bank"}
_KNOWN_OF_BANK = {"code", "name", "bic", "fints", "xs2a"}
_STATISTICS: dict[str, tuple[type, ...]] = {
    "fetches": (int,),
    "successes": (int,),
    "mean_seconds": (int, float),
    "until": (date,),
}


class ProfileError(Exception):
    """A profile cannot be used, in words for the operator."""


@dataclass(frozen=True, slots=True)
class OwnBank:
    """A single bank, as an operator describes it."""

    code: str
    name: str | None = None
    bic: str | None = None
    fints: str | None = None
    xs2a: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Family:
    """Banks that behave alike, by groups of the catalogue and by bank codes. `place` is where it is described."""

    name: str
    place: str
    groups: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    address: str | None = None
    quirks: Mapping[str, Any] = field(default_factory=dict)
    xs2a: Mapping[str, Any] = field(default_factory=dict)
    offers: tuple[Capability, ...] | None = None


@dataclass(frozen=True, slots=True)
class Profiles:
    """`families` by name, `banks` by bank code."""

    families: Mapping[str, Family] = field(default_factory=dict)
    banks: Mapping[str, OwnBank] = field(default_factory=dict)

    def find_family(self, code: str, group: str | None) -> Family | None:
        """A bank code says more than a group."""
        for family in self.families.values():
            if code in family.codes:
                return family
        return next((family for family in self.families.values() if group and group in family.groups), None)


@cache
def load_shipped() -> Profiles:
    """Those that come with Kontor."""
    return _join(_list_shipped())


def load_profiles(place: Path | None) -> Profiles:
    """The shipped ones, and those of a file or a folder of files; a file replaces a shipped one of the same name."""
    if place is None:
        return load_shipped()
    try:
        own = sorted(place.glob("*.toml")) if place.is_dir() else [place]
    except OSError as error:
        raise ProfileError(f"{place} cannot be read: {error.strerror}") from None
    names = {file.name for file in own}
    return _join([*(file for file in _list_shipped() if file.name not in names), *own])


def _list_shipped() -> list[Traversable]:
    found = (file for file in (files(__package__) / "data").iterdir() if file.name.endswith(".toml"))
    return sorted(found, key=lambda file: file.name)


def _join(found: Sequence[Traversable]) -> Profiles:
    families: dict[str, Family] = {}
    banks: dict[str, OwnBank] = {}
    places: dict[tuple[str, str], str] = {}
    for file in found:
        content = _parse(file)
        family = _read_family(content, file.name.removesuffix(".toml"), str(file))
        families[family.name] = family
        claims = [("group", group) for group in family.groups] + [("bank code", code) for code in family.codes]
        for bank in _read_banks(content, str(file)):
            banks[bank.code] = bank
            claims.append(("bank", bank.code))
        for claim in claims:
            if claim in places:
                raise ProfileError(f"{file}: {' '.join(claim)} occurs twice, also in {places[claim]}")
            places[claim] = str(file)
    return Profiles(families, banks)


def _parse(file: Traversable) -> dict[str, Any]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProfileError(f"{file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProfileError(f"{file} is no TOML: {error}") from None
    if odd := sorted(set(content) - _KNOWN):
        raise ProfileError(f"{file}: unknown {', '.join(odd)}")
    return content


def _read_family(content: Mapping[str, Any], name: str, place: str) -> Family:
    for key in ("groups", "codes", "sources", "offers"):
        values = content.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
            raise ProfileError(f"{place}: {key} must be a list of texts")
    for code in content.get("codes", []):
        _check_code(code, f"{place}: codes")
    fints, xs2a = _read_table(content, "fints", place), _read_table(content, "xs2a", place)
    address = fints.pop("address", None)
    _check_address(address, f"{place}: fints: address")
    _check_statistics(_read_table(content, "statistics", place), place)
    groups, codes = content.get("groups", ()), content.get("codes", ())
    return Family(name, place, tuple(groups), tuple(codes), address, fints, xs2a, _read_offers(content, place))


def _read_offers(content: Mapping[str, Any], place: str) -> tuple[Capability, ...] | None:
    if "offers" not in content:
        return None
    known = {capability.lower(): capability for capability in Capability}
    if odd := sorted(set(content["offers"]) - set(known)):
        raise ProfileError(f"{place}: offers: unknown {', '.join(odd)}; there are {', '.join(known)}")
    return tuple(known[word] for word in known if word in content["offers"])


def _read_table(content: Mapping[str, Any], key: str, place: str) -> dict[str, Any]:
    table = content.get(key, {})
    if not isinstance(table, dict):
        raise ProfileError(f"{place}: {key} must be a table")
    return dict(table)


def _check_statistics(table: Mapping[str, Any], place: str) -> None:
    for key, value in table.items():
        if key not in _STATISTICS:
            raise ProfileError(f"{place}: statistics: unknown {key}; there are {', '.join(_STATISTICS)}")
        if isinstance(value, bool) or not isinstance(value, _STATISTICS[key]):
            raise ProfileError(f"{place}: statistics: {key} has another form")


def _read_banks(content: Mapping[str, Any], place: str) -> list[OwnBank]:
    listed = content.get("bank", [])
    if not isinstance(listed, list) or not all(isinstance(table, dict) for table in listed):
        raise ProfileError(f"{place}: banks must be tables, each begun by [[bank]]")
    return [_read_bank(table, f"{place}: bank {number}") for number, table in enumerate(listed, 1)]


def _read_bank(table: Mapping[str, Any], place: str) -> OwnBank:
    if odd := sorted(set(table) - _KNOWN_OF_BANK):
        raise ProfileError(f"{place}: unknown {', '.join(odd)}")
    code = table.get("code")
    _check_code(code, f"{place}: code")
    for name in ("name", "bic"):
        if name in table and not isinstance(table[name], str):
            raise ProfileError(f"{place}: {name} must be text")
    _check_address(table.get("fints"), f"{place}: fints")
    xs2a = _read_table(table, "xs2a", place)
    return OwnBank(str(code), table.get("name"), table.get("bic"), table.get("fints"), xs2a)


def _check_code(code: object, place: str) -> None:
    if not isinstance(code, str) or not (code.isascii() and code.isdigit() and len(code) == 8):
        raise ProfileError(f"{place} must be the eight digits of a bank code, as text")


def _check_address(address: object, place: str) -> None:
    if address is not None and not (isinstance(address, str) and address.startswith("https://")):
        raise ProfileError(f"{place} must begin with https://")
