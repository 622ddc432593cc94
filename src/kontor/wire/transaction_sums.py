"""Sums of transactions (Summe), one for each currency."""

from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.domain.searches import CurrencySum
from kontor.wire.products import Amount


class TransactionSum(msgspec.Struct):
    waehrung: str
    anzahl: Annotated[int, Meta(ge=1, description="how many transactions")]
    einnahmen: Annotated[Amount, Meta(description="sum of what came in")]
    ausgaben: Annotated[Amount, Meta(description="sum of what went out; negative, as bookings are")]
    summe: Amount


def show_sum(found: CurrencySum) -> TransactionSum:
    return TransactionSum(found.currency, found.count, found.income, found.expenses, found.total)
