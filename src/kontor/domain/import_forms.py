"""CSV forms that users describe themselves, by pointing at columns."""

from dataclasses import dataclass
from datetime import datetime

from kontor.domain.errors import InvalidError

MAX_NAME = 100
MAX_COLUMNS = 100
MAX_COLUMN_NAME = 200
MAX_FORMS = 100

# Names would be lost where a client normalises the path that ends with them.
_RESERVED_NAMES = frozenset((".", ".."))


@dataclass(frozen=True, slots=True)
class FormColumn:
    """A column by its name in the header, and the field that it fills. Fields are those of CSV layouts."""

    name: str
    field: str


@dataclass(frozen=True, slots=True)
class ImportForm:
    """`marks` are words of the header that tell the form from others, besides the names of its columns.

    `day_format` is written with dd, mm and yyyy or yy.
    """

    name: str
    marks: tuple[str, ...]
    columns: tuple[FormColumn, ...]
    day_format: str
    decimal_sign: str
    created_at: datetime | None = None


def check_form_name(name: str) -> str:
    """A name is the last part of the form's address."""
    if not name or len(name) > MAX_NAME:
        raise InvalidError(f"expected 1 to {MAX_NAME} characters", "name")
    if name in _RESERVED_NAMES or "/" in name or name != name.strip() or not name.isprintable():
        raise InvalidError("expected printable characters without a slash and without blanks at the ends", "name")
    return name
