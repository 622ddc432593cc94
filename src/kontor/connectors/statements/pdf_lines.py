"""The text of a PDF as lines of words with their places on the page. A scan has none."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kontor.connectors.statements.results import StatementError

if TYPE_CHECKING:
    from kontor.connectors.statements.pdf_letters import Letter

WORD_GAP = 0.18  # of a character's height; between the letters of a word there is less
LINE_SHIFT = 0.4  # of a character's height; words of one line may stand a little higher or lower
_BLANKS = re.compile(r"[\s\u00a0\u202f]+")


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """`height` counts from the bottom of the page to the line."""

    page: int
    height: float
    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


def read_lines(data: bytes) -> list[Line]:
    """From the first page to the last, each from top to bottom. Raises StatementError."""
    # Imported here, as it takes long and few processes ever read a PDF.
    from kontor.connectors.statements.pdf_letters import read_letters

    lines = [line for number, letters in enumerate(read_letters(data), 1) for line in _group_lines(number, letters)]
    if not lines:
        raise StatementError("The PDF has no text: it is a scan, or a picture.")
    return lines


def _group_lines(page: int, letters: Iterable["Letter"]) -> Iterator[Line]:
    group: list[Letter] = []
    for letter in sorted(letters, key=lambda letter: -letter.bottom):
        if group and group[0].bottom - letter.bottom > LINE_SHIFT * max(group[0].size, letter.size):
            yield from _make_line(page, group)
            group = []
        group.append(letter)
    yield from _make_line(page, group)


def _make_line(page: int, letters: list["Letter"]) -> Iterator[Line]:
    words = tuple(_list_words(sorted(letters, key=lambda letter: letter.left)))
    if words:
        yield Line(page, letters[0].bottom, words)


def _list_words(letters: list["Letter"]) -> Iterator[Word]:
    group: list[Letter] = []
    for letter in letters:
        is_blank = _BLANKS.fullmatch(letter.text) is not None or not letter.text
        if group and (is_blank or letter.left - group[-1].right > WORD_GAP * letter.size):
            yield _make_word(group)
            group = []
        if not is_blank:
            group.append(letter)
    if group:
        yield _make_word(group)


def _make_word(letters: list["Letter"]) -> Word:
    return Word("".join(letter.text for letter in letters), letters[0].left, letters[-1].right)
