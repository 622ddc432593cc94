"""The bookings in the tables of a PDF, as texts by field."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from kontor.connectors.statements.csv_values import parse_number
from kontor.connectors.statements.pdf_lines import Line, Word
from kontor.connectors.statements.pdf_profiles import AMOUNT, Columns, Table
from kontor.connectors.statements.results import StatementError

MAX_RAISE = 10  # points by which an amount may stand above its line
_AMOUNT = re.compile(AMOUNT)


@dataclass(slots=True)
class PdfRow:
    """A booking: its amount, and the texts of its other fields. What belongs to no field is its purpose."""

    page: int
    amount: Decimal
    fields: dict[str, str]
    purpose: list[str] = field(default_factory=list)


def join_amounts(lines: Sequence[Line]) -> list[Line]:
    """Each line that is an amount alone, at the end of the one below it."""
    joined: list[Line] = []
    for line in lines:
        above = joined[-1] if joined else None
        is_below = above is not None and above.page == line.page and above.height - line.height <= MAX_RAISE
        if above is not None and is_below and _AMOUNT.fullmatch(above.text) and not _AMOUNT.fullmatch(line.text):
            joined[-1] = Line(line.page, line.height, line.words + above.words)
        else:
            joined.append(line)
    return joined


def list_tables(lines: Sequence[Line], table: Table) -> Iterator[tuple[Line, list[Line]]]:
    """The header of each table and the lines below it. A table ends with its page."""
    header: Line | None = None
    rows: list[Line] = []
    for line in lines:
        is_header = table.header.search(line.text) is not None
        is_over = header is not None and (line.page != header.page or any(end.search(line.text) for end in table.ends))
        if header is not None and (is_header or is_over):
            yield header, rows
            header, rows = None, []
        if is_header:
            header = line
        elif header is not None and not any(pattern.search(line.text) for pattern in table.skipped):
            rows.append(line)
    if header is not None:
        yield header, rows


def list_rows(lines: Sequence[Line], table: Table) -> list[PdfRow]:
    """Bookings that begin with their first line. They may go on on the next page."""
    assert table.first is not None
    rows: list[PdfRow] = []
    for header, below in list_tables(lines, table):
        for line in below:
            if match := table.first.search(line.text):
                rows.append(_begin_row(line, header, match, table))
            elif rows:
                _continue_row(rows[-1], line.text, table)
    return rows


def _begin_row(line: Line, header: Line, match: re.Match[str], table: Table) -> PdfRow:
    texts = {name: text.strip() for name, text in match.groupdict().items() if text and text.strip()}
    amount = _parse_amount(texts.pop("amount"), line)
    if table.debit is not None and line.words[-1].left < _find_heading(header, table.debit)[-1].right:
        amount = -amount
    return PdfRow(line.page, amount, texts, [texts.pop("purpose")] if "purpose" in texts else [])


def _continue_row(row: PdfRow, text: str, table: Table) -> None:
    for pattern in table.further:
        match = pattern.search(text)
        texts = {name: value for name, value in match.groupdict().items() if value} if match else {}
        if texts and not row.fields.keys() & texts.keys():
            if purpose := texts.pop("purpose", None):
                row.purpose.append(purpose)
            row.fields |= texts
            return
    row.purpose.append(text)


def list_centred_rows(lines: Sequence[Line], table: Table, columns: Columns, opening: Decimal) -> list[PdfRow]:
    """Rows whose cells are centred: each has one line with its amounts, and others above and below that line."""
    rows: list[PdfRow] = []
    balance = opening
    for header, below in list_tables(lines, table):
        text_left, purpose_left = (
            _find_heading(header, heading)[0].left - 1 for heading in (columns.booking_text, columns.purpose)
        )
        for group, anchor, match in _split_rows(below, columns):
            amount, after = (_parse_amount(text, anchor) for text in match.groups())
            sign = 1 if balance + amount == after else -1
            if balance + sign * amount != after:
                raise StatementError(f"The balance {after} on page {anchor.page} does not follow from the one before.")
            balance = after
            words = [word for line in group for word in _drop_amounts(line, anchor, match)]
            cells = {
                "booked": [word for word in words if word.left < text_left],
                "booking_text": [word for word in words if text_left <= word.left < purpose_left],
                "purpose": [word for word in words if word.left >= purpose_left],
            }
            texts = {name: " ".join(word.text for word in cell) for name, cell in cells.items() if cell}
            purpose = texts.pop("purpose", "")
            rows.append(PdfRow(anchor.page, sign * amount, texts, [purpose] if purpose else []))
    return rows


def _split_rows(lines: list[Line], columns: Columns) -> Iterator[tuple[list[Line], Line, re.Match[str]]]:
    """Between two lines with amounts the next row begins below the widest gap."""
    anchors = [(place, match) for place, line in enumerate(lines) if (match := columns.amounts.search(line.text))]
    starts = [0]
    for (upper, _), (lower, _) in pairwise(anchors):
        gaps = [(lines[place].height - lines[place + 1].height, place + 1) for place in range(upper, lower)]
        starts.append(max(gaps)[1])
    for number, (place, match) in enumerate(anchors):
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        yield lines[starts[number] : end], lines[place], match


def _drop_amounts(line: Line, anchor: Line, match: re.Match[str]) -> tuple[Word, ...]:
    return line.words[: -len(match[0].split())] if line is anchor else line.words


def _find_heading(header: Line, text: str) -> tuple[Word, ...]:
    """The words of a heading, wherever they stand in the header."""
    names = text.split()
    for place in range(len(header.words) - len(names) + 1):
        words = header.words[place : place + len(names)]
        if [word.text for word in words] == names:
            return words
    raise StatementError(f"The column {text} is missing.")


def _parse_amount(text: str, line: Line) -> Decimal:
    try:
        return parse_number(text.replace(" ", ""), ",")
    except ValueError as error:
        raise StatementError(f"An amount on page {line.page} cannot be read: {error}.") from error
