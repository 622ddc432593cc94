"""Is it an agreement? What rhythm, amounts, way of paying and words together say about payments in step."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import sqrt

from kontor.analysis.contracts.grouping import EVERYDAY
from kontor.analysis.contracts.payments import Method, Payment
from kontor.analysis.contracts.periods import DAYS_OF_MONTH, Fit, Period
from kontor.analysis.contracts.texts import read_mandate

# Never an agreement by itself, however often it comes.
_NO_BASIS = frozenset({"BANKFINANCE_OTHER", "INCOME_INVESTMENT"})
_NO_BASIS_WORDS = re.compile(
    r"MAHN(?:GEB|KOST|UNG)|ERSTATTUNG|RETOURE|RUECKLAST|NACHZAHLUNG|KAUTION|SCHADEN(?:SREG|REG|-NR)|STORNO|ABFINDUNG"
    r"|JAHRESABRECHNUNG|NEBENKOSTENABR|GUTHABEN|RUECKLASTSCHRIFTGEB"
)
BONUS_WORDS = re.compile(
    r"BONUS|WEIHNACHTSGELD|URLAUBSGELD|SONDERZAHLUNG|PRAEMIE|TANTIEME|GRATIFIKATION|13\.|DREIZEHNT|EINMALZAHLUNG"
    r"|JUBILAEUM"
)
_DUES_WORDS = re.compile(
    r"BEITRAG|PACHT|(?<![A-Z])ABO|JAHRESABO|ABONNEMENT|MIETE|PRAEMIE|VERTRAG|STEUER|GEBUEHR|MITGLIED|RATE|SPAR"
)
_INVOICE_WORDS = re.compile(r"RECHNUNG|(?<![A-Z])RG(?![A-Z])|RE\.?-?NR|INVOICE|ORDER|LIEFERUNG")
# What is usually agreed upon: two payments in step are enough.
_AGREED = frozenset(
    {
        "HOUSING_RENT",
        "HOUSING_FINANCING",
        "HOUSING_ANCILLARYCOSTS",
        "FAMILY_CHILDCARE",
        "BANKFINANCE_CREDITPAYMENT",
        "SERVICES_FINANCIAL",
        "TAXES",
        "RECREATION_ONLINE",
        "RECREATION_PRINTED",
        "RECREATION_SPORTS",
        "MOBILITY_PUBLICTRANSPORT",
        "EDUCATION_TRAINING",
        "EDUCATION_ACADEMIC",
    }
)
_AGREED_MAIN = frozenset({"BILLS", "INSURANCE", "SAVINGS"})
_STEADY_INCOME = ("INCOME_SALARY", "INCOME_PENSION", "INCOME_STATE", "INCOME_RENTAL")
# Bought when needed: a few purchases a year soon look like a rhythm.
_BOUGHT = ("SHOPPING", "MOBILITY", "TRAVEL", "LIVING", "RECREATION")
_TWO_MONTHS = 2 * DAYS_OF_MONTH - 1
_SHORT_PERIODS = ("WEEK_ONE", "WEEK_TWO", "WEEK_FOUR", "MONTH_ONE")
_SAME = 0.005
_MIN_THAT_STAND_OUT = 4
_MIN_COVERAGE, _MIN_SHARE = 0.6, 0.45


@dataclass(frozen=True, slots=True)
class Amounts:
    """How amounts behave: the share of neighbours that are equal, and how far they spread."""

    equal_share: float
    spread: float

    @property
    def are_steady(self) -> bool:
        return self.equal_share >= 0.5


def are_equal(cents: int, other: int) -> bool:
    return abs(cents - other) <= max(1, _SAME * abs(cents))


def measure_amounts(cents: Sequence[int]) -> Amounts:
    if len(cents) < 2:
        return Amounts(1.0, 0.0)
    equal = sum(are_equal(earlier, later) for earlier, later in pairwise(cents))
    mean = sum(cents) / len(cents)
    # Against the line through the amounts: a price that rises every year does not spread.
    slope = _find_slope(cents, mean)
    middle = (len(cents) - 1) / 2
    rest = sum((amount - mean - slope * (place - middle)) ** 2 for place, amount in enumerate(cents))
    return Amounts(equal / (len(cents) - 1), sqrt(rest / max(1, len(cents) - 1)) / abs(mean) if mean else 0.0)


def _find_slope(cents: Sequence[int], mean: float) -> float:
    count = len(cents)
    if count < 4:
        return 0.0
    middle = (count - 1) / 2
    over = sum((place - middle) * (amount - mean) for place, amount in enumerate(cents))
    return over / sum((place - middle) ** 2 for place in range(count))


def find_usual_method(payments: Sequence[Payment]) -> Method:
    first = payments[0].method
    if all(payment.method is first for payment in payments):
        return first
    counts: dict[Method, int] = {}
    for payment in payments:
        counts[payment.method] = counts.get(payment.method, 0) + 1
    return max(counts, key=lambda method: (counts[method], method.value))


def find_usual_category(payments: Sequence[Payment]) -> str:
    first = payments[0].record.category
    if all(payment.record.category == first for payment in payments):
        return first
    counts: dict[str, int] = {}
    for payment in payments:
        counts[payment.record.category] = counts.get(payment.record.category, 0) + 1
    return max(counts, key=lambda category: (counts[category], category))


def has_common_number(payments: Sequence[Payment]) -> bool:
    """Whether a contract's or a customer's number stays the same over most payments."""
    named = [numbers for payment in payments if (numbers := payment.all_numbers)]
    if len(named) < max(2, 0.6 * len(payments)):
        return False
    counts: dict[str, int] = {}
    for numbers in named:
        for number in set(numbers) if len(numbers) > 1 else numbers:
            counts[number] = counts.get(number, 0) + 1
    return max(counts.values(), default=0) >= max(2, 0.6 * len(payments))


def has_common_mandate(payments: Sequence[Payment]) -> bool:
    counts: dict[str, int] = {}
    for payment in payments:
        if mandate := read_mandate(payment.squeezed):
            counts[mandate] = counts.get(mandate, 0) + 1
    return max(counts.values(), default=0) >= max(2, 0.4 * len(payments))


@lru_cache(maxsize=512)
def is_usually_agreed(category: str) -> bool:
    return category in _AGREED or category.partition("_")[0] in _AGREED_MAIN or category.startswith(_STEADY_INCOME)


def is_bought(category: str) -> bool:
    return category.startswith(_BOUGHT)


def can_be_agreed(payments: Sequence[Payment]) -> bool:
    """Whether payments that look alike could be an agreement at all: everyday purchases need a number that stays."""
    first = payments[0]
    if first.record.category not in EVERYDAY or first.method is Method.STANDING:
        return True
    return any(payment.all_numbers or payment.record.category not in EVERYDAY for payment in payments)


def can_be_steady(payments: Sequence[Payment]) -> bool:
    """Whether the payments as a whole could have one price: purchases by card or payment service rarely do."""
    if payments[0].method not in (Method.CARD, Method.WALLET):
        return True
    return len({payment.cents for payment in payments}) <= 0.5 * len(payments) + 1


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about payments in step, besides their rhythm."""

    category: str
    method: Method
    is_income: bool
    has_number: bool
    is_bound: bool
    amounts: Amounts
    has_dues_words: bool
    has_invoice_words: bool

    @property
    def is_usually_agreed(self) -> bool:
        return is_usually_agreed(self.category)


