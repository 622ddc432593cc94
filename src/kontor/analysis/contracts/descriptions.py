"""From a run of payments to the contract that is told: statistics, status, next payment, reasons."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from math import sqrt
from uuid import UUID, uuid5

from kontor.analysis.contracts.due_dates import Schedule, find_schedule
from kontor.analysis.contracts.findings import Contract, Status
from kontor.analysis.contracts.loans import estimate_loan
from kontor.analysis.contracts.payments import Payment, sort_key
from kontor.analysis.contracts.regularity import are_equal, find_usual_category, find_usual_method
from kontor.analysis.contracts.single_payments import read_span
from kontor.analysis.contracts.streams import Run
from kontor.analysis.records import NO_INSURANCE, NO_PARTNER, Account, Record

_NAMESPACE = UUID("5a3e1f0c-7d0b-4c53-9f0e-8f1f6a2f4c11")
_CENT, _RATE_STEP = Decimal("0.01"), Decimal("0.0001")
_VARIES_OVER = 6
_MIN_GRACE_DAYS, _GRACE_SHARE = 7, 0.35
_NAME_LIMITS = (27, 54, 70)  # DTAUS, MT940, SEPA
_PAID_AHEAD = ("INCOME_SALARY", "INCOME_PENSION")
_LATEST_START_DAYS = 70


@dataclass(frozen=True, slots=True)
class Context:
    """What a contract is seen against: the accounts, how new their data is, the day."""

    accounts: Sequence[Account]
    data_until: Mapping[str, date]
    today: date


def make_id(first_transaction_id: str, number: int = 0) -> str:
    """The id that a new contract gets by its first regular payment; `number` is for one whose id is taken."""
    return str(uuid5(_NAMESPACE, f"{first_transaction_id} {number}" if number else first_transaction_id))


def find_data_until(records: Iterable[Record], accounts: Sequence[Account], today: date) -> dict[str, date]:
    """Per account the newest day that is known about: what the bank told, else its newest booking."""
    newest: dict[str, date] = {}
    for record in records:
        if not record.is_pending and record.day <= today and record.day > newest.get(record.account, date.min):
            newest[record.account] = record.day
    for account in accounts:
        if account.data_until is not None:
            newest[account.id] = min(today, max(account.data_until, newest.get(account.id, date.min)))
    return newest


def _sum(payments: Iterable[Payment]) -> Decimal:
    return sum((payment.record.amount for payment in payments), Decimal("0.00"))


def _develop(payments: Iterable[Payment]) -> dict[date, Decimal]:
    costs: dict[date, Decimal] = {}
    for payment in payments:
        costs[payment.record.day] = costs.get(payment.record.day, Decimal("0.00")) + payment.record.amount
    return costs


def do_amounts_vary(cents: Sequence[int]) -> bool:
    """Whether amounts go up and down. A price that changes now and then, or rises every year, does not vary."""
    latest = cents[-_VARIES_OVER:]
    if len(latest) < 3:
        return False
    changes = [later - earlier for earlier, later in pairwise(latest) if not are_equal(earlier, later)]
    return len(changes) * 2 >= len(latest) - 1 and any(change > 0 for change in changes) and min(changes) < 0


def predict_amount(payments: Sequence[Payment]) -> Decimal:
    """The latest regular amount; where amounts vary, the mean of the last six."""
    cents = [payment.cents for payment in payments]
    if not do_amounts_vary(cents):
        return payments[-1].record.amount
    latest = payments[-_VARIES_OVER:]
    return (_sum(latest) / len(latest)).quantize(_CENT, ROUND_HALF_UP)


def find_status(run: Run, schedule: Schedule, context: Context, is_provisional: bool) -> tuple[Status, date]:
    """Whether the contract goes on, and the day its next payment was or is due."""
    latest = run.payments[-1].record
    due = schedule.find_next(max(schedule.base, latest.day)) or latest.day
    known_until = context.data_until.get(latest.account, latest.day)
    grace = max(_MIN_GRACE_DAYS, _GRACE_SHARE * run.period.days)
    if (known_until - due).days > grace:
        return Status.INACTIVE, due
    return Status.PROVISIONAL if is_provisional else Status.ACTIVE, due


def _pick_usual(values: Iterable[str], nothing: str) -> str:
    counts: dict[str, int] = {}
    for value in values:
        if value != nothing:
            counts[value] = counts.get(value, 0) + 1
    return max(counts, key=lambda value: (counts[value], value)) if counts else nothing


def _list_numbers(payments: Sequence[Payment]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Numbers that most regular payments name. A long one without a name counts as the customer's once it stays."""
    counts: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for payment in payments:
        numbers = payment.numbers
        is_lasting = len(payments) > 1
        for place, found in ((0, numbers.contract), (1, numbers.customer + (numbers.unnamed if is_lasting else ()))):
            for number in set(found):
                counts[place][number] = counts[place].get(number, 0) + 1
    least = min(2, len(payments))
    contract, customer = (
        tuple(sorted(number for number, count in counter.items() if count >= max(least, 0.1 * len(payments))))
        for counter in counts
    )
    return contract, customer


def _find_start(payments: Sequence[Payment]) -> date:
    """The first day that the first payment covers, where its text tells it; else the day of the first payment."""
    first = payments[0]
    span = read_span(first.purpose)
    if span is not None and abs((span[0] - first.record.day).days) <= _LATEST_START_DAYS:
        return span[0]
    return first.record.day


