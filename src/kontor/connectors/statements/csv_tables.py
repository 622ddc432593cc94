"""Where the tables of a CSV begin, and which bank's layout they have. Layouts are data, see `csv_profiles.py`."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from kontor.connectors.statements.csv_profiles import Profile, fold_name, load_profiles
from kontor.connectors.statements.decoding import decode_text
from kontor.connectors.statements.results import Limits, StatementError, TooManyEntriesError

DELIMITERS = (";", ",", "\t", "|")
HEADER_ROWS = 40
HEADER_CHARACTERS = 65_536

Row = tuple[int, list[str]]  # with the line of the file on which it begins


@dataclass(frozen=True, slots=True)
class Layout:
    """A profile, and how it was found. `names` are its columns; without a header, their numbers."""

    profile: Profile
    delimiter: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table below its header, and those above it, which tell whose it is."""

    layout: Layout
    above: list[Row]
    header: list[str]
    rows: list[Row]


def find_layout(data: bytes, profiles: Sequence[Profile]) -> Layout | None:
    """The layout of the first table in a file that was not decoded yet."""
    return _find_layout(normalise(decode_text(data)), profiles)


def list_tables(data: bytes, limits: Limits, profiles: Sequence[Profile]) -> list[Table]:
    """Usually one. comdirect puts several accounts into one download, each below the other in a layout of its own."""
    text = normalise(decode_text(data))
    layout = _find_layout(text, profiles)
    if layout is None:
        raise StatementError("The columns of this CSV are those of no bank Kontor knows.")
    rows = list(_split_rows(text, layout.delimiter, limits))
    if layout.profile.row is not None:
        return [Table(layout, [], [], rows)]
    start, header, tables = 0, _find_header(rows, layout), []
    for number, following in _list_further_headers(rows, header, layout):
        # The title and the balance of a table stand above it, behind the last full row of the one before.
        end = number
        while end > header + 1 and len(rows[end - 1][1]) * 2 <= len(layout.names):
            end -= 1
        tables.append(_cut_table(layout, rows, start, header, end))
        layout, start, header = following, end, number
    tables.append(_cut_table(layout, rows, start, header, len(rows)))
    return tables


def _cut_table(layout: Layout, rows: list[Row], start: int, header: int, end: int) -> Table:
    return Table(layout, rows[start:header], rows[header][1], rows[header + 1 : end])


def normalise(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\x00", "")


def _split_rows(text: str, delimiter: str, limits: Limits) -> Iterator[Row]:
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    try:
        for number, row in enumerate(reader, 1):
            if number > limits.entries:
                raise TooManyEntriesError(f"There are more than {limits.entries} rows.")
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise StatementError(f"The CSV cannot be read: {error}.", line=reader.line_num) from error


def _find_layout(text: str, profiles: Sequence[Profile]) -> Layout | None:
    """The profile whose columns are all in the first such row; with several, the one that knows most of them."""
    head = text[:HEADER_CHARACTERS]
    # A header has no line breaks in it, so lines are enough; quotes that never end do no harm.
    lines = head.split("\n", HEADER_ROWS)[:HEADER_ROWS]
    best: tuple[int, Layout] | None = None
    for delimiter in DELIMITERS:
        for line in lines:
            if delimiter not in line:
                continue
            (cells,) = csv.reader([line], delimiter=delimiter)
            names = tuple(fold_name(cell) for cell in cells)
            found = _match_header(names, profiles)
            if found is None:
                continue
            if best is None or found[0] > best[0]:
                best = found[0], Layout(found[1], delimiter, names)
            break
    return _find_layout_without_header(lines, profiles) if best is None else best[1]


def _match_header(names: tuple[str, ...], profiles: Sequence[Profile]) -> tuple[int, Profile] | None:
    present, best = set(names), None
    for profile in profiles:
        if profile.row is None and present.issuperset(profile.required):
            known = {column for columns in profile.columns.values() for column in columns}
            score = len(known & present)
            if best is None or score > best[0]:
                best = score, profile
    return best


def _find_layout_without_header(lines: list[str], profiles: Sequence[Profile]) -> Layout | None:
    """Every full line of the head has to be a booking, as there is nothing else to tell the layout by."""
    full = [line for line in lines[: HEADER_ROWS - 1] if line.strip()]
    for profile in profiles:
        if profile.row is not None and full and all(profile.row.fullmatch(line) for line in full):
            columns = max(int(column) for names in profile.columns.values() for column in names)
            return Layout(profile, profile.delimiter, tuple(str(number) for number in range(1, columns + 1)))
    return None


def _find_header(rows: list[Row], layout: Layout) -> int:
    for number, (_, row) in enumerate(rows[: HEADER_ROWS * 2]):
        if tuple(fold_name(cell) for cell in row) == layout.names:
            return number
    raise StatementError("The header cannot be found again.", line=1)


def _list_further_headers(rows: list[Row], header: int, first: Layout) -> Iterator[tuple[int, Layout]]:
    """Headers of other layouts of the same bank, below the first one."""
    siblings = tuple(profile for profile in load_profiles() if profile.bank == first.profile.bank)
    if len(siblings) < 2:
        return
    starts = {column for profile in siblings for column in profile.required}
    for number, (_, row) in enumerate(rows[header + 1 :], header + 1):
        if not row or fold_name(row[0]) not in starts:
            continue
        names = tuple(fold_name(cell) for cell in row)
        found = _match_header(names, siblings)
        if found is not None:
            yield number, Layout(found[1], first.delimiter, names)