def can_be_basis(payment: Payment) -> bool:
    """Whether such a booking can be a contract's regular payment at all."""
    record = payment.record
    if record.category in _NO_BASIS or payment.method is Method.RETURNED:
        return False
    if payment.cents > 0 and record.category.startswith("INSURANCE"):
        return False
    if payment.cents > 0 and BONUS_WORDS.search(payment.purpose):
        return False
    return _NO_BASIS_WORDS.search(payment.purpose) is None


def gather_evidence(payments: Sequence[Payment]) -> Evidence:
    method = find_usual_method(payments)
    newest = payments[-1]
    has_number = has_common_number(payments)
    is_bound = method is Method.STANDING or has_number
    return Evidence(
        category=find_usual_category(payments),
        method=method,
        is_income=newest.cents > 0,
        has_number=has_number,
        is_bound=is_bound or (method is Method.DEBIT and has_common_mandate(payments)),
        amounts=measure_amounts([payment.cents for payment in payments]),
        has_dues_words=_DUES_WORDS.search(newest.purpose) is not None,
        has_invoice_words=_INVOICE_WORDS.search(newest.purpose) is not None,
    )


def is_promising(fit: Fit) -> bool:
    """Whether it is worth to look closer: nothing that steps out more often is ever an agreement."""
    return fit.coverage >= _MIN_COVERAGE and fit.share >= _MIN_SHARE


def is_agreement(payments: Sequence[Payment], fit: Fit, share: float) -> bool:
    """Whether payments in step are the regular payments of a contract. `share` is their part of all that looked
    alike."""
    evidence = gather_evidence(payments)
    return (
        _is_frequent_enough(len(payments), fit, evidence)
        and _is_punctual_enough(len(payments), fit, share, evidence)
        and _is_steady_enough(evidence)
        and _is_plausible(len(payments), fit.period, evidence)
    )


