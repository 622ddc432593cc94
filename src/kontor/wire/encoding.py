"""JSON as the interface wants it: money as numbers with their decimals, times as Berlin wall time."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

BERLIN = ZoneInfo("Europe/Berlin")

_encoder = msgspec.json.Encoder(decimal_format="number")


def encode_json(value: Any) -> bytes:
    return _encoder.encode(value)


def format_timestamp(at: datetime) -> str:
    """`yyyy-mm-dd HH:MM:SS`, in Berlin."""
    return at.astimezone(BERLIN).strftime("%Y-%m-%d %H:%M:%S")
