"""A product's balance at the end of each day, week or month."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from kontor.domain.balances import Interval
from kontor.domain.clocks import BERLIN
from kontor.domain.errors import NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.services.runtime import Clock
from kontor.storage import balances, products
from kontor.storage.balances import KnownBalance
from kontor.storage.database import Database

EURO = "EUR"


@dataclass(frozen=True, slots=True)
class Balance:
    day: date
    balance: Decimal
    currency: str


class Balances:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def list_balances(
        self,
        principal: Principal,
        access_id: str,
        product_id: UUID,
        since: date | None,
        until: date | None,
        interval: Interval,
    ) -> list[Balance]:
        """End-of-day balances until today at most. Without a stored balance nothing can be reckoned: none.

        A depot has no bookings, and its value moves with the prices: only the day of its balance is known.
        """
        today = self._clock.today()
        last = today if until is None else min(until, today)
        async with self._database.snapshot(principal.user_id) as connection:
            stored = await products.find_product(connection, user_of(principal), access_id, product_id)
            if stored is None:
                raise NotFoundError
            product = stored.product
            if product.balance is None:
                return []
            at = product.balance_at or stored.updated_at
            known = KnownBalance(product.balance, product.currency or EURO, at.astimezone(BERLIN).date())
            if product.category.is_depot:
                is_asked = known.day <= last and (since is None or since <= known.day)
                return [Balance(known.day, known.balance, known.currency)] if is_asked else []
            rows = await balances.list_balances(
                connection, user_of(principal), product_id, known, since, last, interval
            )
        return [Balance(day, balance, known.currency) for day, balance in rows]
