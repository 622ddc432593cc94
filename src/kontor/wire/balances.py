"""Balances over time."""

from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.services.transactions import Balance
from kontor.wire.products import Amount


class DayBalance(msgspec.Struct):
    """What was on the account at the end of a day."""

    date: Annotated[str, Meta(description="in Berlin", examples=["2026-11-13"], extra_json_schema={"format": "date"})]
    balance: Amount
    currency: str


def show_balance(balance: Balance) -> DayBalance:
    return DayBalance(balance.day.isoformat(), balance.balance, balance.currency)
