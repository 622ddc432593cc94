"""What a transaction means, and what a user says about it."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

NO_INSURANCE = "UNRELATED_OTHER"
# The fields of a transaction that the tagger and the users' rules read: its tags depend on nothing else of it.
TAGGED_FIELDS = (
    "amount",
    "purpose",
    "booking_text",
    "gv_code",
    "counterparty_name",
    "counterparty_iban",
    "ultimate_counterparty",
)


class TagSource(StrEnum):
    """Who decided the category: a user wins over a user's rule, and that over the tagger."""

    TAGGER = "TAGGER"
    RULE = "RULE"
    USER = "USER"


@dataclass(frozen=True, slots=True)
class TransactionTags:
    """The four tags of a transaction, each with how sure it is (0 to 1), and who decided the category."""

    category: str
    insurance_type: str
    partner: str
    freelancer_category: str
    category_confidence: float
    insurance_confidence: float
    partner_confidence: float
    freelancer_confidence: float
    source: TagSource = TagSource.TAGGER
    rule_id: UUID | None = None  # of the rule that decided the category
    own_category: str = ""  # system name of a category of the user or tenant, over `category`
    learnt_from: UUID | None = None  # the corrected transaction from which the tagger learnt the category


def fold_iban(iban: str | None) -> str:
    return "".join((iban or "").split()).upper()


def fold_name(name: str | None) -> str:
    return " ".join((name or "").casefold().split())


def fits_sign(category: str, amount: Decimal) -> bool:
    """`INCOME_*` is for money that comes in, `TRANSFER_*` for either, everything else for money that goes out."""
    if category.startswith("TRANSFER_"):
        return True
    return amount > 0 if category.startswith("INCOME_") else amount < 0


def derive_insurance_type(category: str, insurance_type: str) -> str:
    """The insurance type once the category is known: kept where it fits, otherwise what the category leaves open."""
    main, _, division = category.partition("_")
    if main != "INSURANCE":
        return NO_INSURANCE
    if insurance_type.partition("_")[0] == division and insurance_type != NO_INSURANCE:
        return insurance_type
    return f"{division}_OTHER"
