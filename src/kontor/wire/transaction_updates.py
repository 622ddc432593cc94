"""What a user says about a transaction (Kontoumsatz), as it is sent."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.annotations import (
    MAX_KEYWORD_LENGTH,
    MAX_KEYWORDS,
    MAX_NOTE_LENGTH,
    UNCHANGED,
    Annotation,
    clean_keywords,
    clean_note,
)
from kontor.domain.errors import InvalidError
from kontor.wire.tags import ItemInput

ItemInputs = ItemInput | Annotated[list[ItemInput], Meta(min_length=1, max_length=1)]
Note = Annotated[str, Meta(max_length=MAX_NOTE_LENGTH)]
Keyword = Annotated[str, Meta(min_length=1, max_length=MAX_KEYWORD_LENGTH)]
Keywords = Annotated[list[Keyword], Meta(max_length=MAX_KEYWORDS)]


class TransactionUpdate(msgspec.Struct):
    """What is left out stays as it is; null and an empty array remove."""

    tags: ItemInputs | UnsetType = UNSET
    notiz: Note | UnsetType | None = UNSET
    schlagworte: Keywords | UnsetType = UNSET

    def read_item(self) -> ItemInput | None:
        if isinstance(self.tags, UnsetType):
            return None
        return self.tags[0] if isinstance(self.tags, list) else self.tags

    def read_annotation(self) -> Annotation:
        if self == TransactionUpdate():
            raise InvalidError("give at least one of tags, notiz, schlagworte")
        return Annotation(
            UNCHANGED if isinstance(self.notiz, UnsetType) else clean_note(self.notiz, "notiz"),
            UNCHANGED if isinstance(self.schlagworte, UnsetType) else clean_keywords(self.schlagworte, "schlagworte"),
        )
