"""Bookings of a product: those that may come again are loaded, and what a merge found is written down."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from kontor.domain.balances import BalanceGap, BalanceSpan
from kontor.domain.merge_plans import MergePlan
from kontor.domain.merging import StoredTransaction, find_first_day
from kontor.storage import products, tags, transactions
from kontor.storage.database import Connection
from kontor.storage.tags import TaggedRow


@dataclass(frozen=True, slots=True)
class KnownBookings:
    """What is stored of a product and may come again, and a time whose balances did not follow from it."""

    rows: list[StoredTransaction]
    gap: BalanceGap | None


async def load_known(
    connection: Connection,
    user_id: UUID,
    product_id: UUID,
    first: date | None,
    spans: Sequence[BalanceSpan],
    since: date | None = None,
) -> KnownBookings:
    """All that may come again. `first` is the first day of the bookings to merge (`find_first_day`).

    A bank does not keep to the day from which it was asked (`since`).
    """
    gap = await products.find_gap(connection, user_id, product_id)
    days = [since, *(span.first.day for span in spans), None if gap is None else gap.span.first.day]
    starts = [day for day in (first, find_first_day((), *days)) if day is not None]
    rows = await transactions.load_transactions(connection, user_id, product_id, min(starts, default=date.max))
    return KnownBookings(rows, gap)


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """How many stored bookings are shown differently now, and the new ones, which have no tags yet."""

    changed: int
    new: list[TaggedRow]


async def write_plan(
    connection: Connection, user_id: UUID, product_id: UUID, plan: MergePlan, today: date
) -> WrittenPlan:
    """In the caller's transaction; what has no tags afterwards is tagged by `TransactionTagging.retag_changed`."""
    merge, changed = plan.merge, 0
    new: list[TaggedRow] = []
    if merge.vanished:
        await transactions.delete_transactions(connection, user_id, product_id, merge.vanished)
    if merge.changed:
        changed = await transactions.update_transactions(connection, user_id, product_id, merge.changed, today)
    if merge.reworded:
        await tags.forget_tags(connection, user_id, product_id, merge.reworded)
    if merge.new:
        ids = await transactions.insert_transactions(connection, user_id, product_id, merge.new, today)
        new = [TaggedRow(product_id, id, row) for id, row in zip(ids, merge.new, strict=True)]
    if plan.gap != plan.gap_before:
        await products.set_gap(connection, user_id, product_id, plan.gap)
    return WrittenPlan(changed, new)
