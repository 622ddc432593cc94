"""Credit files: what a credit check says of a customer, written down once, signed, and never changed."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from kontor.domain.completeness import Gap, Source
from kontor.domain.tags import TransactionTags
from kontor.domain.transactions import Transaction


class FigureName(StrEnum):
    """What a credit file tells. Amounts are means of a month, counts are of twelve months."""

    INCOME = "INCOME"
    INCOME_STABILITY = "INCOME_STABILITY"
    EXPENSES = "EXPENSES"
    NECESSITIES = "NECESSITIES"
    FIXED_COSTS = "FIXED_COSTS"
    FREE_INCOME = "FREE_INCOME"
    RENT = "RENT"
    INSTALLMENTS = "INSTALLMENTS"
    SAVINGS = "SAVINGS"
    GAMBLING = "GAMBLING"
    RETURNED_DEBITS = "RETURNED_DEBITS"
    REMINDER_CHARGES = "REMINDER_CHARGES"
    DEBT_COLLECTIONS = "DEBT_COLLECTIONS"
    SEIZURES = "SEIZURES"
    LOAN_PAYOUTS = "LOAN_PAYOUTS"


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` is an amount, a ratio or a count; the transactions are those that it is made of."""

    name: FigureName
    value: Decimal | int
    transaction_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AccountGap:
    account_id: str
    gap: Gap


@dataclass(frozen=True, slots=True)
class LatestEvent:
    """The newest booking that a count of twelve months contains."""

    name: FigureName
    day: date


@dataclass(frozen=True, slots=True)
class CreditFigures:
    """What is computed, without the barred inputs. Without a complete month of data there are no figures."""

    first_day: date | None
    last_day: date | None
    first_month: date | None  # of those that the means are of
    last_month: date | None
    months: int
    figures: tuple[Figure, ...]
    gaps: tuple[AccountGap, ...]
    latest_events: tuple[LatestEvent, ...]
    excluded_currencies: tuple[str, ...]
    accounts: int


@dataclass(frozen=True, slots=True)
class TagCorrection:
    """The category of a transaction in a credit file, by an adviser. The customer's own tags stay as they are.

    `before` is the category in the customer's data.
    """

    transaction_id: UUID
    before: str
    after: str
    adviser_id: UUID
    at: datetime


@dataclass(frozen=True, slots=True)
class FileContents:
    """Which transactions a credit file names, and what has been corrected in it."""

    transaction_ids: frozenset[UUID]
    corrections: tuple[TagCorrection, ...]


@dataclass(frozen=True, slots=True)
class FileBooking:
    """A transaction of a credit file as it is now. `corrected` is its category in the file, if it is another one."""

    id: UUID
    transaction: Transaction
    tags: TransactionTags
    corrected: str | None = None

    @property
    def category(self) -> str:
        """In the file."""
        return self.corrected or self.tags.category


class ReviewResult(StrEnum):
    CONFIRMED = "CONFIRMED"
    RECOMPUTED = "RECOMPUTED"


@dataclass(frozen=True, slots=True)
class Review:
    """A person has looked at the version before."""

    result: ReviewResult
    comment: str
    at: datetime


@dataclass(frozen=True, slots=True)
class CreditPurpose:
    """What a file is for. `disclosure_id` None: for the customer alone. `consent` is the text that was agreed to."""

    text: str
    disclosure_id: UUID | None = None
    consent: str | None = None


@dataclass(frozen=True, slots=True)
class CreditFileHead:
    """What a file says of itself. `rules` and `model` are versions."""

    id: UUID
    version: int
    created_at: datetime
    purpose: CreditPurpose
    rules: str
    model: str
    predecessor_id: UUID | None = None
    review: Review | None = None
    corrections: tuple[TagCorrection, ...] = ()


@dataclass(frozen=True, slots=True)
class CreditFile:
    """As stored: the signed text, and what it is found by."""

    id: UUID
    version: int
    created_at: datetime
    purpose: CreditPurpose
    document: str
    signature: str
    predecessor_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class CreditFileEntry:
    """A credit file in the list of the customer; its contents are not read for it."""

    id: UUID
    version: int
    created_at: datetime
    purpose: CreditPurpose
    predecessor_id: UUID | None


class ReviewStatus(StrEnum):
    """`REQUESTED`: the customer asks for a review. `REVIEWED`: there is a newer one, or a review has made this one."""

    OPEN = "OPEN"
    REQUESTED = "REQUESTED"
    REVIEWED = "REVIEWED"


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    comment: str
    requested_at: datetime


@dataclass(frozen=True, slots=True)
class ReviewEntry:
    """A credit file in the list of what is to be reviewed; its contents are not read for it."""

    user_id: UUID
    file_id: UUID
    version: int
    created_at: datetime
    requested_at: datetime | None
    status: ReviewStatus
    shows_bookings: bool  # to the adviser, by the same disclosure


# What the completeness of an account is reckoned from, by the id of the account.
Sources = dict[str, Source]
