"""Edits of several transactions at once (Bearbeitung)."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.annotations import UNCHANGED, Annotation
from kontor.domain.errors import InvalidError
from kontor.domain.transaction_edits import MAX_ROWS, EditChange, TransactionEdit, Undoing
from kontor.domain.transaction_edits import EditPreview as FoundPreview
from kontor.wire.encoding import encode_json, format_timestamp
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tags import ItemInputs
from kontor.wire.tokens import Timestamp
from kontor.wire.transaction_updates import Keywords, Note, ReadCategory, choose_item, read_keywords, read_note
from kontor.wire.transactions import CustomerTransaction
from kontor.wire.urls import Urls


class NewEdit(msgspec.Struct):
    """Either `ids` or `filter` says which transactions, the other fields what they get."""

    ids: Annotated[list[UUID], Meta(min_length=1, max_length=MAX_ROWS)] | UnsetType = UNSET
    filter: (
        Annotated[dict[str, str], Meta(description="filters of the list over all accounts, as in its query")]
        | UnsetType
    ) = UNSET
    tags: ItemInputs | UnsetType = UNSET
    schlagworte: Keywords | UnsetType = UNSET
    notiz: Note | UnsetType | None = UNSET

    def read_change(self, read_category: ReadCategory) -> EditChange:
        annotation = Annotation(read_note(self.notiz), read_keywords(self.schlagworte))
        if isinstance(self.tags, UnsetType):
            if annotation.is_empty:
                raise InvalidError("give at least one of tags, schlagworte, notiz")
            return EditChange(annotation=annotation)
        return EditChange(read_category(choose_item(self.tags), "tags"), msgspec.to_builtins(self.tags), annotation)


class EditResult(msgspec.Struct):
    id: UUID
    anzahl: Annotated[int, Meta(description="transactions that were changed")]
    uebersprungen: Annotated[int, Meta(description="further ones that were not")]


class StoredEdit(EditResult, kw_only=True):
    erstelltAm: Timestamp  # noqa: N815
    tags: ItemInputs | UnsetType = UNSET
    schlagworte: list[str] | UnsetType = UNSET
    notiz: str | UnsetType | None = UNSET
    relations: list[Relation]


class EditPreview(msgspec.Struct):
    anzahl: int
    summe: Annotated[Amount, Meta(description="of those in euros")]
    beispiele: Annotated[list[CustomerTransaction], Meta(max_length=10, description="the newest")]


def show_result(edit: TransactionEdit) -> EditResult:
    return EditResult(edit.id, edit.count, edit.skipped)


def show_undoing(edit_id: UUID, undoing: Undoing) -> EditResult:
    return EditResult(edit_id, undoing.restored, undoing.left)


def show_edit(edit: TransactionEdit, urls: Urls) -> dict[str, Any]:
    """The tags are JSON as it was written."""
    shown: dict[str, Any] = {
        "id": edit.id,
        "anzahl": edit.count,
        "uebersprungen": edit.skipped,
        "erstelltAm": format_timestamp(edit.made_at),
    }
    if edit.tags is not None:
        shown["tags"] = edit.tags
    if edit.annotation.keywords is not UNCHANGED:
        shown["schlagworte"] = edit.annotation.keywords
    if edit.annotation.note is not UNCHANGED:
        shown["notiz"] = edit.annotation.note
    return shown | {"relations": [Relation("self", urls.transaction_edit(edit.id))]}


def render_preview(found: FoundPreview) -> bytes:
    """The examples are JSON objects already."""
    head = encode_json({"anzahl": found.count, "summe": found.total})[:-1]
    return b"".join((head, b',"beispiele":[', b",".join(found.examples), b"]}"))
