"""A booking before the bank has put it into words."""

from dataclasses import dataclass
from datetime import date, datetime

from kontor.connectors.demo.people.truth import NO_BUSINESS, NO_INSURANCE


@dataclass(slots=True)
class Draft:
    """What happened on an account, in cents.

    `key` names it for good. `bought_at` is when a card was used (wall time in Berlin): the booking is pending from then
    until `day`.
    """

    key: str
    account: str
    day: date
    cents: int
    method: str
    purpose: str
    category: str
    partner: str | None = None
    name: str | None = None
    iban: str | None = None
    bic: str | None = None
    ultimate: str | None = None
    creditor_id: str | None = None
    mandate: str | None = None
    reference: str | None = None
    insurance_type: str = NO_INSURANCE
    contract: str | None = None
    is_regular: bool = False
    freelancer: str = NO_BUSINESS
    bought_at: datetime | None = None
    place: str | None = None
    currency: str = "EUR"
    is_scalable: bool = False
