"""Transactions over all accounts of a user: pages and sums."""

from uuid import UUID

from kontor.domain.json_fields import JsonField, TagColumns, TagRow
from kontor.domain.principals import Principal, user_of
from kontor.domain.searches import CurrencySum, CustomerFilters, CustomerPosition
from kontor.services.analyses import Repetitions, TransactionTagging
from kontor.storage import customer_transactions
from kontor.storage.database import Database


class CustomerTransactions:
    def __init__(self, database: Database, tagging: TransactionTagging, repetitions: Repetitions) -> None:
        self._database = database
        self._tagging = tagging
        self._repetitions = repetitions

    async def list_page(
        self,
        principal: Principal,
        filters: CustomerFilters,
        after: CustomerPosition | None,
        limit: int,
        fields: tuple[JsonField, ...],
        columns: tuple[TagColumns, ...] = (),
    ) -> tuple[list[tuple[UUID, TagRow]], CustomerPosition | None]:
        """The rows of a page with the ids of their products, and where the next page begins."""
        await self._prepare(principal, needs_tags=bool(columns) or filters.categories is not None)
        async with self._database.snapshot(principal.user_id) as connection:
            return await customer_transactions.list_page(
                connection, user_of(principal), filters, after, limit, fields, columns
            )

    async def add_up(self, principal: Principal, filters: CustomerFilters) -> list[CurrencySum]:
        await self._prepare(principal, needs_tags=filters.categories is not None)
        async with self._database.snapshot(principal.user_id) as connection:
            return await customer_transactions.add_up(connection, user_of(principal), filters)

    async def _prepare(self, principal: Principal, *, needs_tags: bool) -> None:
        if needs_tags:
            await self._tagging.ensure_tagged(principal)
        await self._repetitions.update(user_of(principal))
