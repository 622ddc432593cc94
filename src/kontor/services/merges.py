"""Merges are computed in compute processes, and before the database transaction that writes them.

What a merge was computed from is remembered by the data version. Whoever writes it locks the user's data first; when
the version has changed since, the merge is computed again, this time while the lock is held.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from kontor.analysis.tagging import OwnAccounts
from kontor.domain.merging import Merge
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day
from kontor.services.computations import Packed, clean_slowly, merge_packed, pack, unpack_slowly
from kontor.services.compute import Compute
from kontor.services.tagging import NOTHING_PREPARED, PreparedTags, TransactionTagging, read_own_accounts
from kontor.storage import products, transactions
from kontor.storage.data_versions import read_version
from kontor.storage.database import Connection, Database

NO_VERSION = -1


@dataclass(frozen=True, slots=True)
class CleanRows:
    """Rows of one product that can be stored, oldest first, and how many could not."""

    rows: Packed
    unreadable: int


@dataclass(frozen=True, slots=True)
class FetchedMerges:
    """What a fetch brings, by the bank's keys of the products, with tags of what is to be written."""

    version: int
    rows: Mapping[str, CleanRows]
    merges: Mapping[str, Merge]
    tags: PreparedTags = NOTHING_PREPARED


class Merges:
    def __init__(self, database: Database, compute: Compute, tagging: TransactionTagging) -> None:
        self._database = database
        self._compute = compute
        self._tagging = tagging

    async def merge(self, user_id: UUID, stored: Packed, rows: Packed) -> Merge:
        found = await self._compute.run(merge_packed, stored, rows, owner=user_id)
        return replace(found.merge, new=tuple(await unpack_slowly(found.new)))

    async def prepare_tags(self, user_id: UUID, own: OwnAccounts, merges: Iterable[Merge]) -> PreparedTags:
        """Of all rows that the merges write."""
        rows: list[Transaction] = []
        for merge in merges:
            rows += [*merge.new, *(one.transaction for one in merge.changed)]
        return await self._tagging.prepare(user_id, own, rows)

    async def prepare_fetched(
        self,
        user_id: UUID,
        access_id: str,
        coming: Sequence[Product],
        fetched: Mapping[str, Sequence[Transaction]],
        since: Mapping[str, date],
        today: date,
    ) -> FetchedMerges:
        """Everything that can be computed of a fetch before it is stored. `coming` are products that it may add."""
        cleaned = await clean_fetched(fetched, today)
        async with self._database.connect() as connection:
            version = await read_version(connection, user_id)
            ids = await products.list_ids(connection, user_id, access_id)
            own = await read_own_accounts(connection, user_id, coming)
            stored = {
                key: await self.load(connection, user_id, ids[key], since.get(key)) if key in ids else []
                for key in fetched
            }
        merges = {key: await self.merge(user_id, stored[key], cleaned.rows[key].rows) for key in fetched}
        return FetchedMerges(version, cleaned.rows, merges, await self.prepare_tags(user_id, own, merges.values()))

    @staticmethod
    async def load(connection: Connection, user_id: UUID, product_id: UUID, since: date | None) -> Packed:
        """The stored rows that a merge looks at."""
        return pack(await transactions.load_transactions(connection, user_id, product_id, since))


async def clean_fetched(fetched: Mapping[str, Sequence[Transaction]], today: date) -> FetchedMerges:
    """Nothing is merged yet: that is done when it is written."""
    return FetchedMerges(NO_VERSION, {key: await clean_rows(found, today) for key, found in fetched.items()}, {})


async def clean_rows(rows: Sequence[Transaction], today: date) -> CleanRows:
    cleaned = await clean_slowly(rows)
    cleaned.sort(key=lambda row: find_day(row) or today)
    return CleanRows(pack(cleaned), len(rows) - len(cleaned))
