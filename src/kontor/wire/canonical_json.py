"""Canonical JSON after RFC 8785: the same value gives the same bytes, in every language that can do the same."""

import json
from decimal import Decimal
from typing import Any

_MOST = 2**53  # beyond, a number of JavaScript is not exact


def canonicalize(value: Any) -> bytes:
    """Of what `msgspec.to_builtins` makes; amounts may be Decimal."""
    return _write(value).encode()


def _write(value: Any) -> str:
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | Decimal):
        return _write_number(value)
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{_write(value[name])}" for name in names) + "}"
    assert isinstance(value, list | tuple), f"no JSON: {type(value)}"
    return "[" + ",".join(map(_write, value)) + "]"


def _write_number(value: int | Decimal) -> str:
    """As ECMAScript writes the double that is closest: 12.30 is 12.3, and 12.00 is 12."""
    number = float(value)
    assert abs(number) < _MOST, "no amount is as large"
    text = str(int(number)) if number.is_integer() else repr(number)
    assert "e" not in text, "no amount is as small"
    return text
