"""Layouts of bank texts: where a bank writes the name, and what around it is none of it.

Each file of `data/layouts` describes a layout, with examples of how it is read and with a template that writes other
rows in it. A layout with a pattern is read here: the name, and what is left of the purpose. A layout without one is
read by the code that its comment names; its file holds the examples and the template.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from kontor.analysis.tagging.layout_files import LayoutFile, read_layout_files, read_noise

CASH_TEXT = "Bargeldauszahlung"
# Cash machines give notes.
MIN_NOTE = 5


class Found:
    """What a layout tells of a row."""

    def __init__(self, layout: str, name: str, place: str, purpose: str, channel: str) -> None:
        self.layout, self.name, self.place, self.purpose, self.channel = layout, name, place, purpose, channel


class Layout:
    def __init__(self, key: str, file: LayoutFile) -> None:
        self.key, self.signs, self.named, self.unnamed = key, file.signs, file.named, file.unnamed
        self._pattern, self._channel, self._is_cash = re.compile(file.pattern), file.channel, file.is_cash
        self._no_booking_text, self._booking_words = file.no_booking_text, file.booking_words

    def read(self, purpose: str, booking_text: str, amount: Decimal) -> Found | None:
        if self._no_booking_text and booking_text:
            return None
        if self._booking_words and not any(word in booking_text.lower() for word in self._booking_words):
            return None
        if self._is_cash and (amount >= 0 or amount % MIN_NOTE):
            return None
        match = self._pattern.search(purpose)
        if match is None:
            return None
        parts = match.groupdict("")
        text = CASH_TEXT if self._is_cash else parts.get("text", "")
        return Found(self.key, parts["name"].strip(), parts.get("place", "").strip(), text.strip(), self._channel)


class Layouts:
    """Tells the layout of a row. Most rows hold none of the signs, so that nothing else is looked at."""

    def __init__(self, layouts: Sequence[Layout], noise: Sequence[tuple[str, re.Pattern[str]]]) -> None:
        self._named = [(sign, layout) for layout in layouts if layout.named for sign in layout.signs]
        self._unnamed = [(sign, layout) for layout in layouts if layout.unnamed for sign in layout.signs]
        self._noise = list(noise)

    def read(self, name: str, purpose: str, booking_text: str, amount: Decimal) -> Found | None:
        for sign, layout in self._named if name else self._unnamed:
            if sign in purpose and (found := layout.read(purpose, booking_text, amount)) is not None:
                return found
        return None

    def cut_noise(self, purpose: str) -> str:
        """The purpose without what banks add to it."""
        for sign, pattern in self._noise:
            if sign in purpose:
                purpose = pattern.sub(" ", purpose).strip()
        return purpose


@lru_cache(maxsize=1)
def load_layouts() -> Layouts:
    layouts = [Layout(key, file) for key, file in read_layout_files().items() if file.pattern]
    return Layouts(layouts, [(noise.sign, re.compile(noise.pattern)) for noise in read_noise()])
