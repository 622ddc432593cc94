"""Alerts (Hinweise), as the customer interface shows them."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.alerts import Alert, AlertKind, AlertObject, AlertStatus, ObjectKind
from kontor.wire.alert_texts import Language, write_text
from kontor.wire.encoding import format_timestamp
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

Kind = Annotated[
    Literal[
        "CONSENT_ENDS",
        "BANK_NEEDS_USER",
        "PRICE_RISE",
        "UNUSUAL_DEBIT",
        "BUDGET_EXCEEDED",
        "BALANCE_LOW",
        "BALANCE_MISMATCH",
        "CONTRACT_NOTICE",
        "PARTS_REMOVED",
    ],
    Meta(title="HinweisArt"),
]
Status = Annotated[Literal["NEU", "GELESEN", "ERLEDIGT"], Meta(title="HinweisStatus")]
KINDS: dict[AlertKind, Kind] = {
    AlertKind.CONSENT_ENDS: "CONSENT_ENDS",
    AlertKind.BANK_NEEDS_USER: "BANK_NEEDS_USER",
    AlertKind.PRICE_RISE: "PRICE_RISE",
    AlertKind.UNUSUAL_DEBIT: "UNUSUAL_DEBIT",
    AlertKind.BUDGET_EXCEEDED: "BUDGET_EXCEEDED",
    AlertKind.BALANCE_LOW: "BALANCE_LOW",
    AlertKind.BALANCE_MISMATCH: "BALANCE_MISMATCH",
    AlertKind.CONTRACT_NOTICE: "CONTRACT_NOTICE",
    AlertKind.PARTS_REMOVED: "PARTS_REMOVED",
}
STATUSES: dict[AlertStatus, Status] = {
    AlertStatus.NEW: "NEU",
    AlertStatus.READ: "GELESEN",
    AlertStatus.DONE: "ERLEDIGT",
}
STATUSES_INSIDE = {word: status for status, word in STATUSES.items()}


class Hinweis(msgspec.Struct):
    id: UUID
    art: Kind
    status: Status
    erstelltAm: Timestamp  # noqa: N815
    text: Annotated[str, Meta(description="for the user, in the language of `Accept-Language`")]
    objekt: Annotated[Relation, Meta(description="what it is about")]
    relations: list[Relation]
    betrag: Annotated[Amount, Meta(description="the amount that the text names, signed as booked")] | UnsetType = UNSET


class HinweisUpdate(msgspec.Struct):
    status: Status

    def read(self) -> AlertStatus:
        return STATUSES_INSIDE[self.status]


def show_alert(alert: Alert, language: Language, urls: Urls) -> Hinweis:
    cause = alert.cause
    return Hinweis(
        id=alert.id,
        art=KINDS[cause.kind],
        status=STATUSES[alert.status],
        erstelltAm=format_timestamp(alert.created_at),
        text=write_text(cause, language),
        objekt=show_object(cause.object, urls),
        relations=urls.alert_relations(alert.id),
        betrag=UNSET if cause.amount is None else cause.amount,
    )


def show_object(place: AlertObject, urls: Urls) -> Relation:
    """Contracts and transactions have addresses at which they can be changed."""
    match place.kind:
        case ObjectKind.ACCESS:
            return Relation("bankzugang", urls.access(place.id))
        case ObjectKind.PRODUCT:
            return Relation("bankprodukt", f"{urls.access(place.access_id or '')}/{place.id}")
        case ObjectKind.TRANSACTION:
            product_id, _, transaction_id = place.id.partition("/")
            listing = f"{urls.access(place.access_id or '')}/{product_id}/kontoumsaetze"
            return Relation("kontoumsatz", f"{listing}/{transaction_id}")
        case ObjectKind.CONTRACT:
            return Relation("contract", f"{urls.customer}/ai/contracts/{place.id}")
        case ObjectKind.BUDGET:
            return Relation("budget", f"{urls.customer}/budgets/{place.id}")
