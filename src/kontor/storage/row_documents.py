"""Many rows in one statement, as a JSON document that PostgreSQL reads.

`copy` is refused where a table has row-level security, and arrays of values take more than twice as long.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

_encode = msgspec.json.Encoder(decimal_format="string").encode


def write_document(columns: tuple[str, ...], rows: Iterable[Sequence[object]]) -> str:
    """For `json_to_recordset`: an object per row, without what is null."""
    make_row = _find_row(columns)
    return _encode([make_row(*row) for row in rows]).decode()


@lru_cache(maxsize=32)
def _find_row(columns: tuple[str, ...]) -> Callable[..., msgspec.Struct]:
    """A struct with these fields: made and written faster than a dict."""
    return msgspec.defstruct("Row", [(name, Any, None) for name in columns], omit_defaults=True, gc=False)


def split_columns(declared: str) -> tuple[str, ...]:
    """The names in `name type, name type`."""
    return tuple(part.split()[0] for part in declared.split(","))
