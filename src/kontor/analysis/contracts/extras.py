"""What belongs to a contract without being a regular payment: settlements, refunds, doubles, returned debits and their
repetition, bonuses."""

import re
from collections.abc import Iterable, Sequence

from kontor.analysis.contracts.payments import Method, Payment
from kontor.analysis.contracts.regularity import BONUS_WORDS, are_equal, find_usual_category, is_bought
from kontor.analysis.contracts.streams import Run

_SETTLED = re.compile(r"ABRECHNUNG|NACHZAHLUNG|SCHLUSSRECHNUNG|KORREKTUR|NACHBERECHNUNG")
_GIVEN_BACK = re.compile(r"ERSTATTUNG|GUTSCHRIFT|GUTHABEN|RUECKZAHLUNG|STORNO|DOPPEL|ABRECHNUNG|RUECKERSTATTUNG")
_OTHER_MATTER = re.compile(r"KAUTION|SCHADEN|LEISTUNGSABR|ABLAUF|AUSZAHLUNG|ABFINDUNG|DIVIDENDE|ZINS")
_RETURN = re.compile(r"RETOURE|RUECKLAST|RUECKGABE|RETOUR")
_REPEATED = re.compile(r"RUECKLAST|MAHN|ZZGL|ERNEUT|WIEDERHOL")
_RETURN_DAYS = 70
_REPEAT_DAYS = 45
_DOUBLE_DAYS = 3
_MANY_PURCHASES = 4


def attach_extras(runs: Sequence[Run], left: Iterable[Payment]) -> list[Payment]:
    """Gives every run what is its own among the payments that are left; what stays is nobody's."""
    rest = []
    left = list(left)
    # Where much else is bought at the same partner, words alone do not say what is given back.
    is_shop = sum(payment.cents < 0 and is_bought(payment.record.category) for payment in left) >= _MANY_PURCHASES
    for payment in left:
        owner = _find_owner(runs, payment, is_shop)
        if owner is None:
            rest.append(payment)
        else:
            owner.extras.append(payment)
    return rest


def _find_owner(runs: Sequence[Run], payment: Payment, is_shop: bool) -> Run | None:
    numbers = frozenset(payment.all_numbers)
    candidates = [run for run in runs if _is_in_time(run, payment)]
    if not candidates or _is_other_matter(payment):
        return None
    named = [run for run in candidates if run.numbers & numbers]
    for run in named:
        if (payment.cents > 0) == run.is_income or _is_given_back(run, payment):
            return run
    if payment.numbers.contract and all(run.numbers for run in candidates):
        return None  # another policy's
    fitting = [run for run in candidates if _belongs_by_words(run, payment, is_shop)]
    return min(fitting, key=lambda run: _measure_distance(run, payment)) if fitting else None


def _is_other_matter(payment: Payment) -> bool:
    return (
        payment.record.category == "BANKFINANCE_CREDITINCOME" or _OTHER_MATTER.search(payment.purpose) is not None
    ) and payment.method is not Method.RETURNED


def _is_in_time(run: Run, payment: Payment) -> bool:
    days = min(run.period.days, 60)
    return run.payments[0].day - days <= payment.day <= run.payments[-1].day + max(days, 70)


def _measure_distance(run: Run, payment: Payment) -> tuple[bool, int, int]:
    """How far a run is from the booking: the right kind of thing, the nearest amount, the nearest day."""
    is_other_kind = find_usual_category(run.payments) != payment.record.category
    nearest = min(run.payments, key=lambda member: abs(member.day - payment.day))
    amount = min(abs(abs(member.cents) - abs(payment.cents)) for member in run.payments)
    return is_other_kind, amount, abs(nearest.day - payment.day)


def _is_given_back(run: Run, payment: Payment) -> bool:
    if payment.method is Method.RETURNED or _RETURN.search(payment.purpose) or _GIVEN_BACK.search(payment.purpose):
        return True
    return _undoes_payment(run, payment)


def _undoes_payment(run: Run, payment: Payment) -> bool:
    """The same amount the other way, not long after."""
    return any(
        member.cents == -payment.cents and 0 <= payment.day - member.day <= _RETURN_DAYS for member in run.payments
    )


def _belongs_by_words(run: Run, payment: Payment, is_shop: bool) -> bool:
    if (payment.cents > 0) != run.is_income:
        is_return = payment.method is Method.RETURNED or _RETURN.search(payment.purpose) is not None
        if is_return:
            return _undoes_payment(run, payment)
        return (not is_shop and _GIVEN_BACK.search(payment.purpose) is not None) or (
            not run.is_income and _undoes_payment(run, payment)
        )
    category = find_usual_category(run.payments)
    if run.is_income:
        is_salary = category in ("INCOME_SALARY", "INCOME_PENSION") and payment.record.category == category
        return is_salary or (payment.record.category == category and BONUS_WORDS.search(payment.purpose) is not None)
    if payment.record.category != category:
        return False
    return _SETTLED.search(payment.purpose) is not None or _is_double(run, payment) or _is_repeated(run, payment)


def _is_double(run: Run, payment: Payment) -> bool:
    return any(
        are_equal(member.cents, payment.cents) and 0 <= payment.day - member.day <= _DOUBLE_DAYS
        for member in run.payments
        if member.signature == payment.signature
    )


def _is_repeated(run: Run, payment: Payment) -> bool:
    """The second attempt after a returned debit, with a charge on top."""
    if _REPEATED.search(payment.purpose) is None:
        return False
    return any(
        0 < payment.day - member.day <= _REPEAT_DAYS and abs(payment.cents) <= abs(member.cents) + 2000
        for member in run.payments
    )
