"""Transactions: search them, see what each means and why, and correct it."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qsl, urlencode

from kontor.console.accesses import Product, list_products
from kontor.console.banks import ACCESSES
from kontor.console.categories import TREE, choose_fitting, list_categories, name_categories
from kontor.console.entries import (
    MOST_SEARCHED,
    Entry,
    group_by_day,
    read_booking_day,
    read_entries,
    read_tag,
)
from kontor.console.evidence import sort_out, tell_reasons
from kontor.console.gateway import Gateway, segment, together
from kontor.console.visits import Facts, Form, GoTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

PAGE = "/console/transactions"
RULES = "/customer/v2/ai/tagging-rules"
PAGE_ROWS = 50
FILTERS = ("account", "search", "category", "from", "to", "min", "max")
CHECKING = "GIROKONTO"
# Of one day and one amount there are few; whoever has more than this reads on.
FOUND_ROWS = 200
MOST_FOUND_PAGES = 10
TREES = {"insurance": "insurance-types", "partner": "business-partners", "freelancer": "freelancer-categories"}


async def show_transactions(visit: Visit) -> Facts:
    accesses, categories = await together(visit.api.get(ACCESSES), list_categories(visit.api))
    products = [product for product in list_products(accesses) if not product.is_depot]
    product = choose_product(products, visit.query.get("account"))
    asked = {name: visit.query[name] for name in FILTERS if visit.query.get(name)}
    fields = {name: asked.get(name, "") for name in FILTERS}
    shared = {"products": products, "categories": categories, "asked": asked, "fields": fields, "product": product}
    if product is None:
        return shared | {"days": [], "cursor": None, "back": "", "is_narrowed": False}
    asked["account"] = f"{product.access_id}/{product.id}"
    cursor = visit.query.get("cursor") or None
    entries, following = await list_entries(visit.api, product, asked, cursor)
    back = urlencode(asked | ({"cursor": cursor} if cursor else {}))
    return shared | {
        "days": group_by_day(entries),
        "cursor": following,
        "back": back,
        "is_narrowed": len(asked) > 1,
        "is_continued": cursor is not None,
    }


def choose_product(products: list[Product], account: str | None) -> Product | None:
    """The one that was asked for, else the first checking account, else the first of any kind."""
    if account:
        product = next((product for product in products if f"{product.access_id}/{product.id}" == account), None)
        if product is None:
            raise ApiError(404, [], text="There is no such account.")
        return product
    checking = [product for product in products if product.kind == CHECKING]
    return next(iter(checking or products), None)


async def list_entries(
    api: Gateway, product: Product, asked: Mapping[str, str], cursor: str | None
) -> tuple[list[Entry], str | None]:
    """A page, newest first. A tag view has one tree, so partners and insurances are views of their own."""
    path = f"{product.path}/kontoumsaetze"
    common: dict[str, Any] = {
        "limit": PAGE_ROWS, "cursor": cursor, "search": asked.get("search"), "category": asked.get("category"),
        "from": asked.get("from"), "to": asked.get("to"),
        "minAmount": read_amount(asked.get("min")), "maxAmount": read_amount(asked.get("max")),
    }  # fmt: skip
    rows, following = await api.get_page(path, tag="categories", explain=True, **common)
    if not rows:
        return [], following
    common |= _bound(rows)
    partners, insurances = await together(
        api.get(path, tag=TREES["partner"], **common),
        api.get(path, tag=TREES["insurance"], **common) if any(map(_is_insurance, rows)) else _get_nothing(),
    )
    return read_entries(rows, partners, insurances), following


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


def read_amount(text: str | None) -> str | None:
    """As a field for numbers sends it; `1e3` is a number there, too."""
    if not text:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise BadRequestError from None
    if not amount.is_finite() or abs(amount) >= MOST_SEARCHED:
        raise BadRequestError
    return f"{amount:f}"


# One transaction


async def show_transaction(visit: Visit) -> Facts:
    access_id, product_id, entry_id = visit.path("access"), visit.path("product"), visit.path("transaction")
    path = f"{ACCESSES}/{segment(access_id)}/{segment(product_id)}/kontoumsaetze"
    where = {"limit": FOUND_ROWS} | _read_place(visit)
    row, cursor = await _find_row(visit.api, path, where, entry_id)
    views = (visit.api.get(path, tag=tree, cursor=cursor, **where) for tree in TREES.values())
    categories, *others = await together(list_categories(visit.api), *views)
    tags = {name: _find_tag(rows, entry_id) for name, rows in zip(TREES, others, strict=True)}
    category, partner = read_tag(row), tags["partner"]
    entry = read_entries([row])[0]
    known = partner if partner is not None and partner.is_meaningful else None
    reasons = [] if category is None else tell_reasons(category, known, name_categories(categories), visit.texts)
    decisive, outvoted = sort_out(reasons)
    return {
        "entry": entry,
        "category": category,
        "tags": tags,
        "decisive": decisive,
        "outvoted": outvoted,
        "choices": choose_fitting(categories, entry.amount),
        "has_counterparty": bool(entry.name or row.get("gegenkontoIban")),
        "form_url": entry.find_url(access_id, product_id, visit.query.get("back", "")),
        "back_url": f"{PAGE}?{_write_back(visit, access_id, product_id)}",
    }


def _read_place(visit: Visit) -> dict[str, str]:
    """Where the API finds it: it gives no single transactions, but those of a day and an amount."""
    try:
        day = date.fromisoformat(visit.query.get("on", "")).isoformat()
    except ValueError:
        raise BadRequestError from None
    amount = read_amount(visit.query.get("amount"))
    narrow = {} if amount is None else {"minAmount": amount, "maxAmount": amount}
    return {"from": day, "to": day} | narrow


async def _find_row(api: Gateway, path: str, where: dict[str, Any], entry_id: str) -> tuple[Any, str | None]:
    """The transaction, and the cursor of the page it is on."""
    cursor = None
    for _ in range(MOST_FOUND_PAGES):
        rows, following = await api.get_page(path, tag="categories", explain=True, cursor=cursor, **where)
        row = next((row for row in rows if row["id"] == entry_id), None)
        if row is not None:
            return row, cursor
        if following is None:
            break
        cursor = following
    raise ApiError(404, [], text="There is no such transaction.")


def _find_tag(rows: list[Any], entry_id: str) -> Any:
    return next((read_tag(row) for row in rows if row["id"] == entry_id), None)


def _write_back(visit: Visit, access_id: str, product_id: str, **more: str) -> str:
    """The query of the list that the user came from; only what the list knows is taken over."""
    given = dict(parse_qsl(visit.query.get("back", "")))
    kept = {name: given[name] for name in (*FILTERS, "cursor") if given.get(name)}
    return urlencode({"account": f"{access_id}/{product_id}"} | kept | more)


async def correct(visit: Visit, form: Form) -> Facts | None:
    access_id, product_id, entry_id = visit.path("access"), visit.path("product"), visit.path("transaction")
    path = f"{ACCESSES}/{segment(access_id)}/{segment(product_id)}/kontoumsaetze/{segment(entry_id)}"
    chosen = field_of(form, "category")
    if not chosen:
        raise BadRequestError
    params = {"changeExisting": "existing" in form, "createRule": "rule" in form}
    body = {"tags": {"systemName": chosen, "tagTree": {"systemName": TREE}}}
    await visit.api.send("PUT", path, params=params, json=body)
    query = _write_back(visit, access_id, product_id, notice="category_changed")
    raise GoTo(f"{PAGE}?{query}#t-{segment(entry_id)}")


# The user's own rules


async def show_rules(visit: Visit) -> Facts:
    rules = await visit.api.get(RULES)
    return {"rules": sorted(rules, key=lambda rule: (rule["counterpartyName"].casefold(), rule["counterpartyIban"]))}


async def delete_rule(visit: Visit, form: Form) -> Facts | None:
    rule_id = field_of(form, "rule")
    if not rule_id:
        raise BadRequestError
    await visit.api.send("DELETE", f"{RULES}/{segment(rule_id)}")
    raise GoTo(f"{PAGE}/rules", notice="rule_deleted")


VIEWS: list[View] = [
    View("transactions", "/transactions", show_transactions, group="money"),
    View("rules", "/transactions/rules", show_rules, parent="transactions", actions={"delete": delete_rule}),
    View(
        "transaction", "/transactions/{access:str}/{product:str}/{transaction:str}", show_transaction,
        parent="transactions", actions={"correct": correct},
    ),
]  # fmt: skip