def _measure(payments: Sequence[Payment]) -> dict[str, Decimal]:
    """Statistics of the regular amounts."""
    amounts = [payment.record.amount for payment in payments]
    ordered = sorted(amounts)
    count = len(amounts)
    mean = sum(amounts, Decimal(0)) / count
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    deviation = sqrt(sum(float(amount - mean) ** 2 for amount in amounts) / count)
    return {
        "amount_first": amounts[0],
        "amount_latest": amounts[-1],
        "amount_maximum": ordered[-1],
        "amount_minimum": ordered[0],
        "amount_mean": mean.quantize(_CENT, ROUND_HALF_UP),
        "amount_median": middle.quantize(_CENT, ROUND_HALF_UP),
        "standard_deviation": Decimal(repr(deviation)).quantize(_CENT, ROUND_HALF_UP),
        "growth_rate": (amounts[-1] / amounts[0] - 1).quantize(_RATE_STEP, ROUND_HALF_UP),
    }


def _explain(run: Run, schedule: Schedule, status: Status, due: date, confidence: float | None) -> tuple[str, ...]:
    regular = run.payments
    first, last = regular[0].record, regular[-1].record
    reasons = [
        f"{len(regular)} regular payments from {first.day} to {last.day} are in step with {run.period.name}"
        if confidence is None
        else f"One payment on {first.day}, whose text tells the period {run.period.name}",
        f"Paid by {find_usual_method(regular).value}",
    ]
    if run.numbers:
        reasons.append(f"The payments share the number {', '.join(sorted(run.numbers))}")
    if do_amounts_vary([payment.cents for payment in regular]):
        reasons.append("The amounts vary, so the mean of the last six is expected next")
    if schedule.months:
        days = f"{schedule.day} and {schedule.second_day}" if schedule.second_day else f"{schedule.day}"
        moved = "next" if schedule.step > 0 else "previous"
        reasons.append(f"Due on day {days} of the month, moved to the {moved} banking day")
    if run.extras:
        reasons.append(f"{len(run.extras)} further bookings belong to it without being regular")
    if status is Status.INACTIVE:
        reasons.append(f"The payment due on {due} did not come although newer data of the account is there")
    return tuple(reasons)


def _find_whole_name(regular: Sequence[Payment]) -> str:
    """The latest name. Where a format may have cut it, a longer one that the same account had before."""
    latest = regular[-1].record
    name = latest.counterparty_name
    is_cut = len(name) in _NAME_LIMITS or len(name) + 1 in _NAME_LIMITS  # a blank at the end is gone
    if not is_cut or not latest.counterparty_iban:
        return name
    records = [payment.record for payment in regular]
    same = [record.counterparty_name for record in records if record.counterparty_iban == latest.counterparty_iban]
    return max((other for other in same if other.startswith(name)), key=len)


def describe_run(run: Run, others: Sequence[Payment], context: Context, confidence: float | None = None) -> Contract:
    """The contract that a run tells of. `others` are the partner's remaining payments."""
    regular = sorted(run.payments, key=sort_key)
    extras = sorted(run.extras, key=sort_key)
    payments = sorted(regular + extras, key=sort_key)
    latest = regular[-1].record
    category = find_usual_category(regular)
    step = -1 if category.startswith(_PAID_AHEAD) else 1
    schedule = find_schedule([payment.record.day for payment in regular], run.period, step)
    status, due = find_status(run, schedule, context, confidence is not None)
    is_over = status is Status.INACTIVE
    contract_numbers, customer_numbers = _list_numbers(regular)
    start = _find_start(regular)
    return Contract(
        id=make_id(regular[0].record.id),
        category=category,
        insurance_type=_pick_usual((payment.record.insurance_type for payment in regular), NO_INSURANCE),
        partner=_pick_usual((payment.record.partner for payment in regular), NO_PARTNER),
        period=run.period.name,
        period_confidence=confidence,
        status=status,
        is_income=run.is_income,
        currency=latest.currency,
        accounts=tuple(sorted({payment.record.account for payment in payments})),
        transaction_ids=tuple(payment.record.id for payment in payments),
        transaction_ids_regular=tuple(payment.record.id for payment in regular),
        transaction_ids_non_regular=tuple(payment.record.id for payment in extras),
        **_measure(regular),
        amount_total=_sum(payments),
        amount_total_regular=_sum(regular),
        amount_total_non_regular=_sum(extras),
        amount_next=None if is_over else predict_amount(regular),
        date_first=regular[0].record.day,
        date_latest=latest.day,
        date_next=None if is_over else schedule.find_next(context.today),
        date_start=start,
        days_age=max(0, (context.today - start).days),
        contract_numbers=contract_numbers,
        customer_numbers=customer_numbers,
        cost_development=_develop(payments),
        cost_development_regular=_develop(regular),
        cost_development_non_regular=_develop(extras),
        counterparty_name=_find_whole_name(regular),
        counterparty_iban=latest.counterparty_iban,
        counterparty_bic=latest.counterparty_bic,
        counterparty_name_ultimate=latest.ultimate_counterparty,
        schedule=schedule,
        loan=estimate_loan(run, category, others, context.accounts, schedule, is_over),
        reasons=_explain(run, schedule, status, due, confidence),
    )
