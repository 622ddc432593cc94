"""Statements that continue each other: pages of one statement, and statements whose balances join.

Where one begins with the balance with which another ended, the two have no booking in common.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from kontor.connectors.statements.results import Statement
from kontor.domain.balances import BalanceSpan, make_span
from kontor.domain.transactions import Transaction, find_day, mark_channel

_PAGE = re.compile(r"0*([0-9]+)/0*([0-9]+)")


@dataclass(frozen=True, slots=True)
class Chain:
    """Statements one after the other, with no booking in two of them."""

    statements: list[Statement]

    @property
    def rows(self) -> list[Transaction]:
        return [row for statement in self.statements for row in mark_channel(statement.entries, str(statement.kind))]

    @property
    def spans(self) -> tuple[BalanceSpan, ...]:
        """From the first opening balance to the last closing balance, if the chain has both."""
        opening, closing = self.statements[0].opening, self.statements[-1].closing
        if opening is None or closing is None or opening.currency != closing.currency:
            return ()
        rows = [row for statement in self.statements for row in statement.entries]
        if not all(_is_within(row, opening.day, closing.day) for row in rows if not row.is_pending):
            return ()
        span = make_span(opening.amount, closing.amount, opening.currency, rows)
        return () if span is None else (span,)


def link_statements(statements: Iterable[Statement]) -> list[Chain]:
    """Statements of one account as chains, the oldest first. Chains may overlap each other."""
    chains: list[Chain] = []
    for statement in sorted(statements, key=_order):
        chain = next((chain for chain in chains if _is_continued(chain.statements[-1], statement)), None)
        if chain is None:
            chains.append(Chain([statement]))
        else:
            chain.statements.append(statement)
    return chains


def _is_within(row: Transaction, first: date | None, last: date | None) -> bool:
    """Where rows are dated outside their statement, days do not tell which rows its balances count."""
    day = find_day(row)
    return day is None or ((first is None or first <= day) and (last is None or day <= last))


def find_end(statement: Statement) -> date:
    days = [day for day in map(find_day, statement.entries) if day is not None]
    if statement.closing is not None and statement.closing.day is not None:
        days.append(statement.closing.day)
    return max(days, default=date.min)


def _order(statement: Statement) -> tuple[date, bool, tuple[int, int]]:
    """Interim reports before the statement that closes their day."""
    return find_end(statement), not statement.is_interim, _read_page(statement) or (0, 0)


def _read_page(statement: Statement) -> tuple[int, int] | None:
    """Number of the statement and of its page: `00123/002`."""
    match = _PAGE.fullmatch(statement.sequence or "")
    return (int(match[1]), int(match[2])) if match else None


def _is_continued(before: Statement, after: Statement) -> bool:
    if before.kind is not after.kind or _is_repeated(before, after):
        return False
    page, next_page = _read_page(before), _read_page(after)
    if page is not None and next_page is not None and (page[0], page[1] + 1) == next_page:
        return True
    closing, opening = before.closing, after.opening
    if closing is None or opening is None or (closing.amount, closing.currency) != (opening.amount, opening.currency):
        return False
    return closing.day is None or opening.day is None or closing.day <= opening.day


def _is_repeated(before: Statement, after: Statement) -> bool:
    """The same statement again. Where a day's bookings add up to nothing, it would seem to continue itself."""
    if (before.opening, before.closing) != (after.opening, after.closing):
        return False
    return Counter(map(_sketch, before.entries)) == Counter(map(_sketch, after.entries))


def _sketch(row: Transaction) -> tuple[object, ...]:
    return row.amount, find_day(row)
