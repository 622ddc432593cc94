"""What a rule of identity makes of a history, judged by the oracle that knows the truth."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, TypeAlias
from uuid import UUID

from benchmarks.merging.histories import Delivery, History
from benchmarks.merging.truths import Booking
from kontor.domain.balances import find_gap
from kontor.domain.merging import StoredTransaction, find_first_day, merge_transactions
from kontor.domain.transactions import Transaction, find_day

Merger: TypeAlias = Callable[[Sequence[StoredTransaction], Sequence[Transaction]], Any]


@dataclass(slots=True)
class Score:
    """`lost` and `doubled` count true bookings at the end, `confused` rows that took another booking's id,
    `alarms` balances that were called wrong although nothing is missing."""

    histories: int = 0
    bookings: int = 0
    deliveries: int = 0
    lost: int = 0
    doubled: int = 0
    confused: int = 0
    alarms: int = 0
    wrong: list[int] = field(default_factory=list)
    behaviours: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Score") -> None:
        for name in ("histories", "bookings", "deliveries", "lost", "doubled", "confused", "alarms"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.wrong += other.wrong
        self.behaviours.update(other.behaviours)

    @property
    def is_right(self) -> bool:
        return not (self.lost or self.doubled or self.confused or self.alarms)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of identity, and from which day it looks at stored rows."""

    merge: Merger
    find_first: Callable[[Delivery], date | None]


def _find_first(delivery: Delivery) -> date | None:
    return find_first_day(delivery.rows, delivery.since, *(span.first.day for span in delivery.spans))


OUR_RULE = Rule(merge_transactions, _find_first)


class Account:
    """Stored rows in memory, each with the true booking that it stands for now."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._count = 0
        self.rows: dict[UUID, Transaction] = {}
        self.truths: dict[UUID, int] = {}

    def take(self, delivery: Delivery, history: History) -> tuple[int, int]:
        """Rows that took another booking's id, and false alarms about balances."""
        first = self._rule.find_first(delivery)
        known = [
            StoredTransaction(key, row)
            for key, row in self.rows.items()
            if row.is_pending or first is None or (find_day(row) or first) >= first
        ]
        known.sort(key=lambda stored: find_day(stored.transaction) or date.min)
        order = sorted(range(len(delivery.rows)), key=lambda index: find_day(delivery.rows[index]) or date.min)
        rows = [delivery.rows[index] for index in order]
        truths = [delivery.truths[index] for index in order]
        merge = self._rule.merge(known, rows)
        pairs = dict(merge.pairs)
        by_number = _by_number(history)
        confused = 0
        for right, key in pairs.items():
            confused += not _is_same(by_number, self.truths[key], truths[right], self.rows[key])
            self.truths[key] = truths[right]
        for stored in merge.changed:
            self.rows[stored.id] = stored.transaction
        for key in () if delivery.is_file else merge.vanished:
            del self.rows[key], self.truths[key]
        self._insert([right for right in range(len(rows)) if right not in pairs], rows, truths)
        held = list(self.rows.values())
        return confused, sum(find_gap(span, held) is not None for span in delivery.spans)

    def _insert(self, rights: Sequence[int], rows: Sequence[Transaction], truths: Sequence[int]) -> None:
        for right in rights:
            self._count += 1
            key = UUID(int=self._count)
            self.rows[key], self.truths[key] = rows[right], truths[right]


def _is_same(by_number: dict[int, Booking], before: int, after: int, row: Transaction) -> bool:
    """A reservation tells the shop and the amount, so that purchases there cannot be told apart by it."""
    first, second = by_number[before], by_number[after]
    return first.name == second.name if row.is_pending else first.words == second.words


def _by_number(history: History) -> dict[int, Booking]:
    return {booking.number: booking for booking in history.bookings}


def play(history: History, rule: Rule = OUR_RULE) -> tuple[Score, Account]:
    account = Account(rule)
    score = Score(1, len(history.bookings), len(history.deliveries))
    for number, delivery in enumerate(history.deliveries):
        if number == history.upgrade_before:
            account.rows = {key: replace(row, channel=None) for key, row in account.rows.items()}
        confused, alarms = account.take(delivery, history)
        score.confused += confused
        score.alarms += alarms
    by_number = _by_number(history)
    held = Counter(by_number[account.truths[key]].likeness for key, row in account.rows.items() if not row.is_pending)
    true = Counter(booking.likeness for booking in history.bookings if not booking.is_cancelled)
    score.lost, score.doubled = (true - held).total(), (held - true).total()
    score.behaviours.update(history.behaviours)
    return score, account
