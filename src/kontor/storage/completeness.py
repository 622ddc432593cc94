"""What was booked on an account month by month, in its own currency, and which other currencies it has."""

from datetime import date
from uuid import UUID

from kontor.domain.clocks import BERLIN
from kontor.domain.completeness import CompletenessStatement, MonthSums, Source, state_months
from kontor.domain.stored_products import StoredProduct
from kontor.storage.database import Connection

EURO = "EUR"
# Pending bookings are in no balance yet.
SUM_MONTHS = """
    select currency, date_trunc('month', booked_on)::date, count(*),
        coalesce(sum(amount) filter (where amount > 0), 0.00), coalesce(sum(amount) filter (where amount < 0), 0.00),
        coalesce(sum(amount) filter (where booked_on <= %(known)s), 0.00), min(booked_on)
    from transactions
    where user_id = %(user)s and product_id = %(product)s and not is_pending
    group by 1, 2 order by 1, 2
"""


async def state_completeness(connection: Connection, user_id: UUID, stored: StoredProduct) -> CompletenessStatement:
    product = stored.product
    currency = product.currency or EURO
    read_on = stored.updated_at.astimezone(BERLIN).date()
    balance_on = read_on if product.balance_at is None else product.balance_at.astimezone(BERLIN).date()
    cursor = await connection.execute(SUM_MONTHS, {"user": user_id, "product": stored.id, "known": balance_on})
    sums: dict[date, MonthSums] = {}
    others: list[str] = []
    for name, month, *values in await cursor.fetchall():
        if name == currency:
            sums[month] = MonthSums(*values)
        elif name not in others:
            others.append(name)
    source = Source(product.balance, read_on, stored.gap)
    return CompletenessStatement(stored, source, currency, tuple(state_months(source, sums)), tuple(others))
