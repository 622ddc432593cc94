"""Direct debits that can be returned: on what ground, and until when.

The days follow from the German Civil Code (BGB) and are the earliest possible ends: weekends and holidays do not
extend them, and that a period may begin only when the bank has informed the customer is not counted. This is no legal
advice.
"""

import calendar
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum

REFUND_WEEKS = 8
CLAIM_MONTHS = 13


class BookedScheme(StrEnum):
    """`UNKNOWN`: the bank did not say which; consumers have CORE debits only."""

    CORE = "CORE"
    B2B = "B2B"
    UNKNOWN = "UNKNOWN"


class ReturnGround(StrEnum):
    """`WITHOUT_REASON`: § 675x (2) and (4). `UNAUTHORISED`: §§ 675u, 676b (2)."""

    WITHOUT_REASON = "WITHOUT_REASON"
    UNAUTHORISED = "UNAUTHORISED"


@dataclass(frozen=True, slots=True)
class ReturnRight:
    """`until` is the last day on which the bank must hear of it."""

    ground: ReturnGround
    until: date


@dataclass(frozen=True, slots=True)
class ReturnableDebit:
    """A debit of the customer's account. `account` is an id; texts that nobody knows are empty.

    `returned_on` is the day of a booking that gives the money back. `rights` are those that are not over.
    """

    id: str
    account: str
    day: date
    amount: Decimal
    currency: str
    creditor: str
    creditor_iban: str
    purpose: str
    scheme: BookedScheme
    mandate: str
    creditor_id: str
    rights: tuple[ReturnRight, ...]
    returned_on: date | None = None

    def find_right(self, ground: ReturnGround) -> ReturnRight | None:
        return next((right for right in self.rights if right.ground is ground), None)


def find_rights(scheme: BookedScheme, day: date, today: date) -> tuple[ReturnRight, ...]:
    """Those of a debit of this day that can still be used. A B2B debit cannot be returned without a reason."""
    rights = [ReturnRight(ReturnGround.UNAUTHORISED, add_months(day, CLAIM_MONTHS))]
    if scheme is not BookedScheme.B2B:
        rights.insert(0, ReturnRight(ReturnGround.WITHOUT_REASON, day + timedelta(weeks=REFUND_WEEKS)))
    return tuple(right for right in rights if right.until >= today)


def add_months(day: date, months: int) -> date:
    """The same day of a later month, or its last one (§ 188 (2) and (3) BGB)."""
    years, month = divmod(day.month - 1 + months, 12)
    year = day.year + years
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
