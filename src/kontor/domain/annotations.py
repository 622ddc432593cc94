"""What a user writes beside a transaction: a note, keywords, parts of its amount."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal, TypeAlias

from kontor.domain.cleaning import clean_text
from kontor.domain.errors import InvalidError
from kontor.domain.parts import Part

MAX_NOTE_LENGTH = 1000
MAX_KEYWORDS = 20
MAX_KEYWORD_LENGTH = 100


class _Unchanged(Enum):
    UNCHANGED = auto()


UNCHANGED = _Unchanged.UNCHANGED
Unchanged: TypeAlias = Literal[_Unchanged.UNCHANGED]


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is to be written beside transactions. None and nothing remove what is there."""

    note: str | Unchanged | None = UNCHANGED
    keywords: tuple[str, ...] | Unchanged = UNCHANGED
    parts: tuple[Part, ...] | Unchanged = UNCHANGED

    @property
    def is_empty(self) -> bool:
        return self == Annotation()


def clean_note(text: str | None, field: str) -> str | None:
    """As it is written; a blank one is none."""
    if text is None or not text.strip():
        return None
    if clean_text(text) != text:
        raise InvalidError("expected printable characters", field)
    return text


def clean_keywords(words: Sequence[str], field: str) -> tuple[str, ...]:
    """Each once, in their order; capitals make no difference, the first spelling stays."""
    found: dict[str, str] = {}
    for number, word in enumerate(words):
        keyword = " ".join(word.split())
        if not keyword or clean_text(keyword) != keyword:
            raise InvalidError("expected a keyword in printable characters", f"{field}[{number}]")
        found.setdefault(keyword.lower(), keyword)
    return tuple(found.values())
