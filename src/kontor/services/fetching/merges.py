"""Merges are computed in compute processes, and before the database transaction that writes them.

What a merge was computed from is remembered by the data version. Whoever writes it locks the user's data first; when
the version has changed since, the merge is computed again, this time while the lock is held.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from kontor.analysis.tagging import OwnAccounts
from kontor.connectors.base import Fetched
from kontor.domain.balances import BalanceGap, BalanceSpan
from kontor.domain.merge_plans import MergePlan, plan_first
from kontor.domain.merging import find_first_day
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day
from kontor.services.analyses import NOTHING_PREPARED, PreparedTags, TransactionTagging, read_own_accounts
from kontor.services.compute import (
    Compute,
    Packed,
    PackedPlan,
    clean_cooperatively,
    pack,
    plan_packed,
    unpack_cooperatively,
)
from kontor.services.fetching.bookings import load_known
from kontor.storage import products
from kontor.storage.data_versions import read_version
from kontor.storage.database import Connection, Database

NO_VERSION = -1


@dataclass(frozen=True, slots=True)
class PackedKnown:
    """Stored rows that a merge looks at, and the product's balance gap."""

    rows: Packed
    gap: BalanceGap | None


NOTHING_KNOWN = PackedKnown([], None)


@dataclass(frozen=True, slots=True)
class DeliveredRows:
    """Rows of one product that can be stored, oldest first, and how many could not.

    `first` is the day from which stored rows take part in the merge. `spans` are times whose balances came with them.
    """

    rows: tuple[Transaction, ...]
    unreadable: int
    first: date | None
    spans: tuple[BalanceSpan, ...]


@dataclass(frozen=True, slots=True)
class FetchedMerges:
    """What a fetch brings, by the bank's keys of the products, with tags of what is to be written."""

    version: int
    rows: Mapping[str, DeliveredRows]
    plans: Mapping[str, MergePlan]
    tags: PreparedTags = NOTHING_PREPARED


class Merges:
    def __init__(self, database: Database, compute: Compute, tagging: TransactionTagging) -> None:
        self._database = database
        self._compute = compute
        self._tagging = tagging

    async def plan(
        self,
        user_id: UUID,
        known: PackedKnown,
        rows: Packed,
        spans: Sequence[BalanceSpan],
        *,
        keeps_pending: bool = False,
    ) -> MergePlan:
        found = await self._compute.run(
            plan_packed, known.rows, known.gap, rows, tuple(spans), keeps_pending, owner=user_id
        )
        return _complete(found, await unpack_cooperatively(rows if found.new is None else found.new))

    async def plan_delivered(self, user_id: UUID, known: PackedKnown, delivered: DeliveredRows) -> MergePlan:
        if not known.rows and known.gap is None and not delivered.spans:  # nothing to compare with
            return plan_first(delivered.rows)
        rows = pack(delivered.rows)
        found = await self._compute.run(plan_packed, known.rows, known.gap, rows, delivered.spans, False, owner=user_id)
        return _complete(found, delivered.rows if found.new is None else await unpack_cooperatively(found.new))

    async def prepare_tags(self, user_id: UUID, own: OwnAccounts, plans: Iterable[MergePlan]) -> PreparedTags:
        """Of all rows that have no tags once the plans are written."""
        rows: list[Transaction] = []
        for plan in plans:
            reworded = frozenset(plan.merge.reworded)
            rows += plan.merge.new
            rows += [changed.transaction for changed in plan.merge.changed if changed.id in reworded]
        return await self._tagging.prepare(user_id, own, rows)

    async def prepare_fetched(
        self,
        user_id: UUID,
        access_id: str,
        coming: Sequence[Product],
        fetched: Fetched,
        since: Mapping[str, date],
        today: date,
    ) -> FetchedMerges:
        """Everything that can be computed of a fetch before it is stored. `coming` are products that it may add."""
        cleaned = await clean_fetched(fetched, today)
        async with self._database.connect(user_id) as connection:
            version = await read_version(connection, user_id)
            ids = await products.list_ids(connection, user_id, access_id)
            own = await read_own_accounts(connection, user_id, coming)
            known = {
                key: await self.load(connection, user_id, ids[key], rows.first, rows.spans, since.get(key))
                for key, rows in cleaned.rows.items()
                if key in ids
            }
        plans = {
            key: await self.plan_delivered(user_id, known.get(key, NOTHING_KNOWN), rows)
            for key, rows in cleaned.rows.items()
        }
        return FetchedMerges(version, cleaned.rows, plans, await self.prepare_tags(user_id, own, plans.values()))

    @staticmethod
    async def load(
        connection: Connection,
        user_id: UUID,
        product_id: UUID,
        first: date | None,
        spans: Sequence[BalanceSpan],
        since: date | None = None,
    ) -> PackedKnown:
        known = await load_known(connection, user_id, product_id, first, spans, since)
        return PackedKnown(pack(known.rows), known.gap)


def _complete(found: PackedPlan, new: Sequence[Transaction]) -> MergePlan:
    return replace(found.plan, merge=replace(found.plan.merge, new=tuple(new)))


async def clean_fetched(fetched: Fetched, today: date) -> FetchedMerges:
    """Nothing is merged yet: that is done when it is written."""
    cleaned = {key: await _clean(rows, fetched.spans.get(key, ()), today) for key, rows in fetched.transactions.items()}
    return FetchedMerges(NO_VERSION, cleaned, {})


async def _clean(rows: Sequence[Transaction], spans: Sequence[BalanceSpan], today: date) -> DeliveredRows:
    cleaned = await clean_cooperatively(rows)
    cleaned.sort(key=lambda row: find_day(row) or today)
    return DeliveredRows(tuple(cleaned), len(rows) - len(cleaned), find_first_day(cleaned), tuple(spans))
