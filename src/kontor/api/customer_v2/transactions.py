"""Products, their transactions and positions."""

import base64
import binascii
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.api.answers import JSON, Answer, HttpError, created, json_answer
from kontor.api.customer_v2.accesses import ACCESS, MODIFY, READ
from kontor.api.customer_v2.own_trees import add_own_tree
from kontor.api.customer_v2.pushes import read_pushed, show_added, unpack_pushed
from kontor.api.customer_v2.searches import (
    Categorize,
    Cursor,
    Explain,
    From,
    SearchQuery,
    ShownTree,
    Until,
    explain_rows,
    prepare_view,
    read_found_page,
)
from kontor.api.operations import Call, Success, operation
from kontor.connectors.statements import Limits
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.searches import Window
from kontor.domain.stored_products import StoredProduct
from kontor.services.accesses import UnconfirmedAccess
from kontor.services.statements import name_owner
from kontor.services.transactions import PIECE_ROWS
from kontor.wire.imports import ImportResult, show_import
from kontor.wire.positions import Position, show_position
from kontor.wire.products import BankProduct, show_product
from kontor.wire.products_en import EnglishBankProduct, show_english_product
from kontor.wire.tag_views import TagView, choose_view, render_page
from kontor.wire.transactions import (
    FIELDS,
    NewTransaction,
    PreviewedTransaction,
    Transaction,
    parse_end,
    parse_time,
)

PRODUCT = ACCESS + "/{product-id}"
TRANSACTIONS = PRODUCT + "/kontoumsaetze"
MAX_PAGE = 100_000
FILE_LIMITS = Limits(entries=50_000)
# JSON objects separated by commas, and where the next page begins.
Page: TypeAlias = tuple[bytes, tuple[date, int] | None]


# MT940, camt, CSV of the large banks, MT535, and zips of them. What a file is, is found out by looking at it.
STATEMENT_TYPES = (
    "application/xml",
    "text/xml",
    "text/plain",
    "text/csv",
    "application/zip",
    "application/octet-stream",
)


class PushQuery(msgspec.Struct):
    preview: Annotated[bool, Meta(description="with a statement file: answer what would be added, store nothing")] = (
        False
    )


class ProductQuery(msgspec.Struct):
    form: Annotated[Literal["de", "en"], Meta(description="names of the fields")] = "de"


class TransactionsQuery(SearchQuery, rename={"since": "from", "until": "to"}):
    since: From | None = None
    until: Until | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE, description="page size")] | None = None
    cursor: Cursor | None = None
    tag: ShownTree = "false"
    categorize: Categorize = False
    explain: Explain = False

    @property
    def view(self) -> TagView | None:
        return choose_view(self.tag, has_classifications=self.categorize)


@operation(
    "GET",
    PRODUCT,
    query=ProductQuery,
    success=Success(shape=(BankProduct, EnglishBankProduct)),
    errors=(404,),
    **READ,
)
async def read_product(call: Call) -> Answer:
    """Read one product, in its German- or English-named form.

    `form=en` names all fields, with null where nothing is known.
    """
    view = await call.services.accesses.read_access(call.principal, call.path("access-id"))
    product_id = call.path_uuid("product-id")
    if isinstance(view, UnconfirmedAccess):
        raise NotFoundError
    product = next((product for product in view.products if product.id == product_id), None)
    if product is None:
        raise NotFoundError
    show: Any = show_english_product if call.query(ProductQuery).form == "en" else show_product
    return json_answer(show(product, view.access.provider_id, call.urls, has_credentials=view.has_credentials))


async def find_product(call: Call) -> StoredProduct:
    return await call.services.transactions.read_product(
        call.principal, call.path("access-id"), call.path_uuid("product-id")
    )


@operation(
    "GET",
    TRANSACTIONS,
    query=TransactionsQuery,
    success=Success(shape=list[Transaction]),
    errors=(404, 429),
    **READ,
)
async def list_transactions(call: Call) -> Answer:
    """List the transactions of a product, newest first.

    Without parameters the whole stored history. With `limit`, a page; the header Link names the next one. A
    transaction must fit all filters.
    """
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    await call.services.transactions.require_product(call.principal, access_id, product_id)
    query = call.query(TransactionsQuery)
    view = await add_own_tree(call, query.view)
    window = Window(
        since=None if query.since is None else parse_time(query.since, "from"),
        until=None if query.until is None else parse_end(query.until, "to"),
        cursor=None if query.cursor is None else _read_cursor(query.cursor),
        limit=query.limit,
    )
    await prepare_view(call, query.view)
    if not query.is_plain:
        filters = await query.read_filters(call)
        pages = _Pages(partial(read_found_page, call, product_id, filters, view, query.explain))
    elif view is None:
        pages = _Pages(partial(call.services.transactions.list_page, call.principal, product_id, fields=FIELDS))
    else:
        await call.services.transaction_tagging.ensure_tagged(call.principal)
        pages = _Pages(partial(_list_tagged, call, product_id, view, query.explain))
    page = replace(window, limit=window.limit or PIECE_ROWS)
    body, following = await pages.read(page)
    if following is None:
        return Answer(200, b"".join((b"[", body, b"]")), JSON)  # copied once: lists may be long
    if window.limit is not None:
        return Answer(
            200, b"".join((b"[", body, b"]")), JSON, {"Link": _link_next(call, access_id, product_id, following)}
        )
    return Answer(200, media_type=JSON, pieces=pages.join(body, replace(page, cursor=following)))


