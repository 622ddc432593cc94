"""Credit files: what a credit check says, signed and kept. Attributes that are left out by the service are None."""

from datetime import date, datetime
from decimal import Decimal

from kontor_client.models.shapes import Linked, Model


class CreditFileGap(
    Model,
    rename={"product_id": "produktId", "kind": "art", "first": "von", "last": "bis", "difference": "differenz"},
):
    """Days of an account about which something is not known."""

    product_id: str
    kind: str
    first: date
    last: date
    difference: Decimal | None = None


class CreditFigure(
    Model,
    rename={
        "value": "wert",
        "transaction_ids": "umsaetze",
        "explanation": "erklaerung",
        "confidence_level": "confidenceLevel",
    },
):
    """An amount in euros, a number from 0 to 1, or a count; with the transactions that it is made of."""

    name: str
    value: Decimal
    transaction_ids: list[str]
    explanation: str
    confidence_level: float | None = None


class CreditFileReview(Model, rename={"result": "ergebnis", "comment": "kommentar", "reviewed_at": "geprueftAm"}):
    """A person has looked at the version before."""

    result: str
    comment: str
    reviewed_at: datetime


class CreditFileCorrection(
    Model,
    rename={
        "transaction_id": "umsatz",
        "before": "vorher",
        "after": "nachher",
        "adviser": "berater",
        "corrected_at": "korrigiertAm",
    },
):
    """A category that holds in the file alone, by an adviser."""

    transaction_id: str
    before: str
    after: str
    adviser: str
    corrected_at: datetime


class CreditFileBooking(
    Model,
    rename={
        "amount": "betrag",
        "currency": "waehrung",
        "booked_at": "buchungsdatum",
        "category": "systemName",
        "purpose": "verwendungszweck",
        "booking_text": "buchungstext",
        "counterparty_name": "gegenkontoInhaber",
        "is_corrected": "korrigiert",
    },
):
    """A booking behind a credit file. `category` is that of the file."""

    id: str
    amount: Decimal
    currency: str
    booked_at: datetime
    category: str
    purpose: str | None = None
    booking_text: str | None = None
    counterparty_name: str | None = None
    is_corrected: bool = False


class CreditFileEntry(
    Linked,
    kw_only=True,
    rename={
        "created_at": "erstelltAm",
        "purpose": "zweck",
        "disclosure": "freigabe",
        "predecessor": "vorgaenger",
    },
):
    """As it is listed. `disclosure` is the id of a disclosure, or `SELBST`."""

    id: str
    version: int
    created_at: datetime
    purpose: str
    disclosure: str
    predecessor: str | None = None


class CreditFile(
    Linked,
    kw_only=True,
    rename={
        "created_at": "erstelltAm",
        "as_of": "stichtag",
        "purpose": "zweck",
        "disclosure": "freigabe",
        "rules": "regelwerk",
        "model": "modell",
        "currency": "waehrung",
        "gaps": "luecken",
        "figures": "werte",
        "barred": "ausgeschlossen",
        "unknown": "nichtBekannt",
        "would_change": "wuerdeAendern",
        "signature": "signatur",
        "data_from": "datenVon",
        "data_to": "datenBis",
        "consent": "einwilligung",
        "predecessor": "vorgaenger",
        "review": "pruefung",
        "corrections": "korrekturen",
    },
):
    """`signature` is a detached JWS of the canonical JSON of all fields but itself and `relations`."""

    id: str
    version: int
    created_at: datetime
    as_of: date
    purpose: str
    disclosure: str
    rules: str
    model: str
    currency: str
    gaps: list[CreditFileGap]
    figures: list[CreditFigure]
    barred: list[str]
    unknown: list[str]
    would_change: list[str]
    signature: str
    data_from: date | None = None
    data_to: date | None = None
    consent: str | None = None
    predecessor: str | None = None
    review: CreditFileReview | None = None
    corrections: list[CreditFileCorrection] = []


class ReviewRequest(Model, rename={"comment": "kommentar", "requested_at": "angefordertAm"}):
    """What the customer wants to be looked at."""

    comment: str
    requested_at: datetime


class ReviewEntry(
    Linked,
    kw_only=True,
    rename={
        "user_reference": "userReference",
        "created_at": "erstelltAm",
        "requested_at": "angefordertAm",
    },
):
    """A credit file that an adviser can read now."""

    id: str
    user_reference: str
    version: int
    created_at: datetime
    status: str
    requested_at: datetime | None = None


class SigningKey(Model):
    """A JSON Web Key (RFC 7517, RFC 8037)."""

    kty: str
    crv: str
    x: str
    kid: str
    use: str
    alg: str


class SigningKeys(Model):
    keys: list[SigningKey]
