"""What a CSV that nobody has described yet looks like: separator, encoding, and columns with an example each."""

import csv
import re
from collections.abc import Sequence
from io import StringIO
from itertools import pairwise

from kontor.connectors.statements.csv_profiles import fold_name
from kontor.connectors.statements.csv_tables import DELIMITERS, HEADER_CHARACTERS, HEADER_ROWS, normalise
from kontor.connectors.statements.csv_values import is_day, is_number
from kontor.connectors.statements.decoding import cut_head, decode_named
from kontor.connectors.statements.results import UnknownTable

EXAMPLE_ROWS = 50
MAX_COLUMNS = 200  # no bank's file comes near; the rest of a wider table is left out
MAX_EXAMPLE = 100
_ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "cp1252": "windows-1252",
    "cp850": "IBM850",
    "latin-1": "ISO-8859-1",
}
_UNPRINTABLE = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OTHER_FORMATS = ("<", "{", "[", "%PDF")
_DIGIT = re.compile(r"[0-9]")


def describe_table(data: bytes) -> UnknownTable | None:
    """The widest table in the head of a file. None where the file has no header with a booking below it."""
    text, encoding = decode_named(cut_head(data, HEADER_CHARACTERS))
    text = normalise(text)
    if _UNPRINTABLE.search(text) or text.lstrip("\ufeff \n\t").startswith(_OTHER_FORMATS):
        return None
    best: tuple[str, list[list[str]]] | None = None
    for delimiter in DELIMITERS:
        rows = _find_rows(text, delimiter)
        if rows and (best is None or len(rows[0]) > len(best[1][0])):
            best = delimiter, rows
    if best is None:
        return None
    delimiter, (header, *rows) = best
    # A name that comes twice means the last one, as in the reader. Columns without a name cannot be pointed at.
    examples = {name: (title, _find_example(rows, place)) for place, title, name in _list_names(header)}
    return UnknownTable(delimiter, _ENCODINGS[encoding], tuple(examples.values())[:MAX_COLUMNS])


def _list_names(header: Sequence[str]) -> list[tuple[int, str, str]]:
    named = [(place, cell.replace("\ufeff", "").strip()) for place, cell in enumerate(header)]
    return [(place, title, fold_name(title)) for place, title in named if fold_name(title)]


def _find_rows(text: str, delimiter: str) -> list[list[str]]:
    """The header and the rows below it; none where the text is no table with this separator."""
    try:
        rows = [row for row in csv.reader(StringIO(text, newline=""), delimiter=delimiter) if any(map(str.strip, row))]
    except csv.Error:
        return []
    for number, (header, first) in enumerate(pairwise(rows)):
        if number >= HEADER_ROWS:
            break
        # Some banks end their rows with a separator, and not their header.
        if _is_header(header) and abs(len(first) - len(header)) <= 1 and _has_values(first):
            return rows[number : number + EXAMPLE_ROWS]
    return []


def _is_header(row: Sequence[str]) -> bool:
    cells = [cell.strip() for cell in row if cell.strip()]
    return len(cells) >= 2 and not any(_is_value(cell) for cell in cells)


def _is_value(cell: str) -> bool:
    has_letters = any(character.isalpha() for character in cell)
    return is_day(cell) or is_number(cell) or (_DIGIT.search(cell) is not None and not has_letters)


def _has_values(row: Sequence[str]) -> bool:
    """A booking has a day and an amount at least."""
    return sum(_DIGIT.search(cell) is not None for cell in row) >= 2


def _find_example(rows: Sequence[Sequence[str]], place: int) -> str:
    texts = (" ".join(row[place].split()) for row in rows if place < len(row))
    return next((text for text in texts if text), "")[:MAX_EXAMPLE]
