"""Products, transactions and positions: reading them, and pushing transactions from outside."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.json_fields import JsonField, TagColumns, TagRow
from kontor.domain.positions import Position
from kontor.domain.principals import Principal, user_of
from kontor.domain.searches import Window
from kontor.domain.stored_products import StoredProduct
from kontor.domain.transactions import Transaction
from kontor.services.analyses import TransactionTagging, read_own_accounts
from kontor.services.runtime import Clock
from kontor.services.security import auditing
from kontor.storage import accesses, positions, products, tag_views, transactions
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Database
from kontor.storage.documents import STALE_ROWS, fill_documents
from kontor.storage.retries import retry_conflicts
from kontor.storage.tags import TaggedRow

# Longer lists are sent piece by piece, so that memory does not grow with them.
PIECE_ROWS = 5000


@dataclass(frozen=True, slots=True)
class PushedTransaction:
    batch_id: str
    transaction: Transaction


class Transactions:
    def __init__(self, database: Database, clock: Clock, tagging: TransactionTagging) -> None:
        self._database = database
        self._clock = clock
        self._tagging = tagging

    async def read_product(self, principal: Principal, access_id: str, product_id: UUID) -> StoredProduct:
        async with self._database.connect(principal.user_id) as connection:
            product = await products.find_product(connection, user_of(principal), access_id, product_id)
        if product is None:
            raise NotFoundError
        return product

    async def require_product(self, principal: Principal, access_id: str, product_id: UUID) -> None:
        """Nothing of it is read but that it is there."""
        async with self._database.connect(principal.user_id) as connection:
            if not await products.has_product(connection, user_of(principal), access_id, product_id):
                raise NotFoundError

    async def list_positions(self, principal: Principal, access_id: str, product_id: UUID) -> list[Position]:
        async with self._database.connect(principal.user_id) as connection:
            product = await products.find_product(connection, user_of(principal), access_id, product_id)
            if product is None or not product.product.category.is_depot:
                raise NotFoundError
            return await positions.list_positions(connection, user_of(principal), product_id)

    async def list_page(
        self, principal: Principal, product_id: UUID, window: Window, fields: tuple[JsonField, ...]
    ) -> tuple[bytes, tuple[date, int] | None]:
        """The JSON objects of one page, and where the next one begins."""
        async with self._database.connect(principal.user_id) as connection:
            user_id = user_of(principal)
            page, count, stale = await transactions.list_json(connection, user_id, product_id, window, fields)
            following = None
            if count == window.limit:
                following = await transactions.find_page_end(connection, user_id, product_id, window)
        if stale >= STALE_ROWS:
            await fill_documents(self._database, user_id, product_id, fields)
        return page, following

    async def list_tagged_page(
        self,
        principal: Principal,
        product_id: UUID,
        window: Window,
        fields: tuple[JsonField, ...],
        columns: tuple[TagColumns, ...],
        *,
        has_ids: bool = True,
    ) -> tuple[list[TagRow], tuple[date, int] | None]:
        """The JSON objects of one page with their tags beside them, and where the next page begins."""
        async with self._database.connect(principal.user_id) as connection:
            user_id = user_of(principal)
            rows, stale = await tag_views.list_tag_rows(
                connection, user_id, product_id, window, fields, columns, has_ids=has_ids
            )
            following = None
            if len(rows) == window.limit:
                following = await transactions.find_page_end(connection, user_id, product_id, window)
        if stale >= STALE_ROWS:
            await fill_documents(self._database, user_id, product_id, fields)
        return rows, following

    @retry_conflicts
    async def push(
        self, principal: Principal, access_id: str, product_id: UUID, pushed: Sequence[PushedTransaction]
    ) -> int:
        """Add transactions from outside, all or none. Batches that were pushed before add nothing.

        The transactions are clean.
        """
        user_id = user_of(principal)
        async with self._database.connect(principal.user_id) as connection:
            if not await products.has_product(connection, user_id, access_id, product_id):
                raise NotFoundError
            own = await read_own_accounts(connection, user_id)
        prepared = await self._tagging.prepare(
            user_id, own, (pushed_transaction.transaction for pushed_transaction in pushed)
        )
        async with self._database.transaction(principal.user_id) as connection:
            await accesses.lock_access(connection, user_id, access_id)
            product = await products.lock_product(connection, user_id, access_id, product_id)
            if product is None:
                raise NotFoundError
            await lock_data(connection, user_id)
            if product.product.category.is_depot:
                raise InvalidError("a depot has no transactions", "product")
            batch_ids = sorted({pushed_transaction.batch_id for pushed_transaction in pushed})
            fresh = await transactions.remember_batches(connection, user_id, product_id, batch_ids)
            added = [pushed_transaction for pushed_transaction in pushed if pushed_transaction.batch_id in fresh]
            added.sort(key=lambda pushed_transaction: pushed_transaction.transaction.booked_at or self._clock.now())
            rows = [pushed_transaction.transaction for pushed_transaction in added]
            added_batches = [pushed_transaction.batch_id for pushed_transaction in added]
            ids = await transactions.insert_transactions(
                connection, user_id, product_id, rows, self._clock.today(), added_batches
            )
            new = [TaggedRow(product_id, id, row) for id, row in zip(ids, rows, strict=True)]
            await self._tagging.retag_changed(connection, user_id, prepared, new)
            subject = f"user {principal.user_pseudonym} access {access_id} product {product_id}"
            await auditing.record(
                connection, principal.tenant_id, auditing.name_actor(principal), "transactions.push", subject
            )
        return len(added)