async def _list_tagged(call: Call, product_id: UUID, view: TagView, is_explained: bool, window: Window) -> Page:
    rows, following = await call.services.transactions.list_tagged_page(
        call.principal, product_id, window, FIELDS, view.columns, has_ids=is_explained
    )
    evidence = None
    if is_explained and view.tree is not None:
        evidence = await explain_rows(call, product_id, rows, view)
    return render_page(rows, view, call.urls, evidence), following


@operation(
    "POST",
    TRANSACTIONS,
    query=PushQuery,
    body=list[NewTransaction],
    file_types=STATEMENT_TYPES,
    is_bulk=True,
    is_heavy=True,
    success=Success(
        201,
        description="stored; the answer to a statement file has a body, which tells what came of it (ImportResult)",
        headers={"Location": "the product's transactions"},
        file_shape=ImportResult,
    ),
    errors=(404,),
    other_shapes={200: list[PreviewedTransaction]},
    other_statuses={200: "what a statement file would add (preview)"},
    **MODIFY,
)
async def push_transactions(call: Call) -> Answer:
    """Push transactions into a product, all or none.

    Each names its batch; a batch that was pushed before adds nothing. Instead of JSON a statement file of the account
    can be sent (MT940, camt.052 to 054, CSV of a large bank, or a zip of them): what is stored already is not added
    again. The answer tells rows that cannot be read; a file without any that can is refused.
    """
    product = await find_product(call)
    is_preview = call.query(PushQuery).preview
    if call.content_type != JSON:
        data = await call.read_body()
        owner = name_owner(call.principal)
        imported = await call.services.imports.import_file(
            owner, product.access_id, data, product_id=product.id, is_preview=is_preview, limits=FILE_LIMITS
        )
        if is_preview:
            return Answer(200, media_type=JSON, pieces=show_added(imported))
        location = call.urls.transactions(product.access_id, product.id)
        return json_answer(show_import(imported), 201, {"Location": location})
    if is_preview:
        raise InvalidError("is for statement files", "preview")
    pushed = await unpack_pushed(await call.compute(read_pushed, await call.read_body()))
    await call.services.transactions.push(call.principal, product.access_id, product.id, pushed)
    return created(call.urls.transactions(product.access_id, product.id))


@operation("GET", PRODUCT + "/depotpositionen", success=Success(shape=list[Position]), errors=(404,), **READ)
async def list_positions(call: Call) -> Answer:
    """List the positions of a depot.

    404 for a product that is no depot.
    """
    positions = await call.services.transactions.list_positions(
        call.principal, call.path("access-id"), call.path_uuid("product-id")
    )
    return json_answer([show_position(position) for position in positions])


class _Pages:
    """Pages of one listing. No connection is held while a page is on its way to the caller."""

    def __init__(self, read: Callable[[Window], Awaitable[Page]]) -> None:
        self.read = read

    async def join(self, first: bytes, window: Window) -> AsyncIterator[bytes]:
        """The page that was read already, then those of the window, as one array."""
        yield b"[" + first
        following = window.cursor
        while following is not None:
            body, following = await self.read(replace(window, cursor=following))
            if body:  # rows may have gone meanwhile
                yield b"," + body
        yield b"]"


def _link_next(call: Call, access_id: str, product_id: UUID, following: tuple[date, int]) -> str:
    day, ordinal = following
    cursor = base64.urlsafe_b64encode(f"{day.isoformat()} {ordinal}".encode()).decode().rstrip("=")
    query = urlencode(call.query_values() | {"cursor": cursor})
    return f'<{call.urls.transactions(access_id, product_id)}?{query}>; rel="next"'


def _read_cursor(text: str) -> tuple[date, int]:
    try:
        day, _, ordinal = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii").partition(" ")
        number = int(ordinal)
        if not 0 <= number < 2**62:
            raise ValueError(ordinal)
        return date.fromisoformat(day), number
    except (ValueError, binascii.Error):
        raise HttpError(400, "cursor: use the one from the Link header") from None
