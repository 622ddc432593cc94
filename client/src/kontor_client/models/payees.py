"""Payees, and what is kept about their verification. Attributes that are left out by the service are None."""

from datetime import datetime

from kontor_client.models.shapes import Model


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
