"""What customers allow for their accesses. Attributes that are left out by the service are None."""

from datetime import date, datetime

from kontor_client.models.shapes import Linked, Model


class Erased(Model, rename={"products": "produkte", "transactions": "umsaetze", "credentials": "zugangsdaten"}):
    """How much was erased. `credentials` is the number of stored logins."""

    products: int
    transactions: int
    credentials: int


class Receipt(
    Linked,
    rename={
        "withdrawn_at": "widerrufenAm",
        "is_bank_told": "bankInformiert",
        "erased": "geloescht",
        "checksum": "pruefsumme",
    },
    kw_only=True,
):
    """What the end of a permission did."""

    id: str
    withdrawn_at: datetime
    is_bank_told: bool
    erased: Erased
    checksum: str


class Permission(
    Linked,
    rename={
        "access_id": "zugangId",
        "provider_id": "providerId",
        "channel": "weg",
        "products": "produkte",
        "since": "seit",
        "callers": "aufrufer",
        "purpose": "zweck",
        "until": "bis",
        "used_at": "letzteNutzung",
        "withdrawn_at": "widerrufenAm",
        "is_bank_told": "bankInformiert",
        "erased": "geloescht",
        "checksum": "pruefsumme",
    },
    kw_only=True,
):
    """`channel`: FINTS, XS2A, AGGREGATOR, DATEI, DEMO. `status`: AKTIV, ABGELAUFEN, WIDERRUFEN.

    The last four are the receipt of one that has ended.
    """

    id: str
    access_id: str
    provider_id: str
    channel: str
    products: list[str]
    since: date
    callers: list[str]
    status: str
    purpose: str | None = None
    until: date | None = None
    used_at: datetime | None = None
    withdrawn_at: datetime | None = None
    is_bank_told: bool | None = None
    erased: Erased | None = None
    checksum: str | None = None
