"""Merging what was fetched into what is stored: which bookings are new, and what becomes of those known already.

A bank sends the same booking again with every overlapping fetch, as a pending one that becomes final, in another order,
with a changed text, or through another channel. Which two are one says `domain/identity.py`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from operator import attrgetter
from typing import Any
from uuid import UUID

from kontor.domain.identity import is_other_channel, list_days
from kontor.domain.matching import MOVED_DAYS, Matching
from kontor.domain.references import read_references
from kontor.domain.tags import TAGGED_FIELDS
from kontor.domain.transactions import Transaction

_FIELDS = tuple(field.name for field in fields(Transaction))
_read_tagged = attrgetter(*TAGGED_FIELDS)


@dataclass(frozen=True, slots=True)
class StoredTransaction:
    id: UUID
    transaction: Transaction


@dataclass(frozen=True, slots=True)
class Merge:
    """What to do with a fetch: rows to add, rows to change (they keep their id), pending rows that came to nothing.

    `pairs` tells which fetched row (by its index) is which stored one. `reworded` are the changed rows whose tags
    may be others now.
    """

    new: tuple[Transaction, ...]
    changed: tuple[StoredTransaction, ...]
    vanished: tuple[UUID, ...]
    pairs: tuple[tuple[int, UUID], ...] = ()
    reworded: tuple[UUID, ...] = ()


def merge_transactions(stored: Sequence[StoredTransaction], fetched: Sequence[Transaction]) -> Merge:
    """`stored` are the rows of the days that the fetch covers, and some before; older rows take no part."""
    matching = Matching([row.transaction for row in stored], fetched)
    pairs = sorted(matching.run().items())
    changed, reworded = [], []
    for right, left in pairs:
        before = stored[left]
        if before.transaction == fetched[right]:
            continue
        after = combine(before.transaction, fetched[right])
        if after != before.transaction:
            changed.append(StoredTransaction(before.id, after))
            if _read_tagged(before.transaction) != _read_tagged(after):
                reworded.append(before.id)
    vanished = tuple(stored[left].id for left in matching.open_left if stored[left].transaction.is_pending)
    new = tuple(fetched[right] for right in matching.open_right)
    ids = tuple((right, stored[left].id) for right, left in pairs)
    return Merge(new, tuple(changed), vanished, ids, tuple(reworded))


def apply_merge(stored: Sequence[StoredTransaction], merge: Merge) -> list[Transaction]:
    """The rows as they are after a merge."""
    changed = {row.id: row.transaction for row in merge.changed}
    gone = frozenset(merge.vanished)
    kept = [changed.get(row.id, row.transaction) for row in stored if row.id not in gone]
    return [*kept, *merge.new]


def find_first_day(rows: Iterable[Transaction], *others: date | None) -> date | None:
    """The day from which stored rows take part in a merge; None where there is nothing to merge.

    Banks book before the day that was asked for, or ignore it, and another channel may show a booking some days apart.
    """
    days = [day for row in rows for day in list_days(row)]
    days += [day for day in others if day is not None]
    return min(days) - timedelta(MOVED_DAYS) if days else None


def pair_transactions(left: Sequence[Transaction], right: Sequence[Transaction]) -> dict[int, int]:
    """Right index to left index of rows that are one booking, such as of one account reached in two ways."""
    return Matching(left, right).run()


def combine(stored: Transaction, fetched: Transaction) -> Transaction:
    """One booking of two reports. The newer report wins, except that another channel only adds what was not known.

    Facts are not lost: what the winner lacks comes from the other, and a purpose with references beats one without.
    """
    winner, other = (stored, fetched) if _is_addition(stored, fetched) else (fetched, stored)
    changes: dict[str, Any] = {}
    for name in _FIELDS:
        if getattr(winner, name) is None and (value := getattr(other, name)) is not None:
            changes[name] = value
    if "bank_id" in changes and winner.channel != other.channel:
        del changes["bank_id"]  # the channel tells whose id it is
    if winner.purpose is not None and _has_references(other) and not _has_references(winner):
        changes["purpose"] = other.purpose
    return replace(winner, **changes) if changes else winner


def _is_addition(stored: Transaction, fetched: Transaction) -> bool:
    if stored.is_pending != fetched.is_pending:
        return fetched.is_pending
    # Who tells two days, of booking and of value, knows more than who tells one of them.
    return is_other_channel(stored, fetched) and not list_days(stored) < list_days(fetched)


def _has_references(transaction: Transaction) -> bool:
    references = read_references(transaction.purpose)
    return references.end_to_end is not None or references.mandate is not None
