"""From a figure to the transactions that make it up, where the filters of their list express that.

Cashflow leaves out what is pending and what moves between own accounts; the list cannot. So a figure is linked where
nothing of that kind is in it. Sums over all categories are never linked: transfers between own accounts would be in.
"""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from kontor.console.cashflows import Span
from kontor.console.entries import read_booking_day, read_tag
from kontor.console.entry_filters import EntryFilter, link_entries
from kontor.console.gateway import Gateway

ENTRIES = "/customer/v2/kontoumsaetze"
PENDING_DAYS = 60  # a transaction is not pending for longer
MAX_ROWS = 1000
TRANSFERS = "TRANSFER"
BANKING = "BANKFINANCE"  # has investments below it, which count as savings


@dataclass(frozen=True, slots=True)
class CategoryLinks:
    """Addresses for sums of categories. `pending` has the category and the day of what does not count yet."""

    today: date
    pending: Sequence[tuple[str, date]]
    without_savings: bool = False

    def find(self, category: str, spans: Sequence[Span], amount: Decimal) -> str | None:
        """The transactions of a category in neighbouring spans; None where the list would have others, too."""
        if not spans or not amount or category == TRANSFERS or (self.without_savings and category == BANKING):
            return None
        since, until = find_days(spans[0])[0], min(find_days(spans[-1])[1], self.today)
        if any(_is_of(found, category) and since <= day <= until for found, day in self.pending):
            return None
        return link_entries(category=category, since=since, until=until, figure=amount)


def _is_of(category: str, asked: str) -> bool:
    return category == asked or category.startswith(f"{asked}_")


async def list_pending(api: Gateway, today: date) -> list[tuple[str, date]]:
    """Categories and days of what is pending."""
    since = (today - timedelta(days=PENDING_DAYS)).isoformat()
    rows = await api.get(ENTRIES, tag="categories", limit=MAX_ROWS, **{"from": since})
    return [
        (tag.system_name, day)
        for row in rows
        if row.get("vorgemerkt") and (tag := read_tag(row)) is not None and (day := read_booking_day(row)) is not None
    ]


def find_days(span: Span) -> tuple[date, date]:
    """The first and the last day of `2026_M11`, `2026_Q4` or `2026_Y`."""
    year, _, part = span.name.partition("_")
    kind, number = part[0], int(part[1:] or 0)
    first, months = {"M": (number, 1), "Q": (number * 3 - 2, 3), "Y": (1, 12)}[kind]
    last = first + months - 1
    return date(int(year), first, 1), date(int(year), last, monthrange(int(year), last)[1])


async def find_checked_link(
    api: Gateway, asked: EntryFilter, currency: str, total: Decimal, count: int | None = None
) -> str | None:
    """The list, if its total (and its count) is exactly what a figure says."""
    sums: Sequence[Mapping[str, Any]] = await api.get(f"{ENTRIES}/summe", **asked.for_api())
    found = next((found for found in sums if found["waehrung"] == currency), None)
    if found is None or len(sums) != 1 or Decimal(found["summe"]) != total:
        return None
    return asked.url() if count in (None, found["anzahl"]) else None
