"""Banks and what is particular about them: small files in `quirks/`, found by bank code or by the name of the group."""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

from kontor.domain.providers import Provider


@dataclass(frozen=True, slots=True)
class Quirks:
    """What a bank does differently. A file in `quirks/` names only what differs."""

    uses_mt940: bool = False  # although it offers camt
    has_one_step: bool = False  # no second factor for reading
    history_days: int | None = None  # how far back it answers at all


@dataclass(frozen=True, slots=True)
class FintsBank:
    """Where a bank's server is, and how it is to be treated."""

    bank_code: str
    url: str
    quirks: Quirks = Quirks()


@cache
def load_quirks() -> dict[str, Quirks]:
    """By the name of the file, which is a bank code or a group's name in small letters."""
    quirks = {}
    known = {field.name for field in fields(Quirks)}
    for file in (files(__package__) / "quirks").iterdir():
        if file.name.endswith(".toml"):
            values = tomllib.loads(file.read_text(encoding="utf-8"))
            if odd := set(values) - known:
                raise ValueError(f"{file.name}: unknown {', '.join(sorted(odd))}")
            quirks[file.name.removesuffix(".toml")] = Quirks(**values)
    return quirks


def find_quirks(bank_code: str, group: str | None) -> Quirks:
    known = load_quirks()
    name = (group or "").lower().replace(" ", "-")
    return known.get(bank_code) or known.get(name) or Quirks()


def find_fints_bank(provider: Provider) -> FintsBank | None:
    if provider.bank_code is None or provider.address is None:
        return None
    return FintsBank(provider.bank_code, provider.address, find_quirks(provider.bank_code, provider.group))
