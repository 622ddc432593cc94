"""The rows with their tags, for spreadsheets and programs."""

import csv
import io
import json
from collections.abc import Iterator

from kontor.analysis.records import NO_INSURANCE, NO_PARTNER
from kontor.cli.file_analyses.figures import FileAnalysis, read_day
from kontor.cli.file_analyses.page import Words
from kontor.domain.spreadsheets import disarm

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


def write_json(analysis: FileAnalysis, words: Words) -> str:
    return json.dumps(list(list_rows(analysis, words)), ensure_ascii=False, indent=1) + "\n"


def write_csv(analysis: FileAnalysis, words: Words) -> str:
    """Comma-separated, with a heading. No spreadsheet takes words of strangers for a formula."""
    text = io.StringIO(newline="")
    rows = list(list_rows(analysis, words))
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow(row | {name: disarm(value) for name in TEXTS if isinstance(value := row[name], str)})
    return text.getvalue()


WRITERS = {".json": write_json, ".csv": write_csv}
