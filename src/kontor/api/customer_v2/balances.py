"""Balances of a product over time."""

import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, json_answer
from kontor.api.customer_v2.accesses import READ
from kontor.api.customer_v2.transactions import PRODUCT
from kontor.api.operations import Call, Success, operation
from kontor.domain.balances import Interval
from kontor.wire.balances import DayBalance, show_balance


class BalancesQuery(msgspec.Struct, rename={"since": "from", "until": "to"}):
    since: Annotated[datetime.date, Meta(description="first day; else that of the first booking")] | None = None
    until: Annotated[datetime.date, Meta(description="last day, at most today")] | None = None
    interval: Annotated[
        Interval, Meta(description="each is shown by its last day; weeks end on Sundays, the last one on the last day")
    ] = "day"


@operation(
    "GET",
    PRODUCT + "/balances",
    query=BalancesQuery,
    success=Success(shape=list[DayBalance]),
    errors=(404,),
    **READ,
)
async def list_balances(call: Call) -> Answer:
    """List a product's balances at the end of days, weeks or months, oldest first.

    Reckoned from the stored balance and the bookings (pending ones left out). Empty for a product without a balance; of
    a depot, only the value that is known.
    """
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    await call.services.transactions.require_product(call.principal, access_id, product_id)
    query = call.query(BalancesQuery)
    balances = await call.services.balances.list_balances(
        call.principal, access_id, product_id, query.since, query.until, query.interval
    )
    return json_answer([show_balance(balance) for balance in balances])
