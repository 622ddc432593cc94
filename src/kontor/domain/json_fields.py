"""Which keys of a JSON object show which facts of a row: chosen by `wire`, written by PostgreSQL."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeAlias


class Show(Enum):
    """How a value becomes JSON."""

    TEXT = auto()
    NUMBER = auto()
    PLAIN = auto()
    TIMESTAMP = auto()
    TRUE_ONLY = auto()
    SORT_KEY = auto()  # of day and ordinal; the column is the ordinal
    OBJECTS = auto()


# The columns of a tag: what it says, and how sure that is.
TagColumns: TypeAlias = tuple[str, str]


# The object as JSON in UTF-8, the transaction's id (None where nobody asks for it), then the asked columns in pairs,
# None where there is no tag.
TagRow: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class JsonField:
    """A key of the object. Keys whose column is null are left out; the first one must never be null.

    With `inside`, the value is wrapped in an object of that one key. `entries` are the keys of objects in an array, and
    the stored names that they show. Fields that are not `is_stored` show what is no part of the row, and come last.
    """

    key: str
    column: str
    show: Show
    inside: str | None = None
    entries: tuple[tuple[str, str], ...] = ()
    is_stored: bool = True
