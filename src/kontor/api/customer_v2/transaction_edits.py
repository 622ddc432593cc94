"""Edits of several transactions at once, which can be undone."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta

from kontor.api.answers import JSON, Answer, json_answer
from kontor.api.bodies import check_query_names, convert_query
from kontor.api.customer_v2.accesses import CUSTOMER, READ, TAGS
from kontor.api.customer_v2.customer_transactions import SumsQuery
from kontor.api.customer_v2.tagging import read_category
from kontor.api.operations import Call, Success, operation
from kontor.domain.errors import InvalidError
from kontor.domain.transaction_edits import Selection
from kontor.wire.transaction_edits import (
    EditPreview,
    EditResult,
    NewEdit,
    StoredEdit,
    render_preview,
    show_edit,
    show_result,
    show_undoing,
)
from kontor.wire.transactions import CUSTOMER_FIELDS

EDITS = CUSTOMER + "/kontoumsaetze/bearbeitungen"
EDIT = EDITS + "/{edit-id}"


class EditQuery(msgspec.Struct):
    preview: Annotated[bool, Meta(description="answer what would be changed, store nothing")] = False


async def _read_selection(call: Call, body: NewEdit) -> Selection:
    """A filter is read as the query of the list is: a name that it does not have would widen what is changed."""
    if (body.ids is UNSET) == (body.filter is UNSET):
        raise InvalidError("give either ids or filter")
    if isinstance(body.ids, list):
        return Selection(ids=tuple(body.ids))
    assert isinstance(body.filter, dict)
    check_query_names(body.filter, SumsQuery)
    return Selection(filters=await convert_query(body.filter, SumsQuery).read_filters(call))


@operation(
    "POST",
    EDITS,
    query=EditQuery,
    body=NewEdit,
    is_bulk=True,
    is_heavy=True,
    success=Success(201, shape=EditResult, headers={"Location": "the edit"}),
    errors=(404,),
    other_shapes={200: EditPreview},
    other_statuses={200: "what would be changed (preview)"},
    **TAGS,
)
async def edit_transactions(call: Call) -> Answer:
    """Give up to 10,000 transactions a category, keywords or a note.

    They are named by ids, or found by filters of the list over all accounts. Keywords and note replace the former ones.
    Transactions whose sign does not fit the category are skipped.
    """
    is_preview = call.query(EditQuery).preview
    body = await call.json(NewEdit)
    selection, change = await _read_selection(call, body), body.read_change(read_category)
    edits = call.services.transaction_edits
    if is_preview:
        found = await edits.preview(call.principal, selection, change, CUSTOMER_FIELDS)
        return Answer(200, render_preview(found), JSON)
    edit = await edits.apply(call.principal, selection, change)
    return json_answer(show_result(edit), 201, {"Location": call.urls.transaction_edit(edit.id)})


@operation("GET", EDITS, success=Success(shape=list[StoredEdit]), **READ)
async def list_transaction_edits(call: Call) -> Answer:
    """List the last 50 edits of several transactions, the latest first.

    Corrections with `changeExisting` are among them.
    """
    edits = await call.services.transaction_edits.list_edits(call.principal)
    return json_answer([show_edit(edit, call.urls) for edit in edits])


@operation("GET", EDIT, success=Success(shape=StoredEdit), errors=(404,), **READ)
async def read_transaction_edit(call: Call) -> Answer:
    """Read one edit of several transactions.

    It says what the transactions got, and how many they were.
    """
    edit = await call.services.transaction_edits.read_edit(call.principal, call.path_uuid("edit-id"))
    return json_answer(show_edit(edit, call.urls))


@operation("DELETE", EDIT, success=Success(shape=EditResult, description="undone"), errors=(404, 409), **TAGS)
async def undo_transaction_edit(call: Call) -> Answer:
    """Undo an edit of several transactions, within 30 days.

    Transactions that nobody has changed since get their former values. The answer says how many they are, and how many
    were left as they are.
    """
    edit_id = call.path_uuid("edit-id")
    undoing = await call.services.transaction_edits.undo(call.principal, edit_id)
    return json_answer(show_undoing(edit_id, undoing))
