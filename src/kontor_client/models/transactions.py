"""Transactions: as they are listed, and as they are pushed."""

from datetime import datetime
from decimal import Decimal

import msgspec

from kontor_client.models.shapes import Model
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

_OWN_NAMES = {"sort_key": "hash", "batch": "identifier", "note": "notiz", "keywords": "schlagworte"}


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


class Transaction(PreviewedTransaction, kw_only=True, rename=_NAMES | _OWN_NAMES):
    """A booking. `tags` and `classifications` are there when they were asked for."""

    id: str
    sort_key: str
    batch: Batch | None = None
    note: str | None = None
    keywords: list[str] = []
    tags: list[TagInstance[TagDetails]] = []
    classifications: list[Classification] = []

    @property
    def category(self) -> str | None:
        """System name of the tag that was asked for, such as RENT."""
        return self.tags[0].item.system_name if self.tags else None


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
