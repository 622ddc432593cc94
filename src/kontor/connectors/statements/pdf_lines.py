"""The text of a PDF as lines of words with their places on the page. A scan has none."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kontor.connectors.statements.results import StatementError

if TYPE_CHECKING:
    from kontor.connectors.statements.pdf_letters import Letter

FIRST_PAGES = 2  # on which a statement names its bank
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


def read_lines(data: bytes, is_known: Callable[[Sequence[Line]], bool]) -> list[Line]:
    """From the first page to the last, each from top to bottom. Raises StatementError.

    Where the first pages are not known, the others are not read: a book may have a thousand.
    """
    # Imported here, as it takes long and few processes ever read a PDF.
    from kontor.connectors.statements.pdf_letters import list_pages

    lines: list[Line] = []
    for number, letters in enumerate(list_pages(data), 1):
        lines += _group_lines(number, letters)
        if number == FIRST_PAGES and not is_known(lines):
            break
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
