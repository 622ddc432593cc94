"""Rows as a JSON document for PostgreSQL: everything that is not null, literally."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from kontor.storage.row_documents import split_columns, write_document

COLUMNS = split_columns(
    "id uuid, day date, at timestamptz, amount numeric, text text, is_pending boolean, document json"
)


def test_a_row_is_written_without_what_is_null_and_with_what_is_empty_or_false():
    full = (
        UUID(int=7),
        date(2026, 11, 1),
        datetime(2026, 11, 1, 23, tzinfo=UTC),
        Decimal("-0.10"),
        "",
        False,
        {"betrag": msgspec.Raw(b"-0.10")},
    )
    found = json.loads(write_document(COLUMNS, [full, (UUID(int=8), *[None] * 6)]), parse_float=str)
    assert found == [
        {
            "id": str(UUID(int=7)),
            "day": "2026-11-01",
            "at": "2026-11-01T23:00:00Z",
            "amount": "-0.10",
            "text": "",
            "is_pending": False,
            "document": {"betrag": "-0.10"},
        },
        {"id": str(UUID(int=8))},
    ]
