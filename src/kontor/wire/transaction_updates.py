"""What a user says about a transaction (Kontoumsatz), as it is sent."""

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.annotations import (
    MAX_KEYWORD_LENGTH,
    MAX_KEYWORDS,
    MAX_NOTE_LENGTH,
    UNCHANGED,
    Annotation,
    Unchanged,
    clean_keywords,
    clean_note,
)
from kontor.domain.cleaning import clean_amount
from kontor.domain.errors import InvalidError
from kontor.domain.parts import MAX_PARTS, Part
from kontor.wire.tags import ItemInput, ItemInputs

# What a named item means: its category. The text is the path of the item in the request.
ReadCategory: TypeAlias = Callable[[ItemInput, str], str]
Note = Annotated[str, Meta(max_length=MAX_NOTE_LENGTH)]
Keyword = Annotated[str, Meta(min_length=1, max_length=MAX_KEYWORD_LENGTH)]
Keywords = Annotated[list[Keyword], Meta(max_length=MAX_KEYWORDS)]


class NewPart(msgspec.Struct):
    betrag: Annotated[Decimal, Meta(description="at most two decimals, the sign of the transaction")]
    tags: ItemInputs
    notiz: Note | None = None


class TransactionUpdate(msgspec.Struct):
    """What is left out stays as it is; null and an empty array remove."""

    tags: ItemInputs | UnsetType = UNSET
    notiz: Note | UnsetType | None = UNSET
    schlagworte: Keywords | UnsetType = UNSET
    teile: (
        Annotated[list[NewPart], Meta(max_length=MAX_PARTS, description="two or more that add up, or none")] | UnsetType
    ) = UNSET

    def read_item(self) -> ItemInput | None:
        return None if isinstance(self.tags, UnsetType) else choose_item(self.tags)

    def read_annotation(self, read_category: ReadCategory) -> Annotation:
        if self == TransactionUpdate():
            raise InvalidError("give at least one of tags, notiz, schlagworte, teile")
        return Annotation(
            read_note(self.notiz),
            read_keywords(self.schlagworte),
            UNCHANGED
            if isinstance(self.teile, UnsetType)
            else tuple(_read_part(part, f"teile[{number}]", read_category) for number, part in enumerate(self.teile)),
        )


def read_note(text: str | UnsetType | None) -> str | Unchanged | None:
    return UNCHANGED if isinstance(text, UnsetType) else clean_note(text, "notiz")


def read_keywords(words: list[str] | UnsetType) -> tuple[str, ...] | Unchanged:
    return UNCHANGED if isinstance(words, UnsetType) else clean_keywords(words, "schlagworte")


def choose_item(items: ItemInputs) -> ItemInput:
    return items[0] if isinstance(items, list) else items


def _read_part(part: NewPart, place: str, read_category: ReadCategory) -> Part:
    amount = clean_amount(part.betrag)
    if amount is None:
        raise InvalidError("is no amount that can be stored", f"{place}.betrag")
    if amount != part.betrag:
        raise InvalidError("at most two decimals are allowed", f"{place}.betrag")
    category = read_category(choose_item(part.tags), f"{place}.tags")
    return Part(amount, category, msgspec.to_builtins(part.tags), clean_note(part.notiz, f"{place}.notiz"))
