"""Bookings that a bank sends as statements (MT940, camt) instead of fields, as rows of an account."""

from collections.abc import Sequence
from dataclasses import dataclass

from kontor.connectors.base import Problem, ProblemKind
from kontor.connectors.rejections import report_rejected
from kontor.connectors.statements import Statement
from kontor.connectors.statements.chains import link_statements
from kontor.connectors.statements.results import IssueKind
from kontor.domain.balances import BalanceSpan
from kontor.domain.transactions import Transaction, mark_channel

NOTHING = b"\r\n\t @-"  # an MT940 of these alone has no statement


@dataclass(frozen=True, slots=True)
class Bookings:
    """What a bank says of an account. `rows` is None where it cannot be read at all."""

    rows: tuple[Transaction, ...] | None
    spans: tuple[BalanceSpan, ...] = ()
    problems: tuple[Problem, ...] = ()


def collect_bookings(key: str, statements: Sequence[Statement]) -> Bookings:
    problems = tuple(
        Problem(ProblemKind.TRANSACTIONS, key, f"{issue.kind}: {issue.detail or issue.found}")
        for statement in statements
        for issue in statement.issues
        if issue.kind is not IssueKind.BALANCE_MISMATCH  # balances are compared with what is stored
    )
    if rejected := [row for statement in statements for row in statement.rejected]:
        problems += (report_rejected(key, rejected),)
    rows = tuple(row for statement in statements for row in mark_channel(statement.entries, str(statement.kind)))
    return Bookings(rows, tuple(span for chain in link_statements(statements) for span in chain.spans), problems)
