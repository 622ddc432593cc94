"""Alerts: what the service tells users of its own accord."""

from datetime import datetime
from decimal import Decimal

import msgspec

from kontor_client.models.shapes import Linked, Relation


class AlertStatus:
    """In the order in which an alert passes through them."""

    NEW = "NEU"
    READ = "GELESEN"
    DONE = "ERLEDIGT"


class Alert(
    Linked, kw_only=True, rename={"kind": "art", "created_at": "erstelltAm", "amount": "betrag", "object": "objekt"}
):
    """`object` says what it is about, `amount` is the one that the text names."""

    id: str
    kind: str
    status: str
    created_at: datetime
    text: str
    object: Relation
    amount: Decimal | None = None


class PushKey(msgspec.Struct):
    """The service's public key, as browsers take it."""

    key: str


class PushSubscription(Linked, kw_only=True, rename={"kinds": "arten", "created_at": "erstelltAm"}):
    """A browser that is told of alerts; `kinds` None: of all."""

    id: str
    endpoint: str
    created_at: datetime
    kinds: list[str] | None = None
