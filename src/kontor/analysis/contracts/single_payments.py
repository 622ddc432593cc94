"""A single payment whose words tell how often it will come: a yearly fee, a covered span of time."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date

from kontor.analysis.contracts.payments import Method, Payment
from kontor.analysis.contracts.periods import BY_NAME, Period
from kontor.analysis.contracts.regularity import can_be_basis, is_usually_agreed

_SPAN = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}|\d\d)?(?:BIS|-)(\d\d)\.(\d\d)\.(\d{4}|\d\d)")
_WORDS = (
    (re.compile(r"ZWEIJAHRES|2-JAHRES"), "YEAR_TWO"),
    (re.compile(r"HALBJAHR|HALBJAEHR|SEMESTERBEITRAG"), "MONTH_SIX"),
    (re.compile(r"QUARTAL|VIERTELJ|RUNDFUNKBEITRAG|[1-4]\.Q\.|[1-4]\.VJ"), "MONTH_THREE"),
    (re.compile(r"JAHRES(?:BEITRAG|ABO|PRAEMIE|ENTGELT|GEBUEHR|SCHUTZ|RECHNUNG(?!S))|JAEHRLICH|PRO?JAHR"), "YEAR_ONE"),
    (re.compile(r"MONATS(?:BEITRAG|ABO|RATE|MIETE)|MONATLICH|MTL\."), "MONTH_ONE"),
    (re.compile(r"4WOCHEN|VIERWOCHEN"), "WEEK_FOUR"),
)
_MONTH_NAMED = re.compile(
    r"(?<!\d\d\.)(?:0[1-9]|1[0-2])[./](?:20)?[2-9]\d(?!\d|\.)|JANUAR|FEBRUAR|MAERZ|APRIL|JUNI|JULI|AUGUST|SEPTEMBER|OKTOBER"
    r"|NOVEMBER|DEZEMBER"
)
_YEAR_NAMED = re.compile(r"(?<![./\d])20[2-9]\d(?!\d)|(?<=\d{8})20[2-9]\d$")
_NEVER_ALONE = (Method.CARD, Method.WALLET, Method.RETURNED)
_MAX_ALIKE = 2
_CLOSE = 0.2
SPAN_CONFIDENCE, WORD_CONFIDENCE, HINT_CONFIDENCE = 0.9, 0.8, 0.5


def _read_date(day: str, month: str, year: str) -> date | None:
    number = int(year)
    try:
        return date(number if number > 99 else 2000 + number, int(month), int(day))
    except ValueError:
        return None


def read_span(purpose: str) -> tuple[date, date] | None:
    """The time that a payment covers, as its text says."""
    match = _SPAN.search(purpose)
    if match is None:
        return None
    end = _read_date(match[4], match[5], match[6])
    begin = _read_date(match[1], match[2], match[3] or match[6])
    return (begin, end) if begin is not None and end is not None and begin < end else None


def _match_span(days: int) -> Period | None:
    usual = (period for period in BY_NAME.values() if period.months)
    nearest = min(usual, key=lambda period: abs(period.days - days))
    return nearest if abs(nearest.days - days) <= _CLOSE * nearest.days else None


def read_period(payment: Payment) -> tuple[Period, float] | None:
    """The period that the text tells, and how far to trust it."""
    purpose = payment.purpose
    span = read_span(purpose)
    if span is not None:
        period = _match_span((span[1] - span[0]).days + 1)
        return (period, SPAN_CONFIDENCE) if period is not None else None
    for pattern, name in _WORDS:
        if pattern.search(purpose):
            return BY_NAME[name], WORD_CONFIDENCE
    is_public = payment.method is Method.SALARY
    if not (is_public or is_usually_agreed(payment.record.category)) or not payment.method.is_repeating:
        return None
    if _MONTH_NAMED.search(purpose):
        return BY_NAME["MONTH_ONE"], HINT_CONFIDENCE
    if payment.record.category.startswith("INSURANCE") and _YEAR_NAMED.search(purpose):
        return BY_NAME["YEAR_ONE"], HINT_CONFIDENCE
    return None


def tells_other_period(payment: Payment, period: Period) -> bool:
    """Whether the text names a span of time that is not the period's."""
    span = read_span(payment.purpose)
    told = _match_span((span[1] - span[0]).days + 1) if span is not None else None
    return told is not None and told.name != period.name


def find_single_payments(left: Iterable[Payment]) -> list[tuple[Payment, Period, float]]:
    """Payments that stand alone and still tell of a contract."""
    single_payments = []
    left = list(left)
    alike = Counter(payment.signature for payment in left)
    for payment in left:
        if payment.method in _NEVER_ALONE or not can_be_basis(payment):
            continue
        if not (is_usually_agreed(payment.record.category) or payment.method.is_repeating):
            continue
        told = read_period(payment)
        # What comes again and again without a rhythm is no single payment.
        most = 1 if told is not None and told[1] <= HINT_CONFIDENCE else _MAX_ALIKE
        if told is not None and alike[payment.signature] <= most:
            single_payments.append((payment, *told))
    return single_payments
