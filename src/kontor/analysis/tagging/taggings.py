"""What the tagger says about a booking, and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kontor.domain.products import ProductCategory
from kontor.domain.tags import fold_iban

NO_INSURANCE = "UNRELATED_OTHER"
NO_PARTNER = "UNKNOWN"
NO_BUSINESS = "UNRELATED"
SAVINGS = (ProductCategory.SAVINGS, ProductCategory.CALL_MONEY, ProductCategory.FIXED_TERM)


@dataclass(frozen=True, slots=True)
class OwnAccounts:
    """What is known of the customer whose bookings are tagged: IBANs in any spelling, `savings_ibans` being those of
    accounts that are named as savings (they may also be in `ibans`), and the names of the holders."""

    ibans: frozenset[str] = frozenset()
    savings_ibans: frozenset[str] = frozenset()
    holders: tuple[str, ...] = ()


NOBODY = OwnAccounts()


def make_own_accounts(accounts: Iterable[tuple[str, str, ProductCategory]]) -> OwnAccounts:
    """From (IBAN, holder, category) of each account; what is not known is empty."""
    known = [(fold_iban(iban), holder, category) for iban, holder, category in accounts]
    ibans = frozenset(iban for iban, _, _ in known if iban)
    savings = frozenset(iban for iban, _, category in known if iban and category in SAVINGS)
    return OwnAccounts(ibans, savings, tuple(sorted({holder for _, holder, _ in known if holder})))


class Tagging(NamedTuple):
    """System names of all four trees, each with the probability that it is right. `partner` is `UNKNOWN` where none was
    found; the insurance type is `UNRELATED_OTHER` exactly where the category is none of `INSURANCE_*`."""

    category: str
    insurance_type: str
    partner: str
    freelancer_category: str
    category_confidence: float
    insurance_confidence: float
    partner_confidence: float
    freelancer_confidence: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for a tagging.

    `kind` is one of `EVIDENCE_KINDS`, `text` what was found in the booking, `detail` what it speaks for (system names,
    and for models the weights), `weight` how much it counted. Evidence that was outvoted has `is_decisive` false.
    """

    kind: str
    text: str
    detail: str
    weight: float
    is_decisive: bool = True


EVIDENCE_KINDS = (
    "own-account",
    "creditor-id",
    "purpose-code",
    "gv-code",
    "booking-text",
    "partner",
    "keyword",
    "person",
    "model",
)
