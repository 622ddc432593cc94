"""Alerts: what the service tells users of its own accord."""

from datetime import datetime
from decimal import Decimal

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