def can_stand_out(payments: Sequence[Payment]) -> bool:
    """Whether `stands_out` could ever say yes: quick, and asked before anything is measured."""
    if len(payments) >= _MIN_THAT_STAND_OUT:
        return True
    first = payments[0]
    return len(payments) > 1 and first.method.is_repeating and is_usually_agreed(first.record.category)


def stands_out(payments: Sequence[Payment], period: Period) -> bool:
    """Whether payments of one amount are an agreement although the same partner is paid in other ways, too: chance
    finds pairs and long distances among many purchases."""
    evidence = gather_evidence(payments)
    if evidence.is_usually_agreed and evidence.method.is_repeating and not evidence.has_invoice_words:
        return True
    if period.days < DAYS_OF_MONTH - 1 and not evidence.method.is_repeating:
        return False
    return len(payments) >= _MIN_THAT_STAND_OUT and period.days <= DAYS_OF_MONTH


def _is_frequent_enough(count: int, fit: Fit, evidence: Evidence) -> bool:
    if evidence.category in EVERYDAY:
        return (evidence.has_number or evidence.method is Method.STANDING) and count >= 3
    if fit.period.days < DAYS_OF_MONTH - 1:
        return count >= (3 if evidence.is_bound else 5)
    if evidence.method in (Method.CARD, Method.WALLET):
        return count >= 3
    if evidence.is_usually_agreed or evidence.method.is_repeating:
        return count >= 2
    if evidence.has_number and evidence.amounts.equal_share == 1.0:
        return count >= 2
    return count >= (2 if evidence.has_dues_words and evidence.method is Method.TRANSFER else 3)


def _is_punctual_enough(count: int, fit: Fit, share: float, evidence: Evidence) -> bool:
    if count == 2:
        return fit.coverage == 1.0 and share > 0.6
    least = _MIN_COVERAGE if evidence.is_bound and count >= 4 else 0.72
    return fit.coverage >= least and share >= (_MIN_SHARE if evidence.is_bound else 0.6)


def _is_steady_enough(evidence: Evidence) -> bool:
    """How far amounts may spread: the more else there is to hold the payments together, the further."""
    amounts = evidence.amounts
    method = evidence.method
    if method in (Method.CARD, Method.WALLET):
        return amounts.equal_share >= 0.6
    if amounts.are_steady and (method is not Method.TRANSFER or amounts.spread <= 0.25):
        return True
    if evidence.is_income:
        return amounts.spread <= (0.6 if evidence.category.startswith(_STEADY_INCOME) else 0.15)
    if method is Method.DEBIT and evidence.has_number:
        return amounts.spread <= (0.5 if has_room(evidence) else 0.3)
    if method is Method.DEBIT and evidence.has_invoice_words:
        return amounts.spread <= (0.2 if evidence.is_usually_agreed else 0.08)
    if evidence.is_usually_agreed:
        return amounts.spread <= 0.3
    return amounts.spread <= (0.15 if method.is_repeating else 0.12)


def has_room(evidence: Evidence) -> bool:
    """Bills, taxes and care follow use; their amounts may vary widely."""
    return evidence.is_usually_agreed or evidence.category.startswith(("HEALTH", "FAMILY", "HOUSING"))


def _is_plausible(count: int, period: Period, evidence: Evidence) -> bool:
    is_long = period.days > 100
    if evidence.is_income and is_long and not evidence.category.startswith(_STEADY_INCOME):
        return False
    if evidence.category.startswith("OTHER") and not evidence.method.is_repeating:
        # Gifts, help and debts among people: a habit until it comes every month for the same amount.
        return period.name in _SHORT_PERIODS and evidence.amounts.equal_share >= 0.6 and count >= 4
    if period.days > _TWO_MONTHS and _is_chance(count, evidence):
        return False
    if evidence.method is Method.TRANSFER and is_long:
        return evidence.has_dues_words and not evidence.has_invoice_words
    if evidence.method is Method.TRANSFER and evidence.has_invoice_words:
        return evidence.amounts.equal_share >= 0.6 and count >= 3
    return True


def _is_chance(count: int, evidence: Evidence) -> bool:
    """Whether single purchases at one shop could have fallen into this rhythm by themselves."""
    if evidence.has_number or evidence.has_dues_words or not is_bought(evidence.category):
        return False
    return count < 4 or evidence.amounts.equal_share < 0.6
