"""Balances of a product over time: the stored balance, and the bookings reckoned backwards (or on) from its day."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from kontor.domain.balances import Interval
from kontor.storage.database import Connection

# Pending bookings are in no balance yet, and those in another currency are in another pocket. Nothing is known about
# days before the first booking. An interval is shown by its last day, the one that is not over by the last day asked.
LIST_BALANCES = """
    with moves as (
        select booked_on as day, sum(amount) as amount from transactions
        where user_id = %(user)s and product_id = %(product)s and not is_pending and currency = %(currency)s
        group by booked_on
    ), start as (
        select least(min(day), %(known)s::date) as day,
            %(balance)s::numeric - coalesce(sum(amount) filter (where day <= %(known)s), 0) as balance
        from moves
    ), days as (
        select shown::date as day, start.balance + coalesce(sum(moves.amount) over (order by shown), 0) as balance
        from start cross join generate_series(start.day, %(until)s::date, interval '1 day') shown
            left join moves on moves.day = shown::date
    )
    select day, balance from days
    where day >= coalesce(%(since)s::date, day) and (
        %(interval)s = 'day' or day = %(until)s::date
        or (%(interval)s = 'week' and extract(isodow from day) = 7)
        or (%(interval)s = 'month' and extract(day from day + 1) = 1)
    )
    order by day
"""


@dataclass(frozen=True, slots=True)
class KnownBalance:
    """A balance at the end of a day, from which others are reckoned."""

    balance: Decimal
    currency: str
    day: date


async def list_balances(
    connection: Connection,
    user_id: UUID,
    product_id: UUID,
    known: KnownBalance,
    since: date | None,
    until: date,
    interval: Interval,
) -> list[tuple[date, Decimal]]:
    cursor = await connection.execute(
        LIST_BALANCES,
        {
            "user": user_id,
            "product": product_id,
            "currency": known.currency,
            "balance": known.balance,
            "known": known.day,
            "since": since,
            "until": until,
            "interval": interval,
        },
    )
    return [(row[0], row[1]) for row in await cursor.fetchall()]
