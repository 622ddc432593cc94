"""The files of layouts: what they may say, and reading them."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

import msgspec


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A made-up row, and the name (folded), channel and words of the purpose that are read from it."""

    amount: str
    reads: str
    purpose: str = ""
    name: str = ""
    booking_text: str = ""
    channel: str = ""
    keeps: str = ""


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a row is written in this layout. `rows` says which rows banks write so, by their channel."""

    rows: tuple[str, ...]
    purpose: str
    name: str = ""
    booking_text: str = ""
    upper: bool = False
    longest_name: int = 70


class LayoutFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`signs`: the purpose holds one of them. `booking_words`: the booking text holds one of them; empty for all, and
    `no_booking_text` for rows without one. `named` and `unnamed`: rows with a counterparty and without."""

    title: str
    examples: tuple[Example, ...]
    signs: tuple[str, ...] = ()
    pattern: str = ""
    order: int = 50
    channel: str = ""
    is_cash: bool = False
    named: bool = True
    unnamed: bool = True
    no_booking_text: bool = False
    booking_words: tuple[str, ...] = ()
    template: Template | None = None


class Noise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Text that banks add to any purpose: a sign that is looked for first, and the pattern that is taken out."""

    sign: str
    pattern: str


class NoiseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    noise: tuple[Noise, ...]


@lru_cache(maxsize=1)
def read_layout_files() -> Mapping[str, LayoutFile]:
    """All layouts by the names of their files, those that are tried first in front."""
    folder = files("kontor.analysis") / "data" / "layouts"
    found = {
        entry.name.removesuffix(".toml"): msgspec.convert(tomllib.loads(entry.read_text(encoding="utf-8")), LayoutFile)
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))


def read_noise() -> tuple[Noise, ...]:
    text = (files("kontor.analysis") / "data" / "layout_noise.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), NoiseFile).noise
