"""Transactions over all accounts: the list, and sums of it."""

import base64
import binascii
from datetime import date
from typing import Annotated, Literal
from urllib.parse import urlencode
from uuid import UUID

from msgspec import Meta

from kontor.api.answers import JSON, Answer, HttpError, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ
from kontor.api.customer_v2.deltas import render_rows
from kontor.api.customer_v2.own_trees import add_own_tree
from kontor.api.customer_v2.searches import (
    Categorize,
    Cursor,
    Explain,
    FilterQuery,
    From,
    Order,
    ShownTree,
    Until,
    prepare_view,
    read_amount,
)
from kontor.api.operations import Call, Success, operation
from kontor.domain.annotations import clean_keywords
from kontor.domain.errors import InvalidError
from kontor.domain.searches import CustomerFilters, CustomerPosition
from kontor.wire.tag_views import TagView, choose_view
from kontor.wire.transaction_sums import TransactionSum, show_sum
from kontor.wire.transactions import CUSTOMER_FIELDS, CustomerTransaction, parse_end, parse_time

TRANSACTIONS = CUSTOMER + "/kontoumsaetze"
TIMES = {"since": "from", "until": "to"}
UnsignedText = Annotated[str, Meta(pattern=r"^[0-9]{1,15}(\.[0-9]{1,2})?$", examples=["12.50"])]


class SumsQuery(FilterQuery, rename=TIMES):
    since: From | None = None
    until: Until | None = None
    produkt: Annotated[str, Meta(description="ids of products, separated by commas")] | None = None
    richtung: Annotated[Literal["EIN", "AUS"], Meta(description="what came in, or what went out")] | None = None
    betrag: Annotated[UnsignedText, Meta(description="exact amount, without a sign")] | None = None
    schlagwort: Annotated[str, Meta(min_length=1, max_length=100, description="keyword")] | None = None

    async def read_filters(self, call: Call, *, is_ascending: bool = False) -> CustomerFilters:
        return CustomerFilters(
            words=self.read_words(),
            categories=await self.read_categories(call),
            min_amount=read_amount(self.minAmount),
            max_amount=read_amount(self.maxAmount),
            is_ascending=is_ascending,
            since=None if self.since is None else parse_time(self.since, "from"),
            until=None if self.until is None else parse_end(self.until, "to"),
            product_ids=None if self.produkt is None else tuple(map(_read_product, self.produkt.split(","))),
            is_incoming=None if self.richtung is None else self.richtung == "EIN",
            amount=read_amount(self.betrag),
            keyword=None if self.schlagwort is None else clean_keywords([self.schlagwort], "schlagwort")[0],
        )


class CustomerQuery(SumsQuery, rename=TIMES):
    order: Order = "desc"
    limit: Annotated[int, Meta(ge=1, le=1000, description="page size")] = 100
    cursor: Cursor | None = None
    tag: ShownTree = "false"
    categorize: Categorize = False
    explain: Explain = False

    @property
    def view(self) -> TagView | None:
        return choose_view(self.tag, has_classifications=self.categorize)


@operation(
    "GET",
    TRANSACTIONS,
    query=CustomerQuery,
    success=Success(shape=list[CustomerTransaction]),
    is_heavy=True,
    **READ,
)
async def list_all_transactions(call: Call) -> Answer:
    """List the transactions of all accounts, newest first, page by page.

    The header Link names the next page. A transaction must fit all parameters. Of an account that several accesses
    report, a booking counts once, in the product of the freshest access.
    """
    query = call.query(CustomerQuery)
    filters = await query.read_filters(call, is_ascending=query.order == "asc")
    after = None if query.cursor is None else _read_cursor(query.cursor)
    view = await add_own_tree(call, query.view)
    await prepare_view(call, view)
    rows, following = await call.services.customer_transactions.list_page(
        call.principal, filters, after, query.limit, CUSTOMER_FIELDS, () if view is None else view.columns
    )
    body = b"[" + await render_rows(call, rows, view, is_explained=query.explain) + b"]"
    return Answer(200, body, JSON, {} if following is None else {"Link": _link_next(call, following)})


@operation(
    "GET", TRANSACTIONS + "/summe", query=SumsQuery, success=Success(shape=list[TransactionSum]), is_heavy=True, **READ
)
async def sum_transactions(call: Call) -> Answer:
    """Add up the transactions of all accounts that fit all parameters, one entry for each currency."""
    filters = await call.query(SumsQuery).read_filters(call)
    sums = await call.services.customer_transactions.add_up(call.principal, filters)
    return json_answer([show_sum(found) for found in sums])


def _read_product(text: str) -> UUID:
    try:
        return UUID(text.strip())
    except ValueError:
        raise InvalidError("expected ids of products, separated by commas", "produkt") from None


def _link_next(call: Call, following: CustomerPosition) -> str:
    day, product_id, ordinal = following
    cursor = base64.urlsafe_b64encode(f"{day.isoformat()} {product_id} {ordinal}".encode()).decode().rstrip("=")
    query = urlencode(call.query_values() | {"cursor": cursor})
    return f'<{call.urls.all_transactions}?{query}>; rel="next"'


def _read_cursor(text: str) -> CustomerPosition:
    try:
        decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
        day, product_id, ordinal = decoded.split(" ")
        number = int(ordinal)
        if not 0 <= number < 2**62:
            raise ValueError(ordinal)
        return date.fromisoformat(day), UUID(product_id), number
    except (ValueError, binascii.Error):
        raise HttpError(400, "cursor: use the one from the Link header") from None
