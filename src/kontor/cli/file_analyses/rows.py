"""The rows with their tags, for spreadsheets and programs."""

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from kontor.analysis.records import NO_INSURANCE, NO_PARTNER
from kontor.cli.file_analyses.figures import FileAnalysis, read_day
from kontor.cli.file_analyses.page import Words
from kontor.cli.parquet_files import load_duckdb
from kontor.domain.spreadsheets import escape_formula

# In the order of `list_rows`, as DuckDB names types.
TYPES = {
    "id": "varchar",
    "account": "varchar",
    "day": "date",
    "amount": "decimal(18, 2)",
    "currency": "varchar",
    "counterparty_name": "varchar",
    "counterparty_iban": "varchar",
    "purpose": "varchar",
    "booking_text": "varchar",
    "is_pending": "boolean",
    "category": "varchar",
    "category_name": "varchar",
    "category_confidence": "double",
    "partner": "varchar",
    "partner_name": "varchar",
    "insurance_type": "varchar",
}
TEXTS = ("account", "counterparty_name", "purpose", "booking_text", "category_name", "partner_name")


def list_rows(analysis: FileAnalysis, words: Words) -> Iterator[dict[str, str | float | bool | None]]:
    """Amounts are decimal texts, days as ISO 8601. Tags that say nothing are None."""
    for number, (row, tagging) in enumerate(zip(analysis.rows, analysis.taggings, strict=True), start=1):
        transaction = row.transaction
        partner = None if tagging.partner == NO_PARTNER else tagging.partner
        yield {
            "id": str(number),
            "account": row.account,
            "day": read_day(transaction).isoformat(),
            "amount": f"{transaction.amount:.2f}",
            "currency": transaction.currency,
            "counterparty_name": transaction.counterparty_name,
            "counterparty_iban": transaction.counterparty_iban,
            "purpose": transaction.purpose,
            "booking_text": transaction.booking_text,
            "is_pending": transaction.is_pending,
            "category": tagging.category,
            "category_name": words.category(tagging.category),
            "category_confidence": round(tagging.category_confidence, 3),
            "partner": partner,
            "partner_name": None if partner is None else words.partner(partner),
            "insurance_type": None if tagging.insurance_type == NO_INSURANCE else tagging.insurance_type,
        }


def write_json(analysis: FileAnalysis, words: Words) -> bytes:
    return f"{json.dumps(list(list_rows(analysis, words)), ensure_ascii=False, indent=1)}\n".encode()


def write_csv(analysis: FileAnalysis, words: Words) -> bytes:
    """Comma-separated, with a heading. No spreadsheet takes words of strangers for a formula."""
    text = io.StringIO(newline="")
    rows = list(list_rows(analysis, words))
    writer = csv.DictWriter(text, list(TYPES))
    writer.writeheader()
    for row in rows:
        writer.writerow(row | {name: escape_formula(value) for name in TEXTS if isinstance(value := row[name], str)})
    return text.getvalue().encode()


def write_parquet(analysis: FileAnalysis, words: Words) -> bytes:
    """Days, amounts and flags have their types. Rows pass through lines of JSON: no text is taken for a separator."""
    duckdb = load_duckdb("--rows")
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(config={"threads": 1}) as database:
        lines, written = Path(folder, "rows.jsonl"), Path(folder, "rows.parquet")
        lines.write_text("".join(f"{json.dumps(row)}\n" for row in list_rows(analysis, words)), encoding="utf-8")
        source = database.read_json(str(lines), columns=TYPES, format="newline_delimited")
        source.write_parquet(str(written), compression="zstd")
        return written.read_bytes()


WRITERS: dict[str, Callable[[FileAnalysis, Words], bytes]] = {
    ".json": write_json,
    ".csv": write_csv,
    ".parquet": write_parquet,
}
