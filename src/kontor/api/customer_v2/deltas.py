"""Changes of transactions since a cursor, of one product or of all."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.analysis.tagging import Evidence
from kontor.api.answers import JSON, Answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ
from kontor.api.customer_v2.own_trees import add_own_tree
from kontor.api.customer_v2.searches import Explain, explain_rows, prepare_view
from kontor.api.customer_v2.transactions import TRANSACTIONS
from kontor.api.operations import Call, Success, operation
from kontor.domain.json_fields import JsonField, TagRow
from kontor.services.transactions import DeltaView
from kontor.wire.deltas import CustomerTransactionChanges, TransactionChanges, render_changes
from kontor.wire.tag_views import TagChoice, TagView, choose_view, render_page
from kontor.wire.transactions import CUSTOMER_FIELDS, FIELDS

CHANGES = "/kontoumsaetze/aenderungen"
MAX_CHANGES = 5000


class ChangesQuery(msgspec.Struct):
    since: (
        Annotated[str, Meta(description="cursor of an earlier answer or of a webhook; without it everything is new")]
        | None
    ) = None
    limit: Annotated[int, Meta(ge=1, le=MAX_CHANGES, description="changes in one answer")] = 1000
    tag: Annotated[
        TagChoice, Meta(description="show tags of this tree, and tell transactions whose tag of it has changed")
    ] = "false"
    explain: Explain = False

    @property
    def view(self) -> TagView | None:
        return choose_view(self.tag)


@operation(
    "GET",
    TRANSACTIONS + "/aenderungen",
    query=ChangesQuery,
    success=Success(shape=TransactionChanges),
    errors=(404, 409, 429),
    **READ,
)
async def list_transaction_changes(call: Call) -> Answer:
    """List which transactions of a product are new, changed or removed since a cursor.

    Without `since` all are new. `weitere` true: call again with `cursor`. A pending transaction that is booked is a
    changed one. With `tag`, another tag of that tree is a change, too. Removed ones are told for 90 days; 409 for an
    older or unknown cursor.
    """
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    await call.services.transactions.require_product(call.principal, access_id, product_id)
    return await _answer_changes(call, product_id, FIELDS)


@operation(
    "GET",
    CUSTOMER + CHANGES,
    query=ChangesQuery,
    success=Success(shape=CustomerTransactionChanges),
    errors=(409,),
    is_heavy=True,
    **READ,
)
async def list_all_transaction_changes(call: Call) -> Answer:
    """List which transactions of all accounts are new, changed or removed since a cursor.

    As for one product, and counted as in `list_all_transactions`. The transactions of a deleted access are removed
    ones.
    """
    return await _answer_changes(call, None, CUSTOMER_FIELDS)


async def _answer_changes(call: Call, product_id: UUID | None, fields: tuple[JsonField, ...]) -> Answer:
    query = call.query(ChangesQuery)
    view = await add_own_tree(call, query.view)
    await prepare_view(call, view)
    shown = DeltaView(product_id, fields, () if view is None else view.columns)
    delta = await call.services.deltas.read(call.principal, query.since, query.limit, shown)
    new = await render_rows(call, delta.new, view, is_explained=query.explain)
    changed = await render_rows(call, delta.changed, view, is_explained=query.explain)
    return Answer(200, render_changes(new, changed, delta.removed, delta.cursor, has_more=delta.has_more), JSON)


async def render_rows(
    call: Call, found: Sequence[tuple[UUID, TagRow]], view: TagView | None, *, is_explained: bool
) -> bytes:
    """The JSON objects, separated by commas."""
    rows = [row for _, row in found]
    if view is None:
        return b",".join(row[0] for row in rows)
    evidence: dict[UUID, list[Evidence]] | None = None
    if is_explained and view.tree is not None:
        evidence = {}
        for product_id in {product_id for product_id, _ in found}:
            own = [row for other, row in found if other == product_id]
            evidence |= await explain_rows(call, product_id, own, view)
    return render_page(rows, view, call.urls, evidence)
