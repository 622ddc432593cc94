"""Transactions of all accounts: one list, narrowed as the user asks, with sums that follow."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from kontor.console.accesses import Product, list_products
from kontor.console.banks import ACCESSES, is_still_fetched
from kontor.console.categories import (
    MainCategory,
    OwnCategory,
    add_own,
    list_assignable,
    list_categories,
    list_own_categories,
    name_categories,
)
from kontor.console.entries import Entry, group_by_day, read_booking_day, read_entries, read_tag
from kontor.console.entry_filters import PAGE, EntryFilter, find_newer_query, read_filter, step_month
from kontor.console.gateway import Gateway, together
from kontor.console.visits import Facts, RedirectTo, View, Visit
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

ENTRIES = "/customer/v2/kontoumsaetze"
PAGE_ROWS = 50
CURRENCY = "EUR"
TREES = {
    "insurance": "insurance-types", "partner": "business-partners", "freelancer": "freelancer-categories",
    "own": "custom-categories",
}  # fmt: skip


async def show_transactions(visit: Visit) -> Facts:
    newer = find_newer_query(visit.query)
    if newer is not None:
        raise RedirectTo(f"{PAGE}?{urlencode(newer)}")
    asked = read_filter(visit.query)
    accesses, categories, own = await together(
        visit.api.get(ACCESSES), list_categories(visit.api), list_own_categories(visit.api)
    )
    products = [product for product in list_products(accesses) if not product.is_depot]
    require_accounts(products, asked)
    shared = {
        "products": products,
        "names": {product.id: product.name for product in products},
        "categories": add_own(categories, own, visit.texts("transactions.own_categories")),
        "choices": add_own(list_assignable(categories), own, visit.texts("transactions.own_categories")),
        "filter": asked,
        "is_still_fetched": is_still_fetched(accesses),
        "months": list_months(visit, asked),
        "category_name": find_category_name(categories, own, asked.category),
    }
    if not products:
        return shared | {"days": [], "sums": [], "cursor": None}
    cursor = visit.query.get("cursor") or None
    (entries, following), sums = await together(
        list_entries(visit.api, asked, cursor, has_own=bool(own)), visit.api.get(f"{ENTRIES}/summe", **asked.for_api())
    )
    return shared | {
        "days": group_by_day(entries),
        "sums": sums,
        "count": sum(found["anzahl"] for found in sums),
        "difference": find_difference(visit, sums),
        "keywords": list_keywords(entries, asked),
        "cursor": following,
        "is_continued": cursor is not None,
        "back": urlencode(asked.write() | ({"cursor": cursor} if cursor else {})),
    }


def require_accounts(products: Sequence[Product], asked: EntryFilter) -> None:
    if not set(asked.accounts) <= {product.id for product in products}:
        raise ApiError(404, [], text="There is no such account.")


def list_months(visit: Visit, asked: EntryFilter) -> Facts:
    """Addresses of the month before and after, of the current month, and of all."""
    first = asked.first_day
    current = step_month(visit.today, 0)
    around = {} if first is None else {"before": step_month(first, -1), "after": step_month(first, 1)}
    return around | {
        "urls": {name: asked.url(month=month) for name, month in around.items()},
        "first": first,
        "current": current,
        "current_url": asked.url(month=current, since="", until=""),
        "all_url": asked.url(month="", since="", until=""),
    }


def find_category_name(mains: Sequence[MainCategory], own: Sequence[OwnCategory], system_name: str) -> str:
    names = name_categories(mains) | {category.system_name: category.name for category in own}
    return names.get(system_name, system_name)


def find_difference(visit: Visit, sums: Sequence[Mapping[str, Any]]) -> Facts | None:
    """Where a figure of another page led here, and is another than the sum of this list."""
    if not visit.query.get("figure"):
        return None
    try:
        figure = Decimal(visit.query["figure"])
    except InvalidOperation:
        raise BadRequestError from None
    if not figure.is_finite():
        raise BadRequestError
    total = next((Decimal(found["summe"]) for found in sums if found["waehrung"] == CURRENCY), Decimal(0))
    return None if figure == total else {"figure": figure, "total": total}


def list_keywords(entries: Sequence[Entry], asked: EntryFilter) -> list[str]:
    """Those of this page; the API has no list of all."""
    found = {keyword.casefold(): keyword for entry in entries for keyword in entry.keywords}
    found.pop(asked.keyword.casefold(), None)
    return [found[key] for key in sorted(found)]


async def list_entries(
    api: Gateway, asked: EntryFilter, cursor: str | None, *, has_own: bool
) -> tuple[list[Entry], str | None]:
    """A page, newest first. A tag view has one tree, so partners and insurances are views of their own."""
    common: dict[str, Any] = asked.for_api() | {"limit": PAGE_ROWS, "cursor": cursor}
    rows, following = await api.get_page(ENTRIES, tag="categories", explain=True, **common)
    if not rows:
        return [], following
    common |= _bound(rows)
    views = await together(
        api.get(ENTRIES, tag=TREES["partner"], **common),
        api.get(ENTRIES, tag=TREES["insurance"], **common) if any(map(_is_insurance, rows)) else _get_nothing(),
        api.get(ENTRIES, tag=TREES["own"], **common) if has_own else _get_nothing(),
    )
    return read_entries(rows, *views), following


def _bound(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The days of a page: within them, a search need not look through the whole history again."""
    days = [read_booking_day(row) for row in rows]
    known = [day.isoformat() for day in days if day is not None]
    return {"from": min(known), "to": max(known)} if len(known) == len(days) else {}


def _is_insurance(row: Mapping[str, Any]) -> bool:
    tag = read_tag(row)
    return tag is not None and tag.system_name.startswith("INSURANCE_")


async def _get_nothing() -> list[Any]:
    return []


VIEWS: list[View] = [View("transactions", "/transactions", show_transactions, group="money")]
