"""Transactions with their tags as CSV: for programs (`plain`), or for a German spreadsheet (`german`)."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from kontor.analysis.trees import BUSINESS_PARTNERS, CATEGORIES, FREELANCER_CATEGORIES, INSURANCE_TYPES, Item
from kontor.domain.exports import ExportRow
from kontor.domain.spreadsheets import escape_formula
from kontor.domain.stored_products import StoredProduct
from kontor.services.statements import Exports, Owner, Span
from kontor.wire.tag_views import UNTAGGED
from kontor.wire.tags import name_item

Dialect: TypeAlias = Annotated[Literal["plain", "german"], Meta(title="CsvDialect")]
HEADINGS = {
    "access_id": "Zugang",
    "institution": "Bank",
    "product_id": "Konto-ID",
    "product": "Konto",
    "product_iban": "Konto-IBAN",
    "transaction_id": "Umsatz-ID",
    "booking_date": "Buchungstag",
    "value_date": "Wertstellung",
    "amount": "Betrag",
    "currency": "Währung",
    "counterparty": "Gegenkonto",
    "counterparty_iban": "Gegenkonto-IBAN",
    "purpose": "Verwendungszweck",
    "booking_text": "Buchungstext",
    "pending": "Vorgemerkt",
    "category": "Kategorie (Systemname)",
    "category_name": "Kategorie",
    "main_category": "Hauptkategorie (Systemname)",
    "main_category_name": "Hauptkategorie",
    "confidence": "Sicherheit",
    "decided_by": "Entschieden von",
    "partner": "Geschäftspartner (Systemname)",
    "partner_name": "Geschäftspartner",
    "insurance_type": "Versicherungsart (Systemname)",
    "insurance_type_name": "Versicherungsart",
    "freelancer_category": "Kategorie für Selbstständige (Systemname)",
    "freelancer_category_name": "Kategorie für Selbstständige",
    "note": "Notiz",
    "keywords": "Schlagworte",
    "parts": "Teile",
}
DECIDED_BY = {"TAGGER": "Kontor", "RULE": "Regel", "USER": "Kunde"}
BOM = "\ufeff"  # without it a German Excel takes UTF-8 for something else


@dataclass(frozen=True, slots=True)
class _Format:
    is_german: bool

    def show_number(self, value: Decimal | float) -> str:
        text = f"{value:.2f}"
        return text.replace(".", ",") if self.is_german else text

    def show_day(self, day: date | None) -> str:
        if day is None:
            return ""
        return day.strftime("%d.%m.%Y") if self.is_german else day.isoformat()

    def show_truth(self, value: bool) -> str:
        return ("ja" if value else "nein") if self.is_german else ("true" if value else "false")

    def show_source(self, source: str | None) -> str:
        return DECIDED_BY.get(source or "", "") if self.is_german else source or ""


async def write_csv(
    exports: Exports, owner: Owner, held: Sequence[StoredProduct], span: Span, dialect: Dialect
) -> AsyncIterator[bytes]:
    """The heading, then the accounts one after the other, each with its oldest transaction first."""
    chosen = _Format(dialect == "german")
    headings = list(HEADINGS.values() if chosen.is_german else HEADINGS)
    yield (BOM if chosen.is_german else "").encode() + _write_lines([headings], chosen)
    for product in held:
        async for page in exports.page_rows(owner, product.id, span):
            yield _write_lines([_make_cells(row, product, chosen) for row in page], chosen)


def _write_lines(lines: list[list[str]], chosen: _Format) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";" if chosen.is_german else ",").writerows(lines)
    return text.getvalue().encode()


def _make_cells(row: ExportRow, stored: StoredProduct, chosen: _Format) -> list[str]:
    category = _find(CATEGORIES, row.category)
    main = _find(CATEGORIES, category.parent or category.system_name)
    tags = (
        _find(BUSINESS_PARTNERS, row.partner),
        _find(INSURANCE_TYPES, row.insurance_type),
        _find(FREELANCER_CATEGORIES, row.freelancer_category),
    )
    return [
        escape_formula(stored.access_id),
        escape_formula(stored.product.institution),
        str(stored.id),
        escape_formula(stored.product.name),
        escape_formula(stored.product.iban),
        str(row.id),
        chosen.show_day(row.day),
        chosen.show_day(row.value_day),
        chosen.show_number(row.amount),
        row.currency,
        escape_formula(row.counterparty_name),
        escape_formula(row.counterparty_iban),
        escape_formula(row.purpose),
        escape_formula(row.booking_text),
        chosen.show_truth(row.is_pending),
        category.system_name,
        category.name,
        main.system_name,
        main.name,
        chosen.show_number(row.confidence or 0.0),
        chosen.show_source(row.source),
        *(text for item in tags for text in (item.system_name, escape_formula(item.name))),
        escape_formula(row.note),
        escape_formula(", ".join(row.keywords or ())),
        _show_parts(row, chosen),
    ]


def _show_parts(row: ExportRow, chosen: _Format) -> str:
    """Each as its category and amount."""
    parts = zip(row.part_categories, row.part_amounts, strict=True)
    return " | ".join(f"{category} {chosen.show_number(amount)}" for category, amount in parts)


def _find(tree: str, system_name: str | None) -> Item:
    return name_item(tree, system_name or UNTAGGED[tree])[1]
