"""What users write beside transactions: one at a time, or many at once, which can be undone."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kontor_client.models.transactions import EditPreview, EditResult, StoredEdit
from kontor_client.operations.accesses import access_path
from kontor_client.operations.all_transactions import ALL, Filters
from kontor_client.plans import Call, Plan, fetch, path_of, send

EDITS = f"{ALL}/bearbeitungen"


class NewPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a transaction: its amount, of the transaction's sign, and a category by its system name."""

    amount: Decimal
    category: str
    note: str | None = None

    def show(self) -> dict[str, Any]:
        shown = {"betrag": self.amount, "tags": {"systemName": self.category}}
        return shown | ({"notiz": self.note} if self.note is not None else {})


def annotate_transaction(
    access_id: str,
    product_id: str,
    transaction_id: str,
    *,
    note: str | UnsetType | None = UNSET,
    keywords: Sequence[str] | UnsetType = UNSET,
    parts: Sequence[NewPart] | UnsetType = UNSET,
) -> Plan[None]:
    """Write a note and keywords beside a transaction, or split it into parts that add up to its amount.

    What is left out stays as it is; None and an empty list remove. The category is changed by `correct_category`.
    """
    body = _show_change(UNSET, keywords, note)
    if not isinstance(parts, UnsetType):
        body["teile"] = [part.show() for part in parts]
    path = access_path(access_id, product_id, "kontoumsaetze", transaction_id)
    yield from send(Call("PUT", path, json=body, is_repeatable=True))


def edit_transactions(
    selection: Filters | Sequence[str],
    *,
    category: str | UnsetType = UNSET,
    keywords: Sequence[str] | UnsetType = UNSET,
    note: str | UnsetType | None = UNSET,
) -> Plan[EditResult]:
    """Give up to 10,000 transactions a category, keywords or a note: those that fit filters, or have these ids.

    Transactions whose sign does not fit the category are skipped.
    """
    body = _show_selection(selection) | _show_change(category, keywords, note)
    return fetch(EditResult, EDITS, "POST", json=body)


def preview_edit(
    selection: Filters | Sequence[str],
    *,
    category: str | UnsetType = UNSET,
    keywords: Sequence[str] | UnsetType = UNSET,
    note: str | UnsetType | None = UNSET,
) -> Plan[EditPreview]:
    """What `edit_transactions` would change; nothing is stored."""
    body = _show_selection(selection) | _show_change(category, keywords, note)
    return fetch(EditPreview, EDITS, "POST", params={"preview": True}, json=body, is_repeatable=True)


def list_transaction_edits() -> Plan[list[StoredEdit]]:
    """The last 50 edits, the latest first."""
    return fetch(list[StoredEdit], EDITS)


def read_transaction_edit(edit_id: str) -> Plan[StoredEdit]:
    return fetch(StoredEdit, EDITS + path_of(edit_id))


def undo_transaction_edit(edit_id: str) -> Plan[EditResult]:
    """Within 30 days: transactions that nobody has changed since get their former values."""
    return fetch(EditResult, EDITS + path_of(edit_id), "DELETE", is_repeatable=False)


def _show_selection(selection: Filters | Sequence[str]) -> dict[str, Any]:
    return {"filter": selection.show()} if isinstance(selection, Filters) else {"ids": list(selection)}


def _show_change(
    category: str | UnsetType, keywords: Sequence[str] | UnsetType, note: str | UnsetType | None
) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if not isinstance(category, UnsetType):
        body["tags"] = {"systemName": category}
    if not isinstance(keywords, UnsetType):
        body["schlagworte"] = list(keywords)
    if not isinstance(note, UnsetType):
        body["notiz"] = note
    return body
