"""Random streams that remember nothing.

Every draw comes from a stream named by what it is for (login, purpose, month). So a day's bookings are the same whoever
asks, whenever they ask, and however much was generated before.
"""

from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from typing import TypeVar

Choice = TypeVar("Choice")


def derive_number(*parts: object) -> int:
    """A number of 64 bits that depends on the parts alone, on any machine and in any process."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def open_stream(*parts: object) -> Random:
    return Random(derive_number(*parts))  # noqa: S311 - make-believe data, not secrets


def pick_one(choices: Sequence[Choice], *parts: object) -> Choice:
    return choices[derive_number(*parts) % len(choices)]


def draw_share(*parts: object) -> float:
    """A number from 0 up to 1."""
    return derive_number(*parts) / 2**64


def draw_digits(count: int, *parts: object) -> str:
    """Digits of which the first is not zero."""
    return str(10 ** (count - 1) + derive_number(*parts) % (9 * 10 ** (count - 1)))
