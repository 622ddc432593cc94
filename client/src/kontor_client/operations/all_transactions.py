"""Transactions over all accounts, their sums and changes, and balances over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor_client.models.transactions import (
    Completeness,
    CustomerTransaction,
    DayBalance,
    TransactionChanges,
    TransactionSum,
)
from kontor_client.operations.accesses import access_path
from kontor_client.operations.transactions import Pages
from kontor_client.plans import Call, Plan, fetch

ALL = "/customer/v2/kontoumsaetze"


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What is looked for; a transaction must fit all of it.

    `search` are words, `category` the system name of a category, also an own one. `min_amount` and `max_amount` are
    signed, `amount` is exact and unsigned. `is_incoming` True leaves what came in, False what went out.
    """

    since: date | None = None
    until: date | None = None
    search: str | None = None
    category: str | None = None
    min_amount: Decimal | None = None
    max_amount: Decimal | None = None
    amount: Decimal | None = None
    is_incoming: bool | None = None
    products: Sequence[str] | None = None
    keyword: str | None = None

    def show(self) -> dict[str, Any]:
        direction = None if self.is_incoming is None else "EIN" if self.is_incoming else "AUS"
        shown = {
            "from": self.since,
            "to": self.until,
            "search": self.search,
            "category": self.category,
            "minAmount": self.min_amount,
            "maxAmount": self.max_amount,
            "betrag": self.amount,
            "richtung": direction,
            "produkt": None if self.products is None else ",".join(self.products),
            "schlagwort": self.keyword,
        }
        return {name: str(value) for name, value in shown.items() if value is not None}


EVERYTHING = Filters()


def iterate_all_transactions(
    filters: Filters = EVERYTHING,
    *,
    is_ascending: bool = False,
    page_size: int = 1000,
    tag: str | None = None,
    explain: bool = False,
) -> Pages[CustomerTransaction]:
    """The transactions of all accounts, newest first, page by page. `tag` and `explain` as for one product.

    Of an account that several accesses report, a booking counts once.
    """
    shown = {"order": "asc" if is_ascending else None, "tag": tag, "explain": True if explain else None}
    return Pages(Call("GET", ALL, filters.show() | shown | {"limit": page_size}), list[CustomerTransaction])


def list_all_transactions(
    filters: Filters = EVERYTHING,
    *,
    is_ascending: bool = False,
    limit: int | None = None,
    tag: str | None = None,
    explain: bool = False,
) -> Plan[list[CustomerTransaction]]:
    """One page, 100 unless `limit` says otherwise; see `iterate_all_transactions`."""
    shown = {"order": "asc" if is_ascending else None, "tag": tag, "explain": True if explain else None}
    return fetch(list[CustomerTransaction], ALL, params=filters.show() | shown | {"limit": limit})


def sum_transactions(filters: Filters = EVERYTHING) -> Plan[list[TransactionSum]]:
    """What came in and went out, one sum for each currency."""
    return fetch(list[TransactionSum], f"{ALL}/summe", params=filters.show())


def list_transaction_changes(
    access_id: str,
    product_id: str,
    *,
    since: str | None = None,
    limit: int | None = None,
    tag: str | None = None,
    explain: bool = False,
) -> Plan[TransactionChanges]:
    """What is new, changed and removed in a product since a cursor; without one everything is new.

    With `has_more`, call again with the answer's `cursor`. 409 where the cursor is too old: start without one.
    """
    params = {"since": since, "limit": limit, "tag": tag, "explain": True if explain else None}
    return fetch(TransactionChanges, access_path(access_id, product_id, "kontoumsaetze", "aenderungen"), params=params)


def list_all_transaction_changes(
    *, since: str | None = None, limit: int | None = None, tag: str | None = None, explain: bool = False
) -> Plan[TransactionChanges]:
    """The same for all accounts."""
    params = {"since": since, "limit": limit, "tag": tag, "explain": True if explain else None}
    return fetch(TransactionChanges, f"{ALL}/aenderungen", params=params)


def list_balances(
    access_id: str,
    product_id: str,
    *,
    since: date | None = None,
    until: date | None = None,
    interval: str = "day",
) -> Plan[list[DayBalance]]:
    """What was on the account at the end of each `day`, `week` or `month`."""
    params = {"from": since, "to": until, "interval": interval}
    return fetch(list[DayBalance], access_path(access_id, product_id, "balances"), params=params)


def list_completeness() -> Plan[list[Completeness]]:
    """Per account and month the balances, the bookings between them, and what is missing."""
    return fetch(list[Completeness], "/customer/v2/vollstaendigkeit")
