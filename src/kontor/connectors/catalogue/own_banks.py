"""Banks as the operator describes them in a file of their own: other addresses, and ways that no public list has.

```toml
[[bank]]
code = "99999999"                 # a bank of the catalogue, or a new one, which then needs a name
name = "Testbank"
fints = "https://127.0.0.1:8443/fints"

[bank.xs2a]                       # the bank's profile, see the guide
base_url = "https://xs2a.example"
```
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_KNOWN = {"code", "name", "bic", "fints", "xs2a"}


class OwnBanksError(Exception):
    """The file cannot be used, in words for the operator."""


@dataclass(frozen=True, slots=True)
class OwnBank:
    code: str
    name: str | None = None
    bic: str | None = None
    fints: str | None = None
    xs2a: Mapping[str, Any] = field(default_factory=dict)


def read_own_banks(file: Path | None) -> dict[str, OwnBank]:
    """By bank code. Whatever is not understood stops the start: a typing error must not hide a bank."""
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise OwnBanksError(f"KONTOR_BANKS: {file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OwnBanksError(f"KONTOR_BANKS: {file} is no TOML: {error}") from None
    if odd := sorted(set(content) - {"bank"}):
        raise OwnBanksError(f"KONTOR_BANKS: unknown {', '.join(odd)}")
    listed = content.get("bank", [])
    if not isinstance(listed, list) or not all(isinstance(table, dict) for table in listed):
        raise OwnBanksError("KONTOR_BANKS: banks must be tables, each begun by [[bank]]")
    banks: dict[str, OwnBank] = {}
    for number, table in enumerate(listed, 1):
        bank = _read(table, f"KONTOR_BANKS: bank {number}")
        if bank.code in banks:
            raise OwnBanksError(f"KONTOR_BANKS: bank {bank.code} occurs twice")
        banks[bank.code] = bank
    return banks


def _read(table: Mapping[str, Any], place: str) -> OwnBank:
    if odd := sorted(set(table) - _KNOWN):
        raise OwnBanksError(f"{place}: unknown {', '.join(odd)}")
    code = table.get("code")
    if not isinstance(code, str) or not (code.isascii() and code.isdigit() and len(code) == 8):
        raise OwnBanksError(f"{place}: code must be the eight digits of a bank code, as text")
    for name in ("name", "bic", "fints"):
        if name in table and not isinstance(table[name], str):
            raise OwnBanksError(f"{place}: {name} must be text")
    if "fints" in table and not table["fints"].startswith("https://"):
        raise OwnBanksError(f"{place}: fints must begin with https://")
    if "xs2a" in table and not isinstance(table["xs2a"], dict):
        raise OwnBanksError(f"{place}: xs2a must be a table")
    return OwnBank(code, table.get("name"), table.get("bic"), table.get("fints"), table.get("xs2a", {}))
