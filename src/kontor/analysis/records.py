"""What the analyses read: bookings with their tags, and the accounts they are on. Values only."""

import re
from datetime import date
from decimal import Decimal
from typing import Protocol

import msgspec

from kontor.domain.clocks import BERLIN
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import Transaction

NO_INSURANCE = "UNRELATED_OTHER"
NO_PARTNER = "UNKNOWN"
NO_BUSINESS = "UNRELATED"
_BUSINESS_CODE = re.compile("(?<![0-9])[0-9]{3}(?![0-9])")


class Record(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One booking. Texts that a bank did not send are empty. `account` is the id of the account it is on.

    A struct, not a dataclass: an analysis of 10,000 bookings decodes all of them, in a fifth of the time.
    """

    id: str
    account: str
    day: date
    amount: Decimal
    category: str
    currency: str = "EUR"
    insurance_type: str = NO_INSURANCE
    partner: str = NO_PARTNER
    freelancer_category: str = NO_BUSINESS
    purpose: str = ""
    booking_text: str = ""
    gv_code: str = ""
    counterparty_name: str = ""
    counterparty_iban: str = ""
    counterparty_bic: str = ""
    ultimate_counterparty: str = ""
    is_pending: bool = False
    own_category: str = ""
    # Amounts and categories of its parts, where the user has split it; own categories may be left out. `part` is the
    # number of such a part.
    part_amounts: tuple[Decimal, ...] = ()
    part_categories: tuple[str, ...] = ()
    part_own_categories: tuple[str, ...] = ()
    part: int = 0
    is_learnt: bool = False  # the category follows from a correction of another booking

    @property
    def key(self) -> str:
        """Tells a part from the others of its booking; that of a booking is its id."""
        return f"{self.id} {self.part}" if self.part else self.id

    @property
    def business_code(self) -> str:
        """The three digits of the GV code. Some sources have it between others: `NTRF+109+9310`."""
        code = self.gv_code
        if len(code) == 3:
            return code
        found = _BUSINESS_CODE.search(code)
        return found[0] if found else ""

    @property
    def main_category(self) -> str:
        return self.category.partition("_")[0]


class Account(msgspec.Struct, frozen=True):
    """A product that bookings are on. `data_until` is the day up to which the bank has told everything.

    Where several products are the same account, `id` is that of the freshest (see `analysis/duplicates.py`).
    """

    id: str
    category: ProductCategory = ProductCategory.CHECKING
    name: str = ""
    holder: str = ""
    iban: str = ""
    currency: str = "EUR"
    balance: Decimal | None = None
    data_until: date | None = None


class Tags(Protocol):
    """What was said about a booking."""

    @property
    def category(self) -> str: ...
    @property
    def insurance_type(self) -> str: ...
    @property
    def partner(self) -> str: ...
    @property
    def freelancer_category(self) -> str: ...


def make_record(row_id: str, account: str, transaction: Transaction, tags: Tags) -> Record:
    assert transaction.booked_at is not None, "what is analysed has a date"
    return Record(
        id=row_id,
        account=account,
        day=transaction.booked_at.astimezone(BERLIN).date(),
        amount=transaction.amount,
        category=tags.category,
        currency=transaction.currency,
        insurance_type=tags.insurance_type,
        partner=tags.partner,
        freelancer_category=tags.freelancer_category,
        purpose=transaction.purpose or "",
        booking_text=transaction.booking_text or "",
        gv_code=transaction.gv_code or "",
        counterparty_name=transaction.counterparty_name or "",
        counterparty_iban=transaction.counterparty_iban or "",
        counterparty_bic=transaction.counterparty_bic or "",
        ultimate_counterparty=transaction.ultimate_counterparty or "",
    )
