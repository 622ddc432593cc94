"""Completeness statements of all accounts of a user."""

from kontor.domain.completeness import CompletenessStatement
from kontor.domain.principals import Principal, user_of
from kontor.storage import products
from kontor.storage.completeness import state_completeness
from kontor.storage.database import Database


class Completeness:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_statements(self, principal: Principal) -> list[CompletenessStatement]:
        """Of accounts that have bookings: a depot has none."""
        user_id = user_of(principal)
        async with self._database.snapshot(principal.user_id) as connection:
            held = await products.list_products(connection, user_id)
            statements = [await state_completeness(connection, user_id, stored) for stored in held]
        return [statement for statement in statements if statement.months or statement.other_currencies]
