"""Payees, and what is kept about their verification. Attributes that are left out by the service are None."""

from datetime import datetime
from decimal import Decimal

from kontor_client.models.shapes import Linked, Model


class PayeeVerdict(Model, rename="camel", kw_only=True):
    """`result` is MATCH, CLOSE_MATCH, NO_MATCH or NOT_POSSIBLE; of several orders the worst."""

    result: str
    at: datetime
    suggested_name: str | None = None


class PayeeEvidence(Model, rename="camel", kw_only=True):
    """`choice` is CONFIRMED, CANCELLED or NONE. `shown_text` is empty where the service has shown nothing."""

    verification: PayeeVerdict
    shown_text: str
    language: str
    choice: str
    payment_id: str
    choice_at: datetime | None = None


class PayeeVerification(Model, kw_only=True):
    result: str
    at: datetime


class Payee(
    Linked,
    kw_only=True,
    rename={"first_used": "firstUsed", "last_used": "lastUsed", "hold_hours": "sperrfristStunden"},
):
    """`limit` is for all orders of a day; `hold_hours` after the first use orders are refused."""

    id: str
    name: str
    iban: str
    first_used: datetime
    last_used: datetime
    verification: PayeeVerification | None = None
    limit: Decimal | None = None
    hold_hours: int | None = None
