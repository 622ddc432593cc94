"""Transactions: as they are listed, and as they are pushed."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import msgspec

from kontor_client.models.shapes import Linked, Model
from kontor_client.models.tags import TagDetails, TagInstance

_NAMES = {
    "amount": "betrag",
    "currency": "waehrung",
    "purpose": "verwendungszweck",
    "booking_text": "buchungstext",
    "gv_code": "gvCode",
    "prima_nota": "primanotaNummer",
    "booked_at": "buchungsdatum",
    "value_at": "wertstellungsdatum",
    "counterparty_name": "gegenkontoInhaber",
    "counterparty_iban": "gegenkontoIban",
    "counterparty_bic": "gegenkontoBic",
    "is_pending": "vorgemerkt",
}

_OWN_NAMES = {"sort_key": "hash", "batch": "identifier", "note": "notiz", "keywords": "schlagworte", "parts": "teile"}


class Batch(Model, rename={"id": "batchId"}):
    id: str


class PreviewedTransaction(Model, rename=_NAMES):
    """What a statement file would add."""

    amount: Decimal | None = None
    currency: str | None = None
    purpose: str | None = None
    booking_text: str | None = None
    gv_code: str | None = None
    prima_nota: str | None = None
    booked_at: datetime | None = None
    value_at: datetime | None = None
    counterparty_name: str | None = None
    counterparty_iban: str | None = None
    counterparty_bic: str | None = None
    is_pending: bool = False


class Classification(Model, rename={"confidence": "confidenceLevel", "display_name": "displayName"}):
    category: str
    display_name: str
    confidence: float = 0.0


class TransactionPart(Model, rename={"amount": "betrag", "note": "notiz"}):
    """A part of a transaction that the user has split. `tags` is as it was written."""

    amount: Decimal
    tags: Any = None
    note: str | None = None


class Transaction(PreviewedTransaction, kw_only=True, rename=_NAMES | _OWN_NAMES):
    """A booking. `tags` and `classifications` are there when they were asked for."""

    id: str
    sort_key: str
    batch: Batch | None = None
    note: str | None = None
    keywords: list[str] = []
    parts: list[TransactionPart] = []
    tags: list[TagInstance[TagDetails]] = []
    classifications: list[Classification] = []

    @property
    def category(self) -> str | None:
        """System name of the tag that was asked for, such as RENT."""
        return self.tags[0].item.system_name if self.tags else None


class CustomerTransaction(
    Transaction,
    kw_only=True,
    rename=_NAMES | _OWN_NAMES | {"access_id": "zugangId", "product_id": "produktId"},
):
    """A booking among those of all accounts."""

    access_id: str
    product_id: str


class TransactionSum(
    Model,
    rename={
        "currency": "waehrung",
        "count": "anzahl",
        "income": "einnahmen",
        "expenses": "ausgaben",
        "total": "summe",
    },
):
    """`expenses` are negative, as bookings are."""

    currency: str
    count: int
    income: Decimal
    expenses: Decimal
    total: Decimal


class RemovedTransaction(Model, rename={"product_id": "produktId"}):
    id: str
    product_id: str


class ChangedTransaction(
    Transaction,
    kw_only=True,
    rename=_NAMES | _OWN_NAMES | {"access_id": "zugangId", "product_id": "produktId"},
):
    """Changes of all accounts name access and product."""

    access_id: str | None = None
    product_id: str | None = None


class TransactionChanges(
    Model, rename={"new": "neu", "changed": "geaendert", "removed": "entfernt", "has_more": "weitere"}
):
    """Each transaction occurs once, in its latest state. `cursor` is `since` of the next call."""

    new: list[ChangedTransaction]
    changed: list[ChangedTransaction]
    removed: list[RemovedTransaction]
    cursor: str
    has_more: bool


class DayBalance(Model, rename={"day": "date"}):
    """What was on the account at the end of a day."""

    day: date
    balance: Decimal
    currency: str


class CompletenessGap(Model, rename={"kind": "art", "first": "von", "last": "bis", "difference": "differenz"}):
    """Days about which something is not known. `difference` is what the bookings lack."""

    kind: str
    first: date
    last: date
    difference: Decimal | None = None


class CompletenessMonth(
    Model,
    rename={
        "month": "monat",
        "count": "anzahl",
        "credits": "einnahmen",
        "debits": "ausgaben",
        "gaps": "luecken",
        "opening_balance": "saldoAnfang",
        "closing_balance": "saldoEnde",
    },
):
    """Of one account, such as `2026-10`. `debits` is negative."""

    month: str
    count: int
    credits: Decimal
    debits: Decimal
    gaps: list[CompletenessGap]
    opening_balance: Decimal | None = None
    closing_balance: Decimal | None = None


class Completeness(
    Linked,
    kw_only=True,
    rename={
        "access_id": "zugangId",
        "product_id": "produktId",
        "currency": "waehrung",
        "months": "monate",
        "excluded_currencies": "ausgeschlosseneWaehrungen",
    },
):
    """Whether the bookings of an account are complete, oldest month first."""

    access_id: str
    product_id: str
    currency: str
    months: list[CompletenessMonth]
    excluded_currencies: list[str] = []


class EditResult(Model, rename={"count": "anzahl", "skipped": "uebersprungen"}):
    """`skipped` are further ones that were not changed."""

    id: str
    count: int
    skipped: int


class StoredEdit(
    Linked,
    kw_only=True,
    rename={
        "count": "anzahl",
        "skipped": "uebersprungen",
        "made_at": "erstelltAm",
        "keywords": "schlagworte",
        "note": "notiz",
    },
):
    """What several transactions got. `tags` is as it was written."""

    id: str
    count: int
    skipped: int
    made_at: datetime
    tags: Any = None
    keywords: list[str] | None = None
    note: str | None = None


class NewTransaction(
    msgspec.Struct,
    kw_only=True,
    frozen=True,
    omit_defaults=True,
    rename=_NAMES | {"batch": "identifier", "ultimate_counterparty": "gegenkontoInhaberAbweichend"},
):
    """A booking to push. A batch that was pushed before adds nothing."""

    batch: Batch
    amount: Decimal
    booked_at: str
    currency: str | None = None
    purpose: str | None = None
    booking_text: str | None = None
    gv_code: str | None = None
    prima_nota: str | None = None
    value_at: str | None = None
    counterparty_name: str | None = None
    counterparty_iban: str | None = None
    counterparty_bic: str | None = None
    ultimate_counterparty: str | None = None
    is_pending: bool = False


class RulePreview(Model, rename={"count": "anzahl", "total": "summe", "examples": "beispiele"}):
    """What a tagging rule would decide. `total` is of the transactions in euros, `examples` are the newest."""

    count: int
    total: Decimal
    examples: list[Transaction]


class EditPreview(Model, rename={"count": "anzahl", "total": "summe", "examples": "beispiele"}):
    """What an edit would change. `total` is of the transactions in euros, `examples` are the newest."""

    count: int
    total: Decimal
    examples: list[CustomerTransaction]
