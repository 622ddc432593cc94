"""Many rows in one statement, as a JSON document that PostgreSQL reads.

`copy` is refused where a table has row-level security, and arrays of values take more than twice as long.
"""

from collections.abc import Iterable, Sequence

import msgspec

_encode = msgspec.json.Encoder(decimal_format="string").encode


def write_document(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """For `json_to_recordset`: an object per row, without what is null."""
    return _encode(
        [{name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows]
    ).decode()


def split_columns(declared: str) -> tuple[str, ...]:
    """The names in `name type, name type`."""
    return tuple(part.split()[0] for part in declared.split(","))
