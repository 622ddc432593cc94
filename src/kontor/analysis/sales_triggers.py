"""Sales triggers: occasions for a talk about insurance, a new stage of life, or money."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal

from kontor.analysis.budgets import CENT, Budget, Use, is_countable, make_budget
from kontor.analysis.calendars import number_month
from kontor.analysis.contracts import Contract
from kontor.analysis.contracts.texts import simplify_name
from kontor.analysis.day_order import order_records, select_days
from kontor.analysis.earned_income import EarnedIncome
from kontor.analysis.life_events import LifeEvent, find_events, read_life_signals
from kontor.analysis.life_events.signals import subtract_months
from kontor.analysis.life_stages import find_stages
from kontor.analysis.own_money import OwnMoney
from kontor.analysis.reasons import Reason
from kontor.analysis.records import Account, Record

EVENT_MONTHS = 6
MIN_INCOME_FOR_PRIVATE_HEALTH = 3200
# Yearly premiums are due within this time, and some days late.
_PREMIUM_MONTHS = 14
_SURPLUS_MONTHS, _MIN_SURPLUS_MONTHS = 6, 4
_MIN_SURPLUS, _MIN_SURPLUS_SHARE = Decimal(100), Decimal("0.1")
_LARGE = 2
_MISSING = (
    ("MISSINGINSURANCE_PRIVATELIABILITY", "LIABILITY_PRIVATE"),
    ("MISSINGINSURANCE_OCCUPATIONALDISABILITY", "INCAPACITY_OCCUPATIONAL"),
    ("MISSINGINSURANCE_PRIVATEHEALTH", "HEALTH_PRIVATE"),
)
_WORKING = frozenset(
    {"LABOURMARKET_EMPLOYED", "LABOURMARKET_SELFEMPLOYED", "LABOURMARKET_PARENTALLEAVE", "LABOURMARKET_STUDENT"}
)
_BUNDLES = "OTHER_OTHER"
_BORROWED = "BANKFINANCE_CREDITINCOME"
_SALARY = "INCOME_SALARY"
# Who changes jobs may be paid by both for a while.
_MAX_CHANGE = timedelta(days=62)


@dataclass(frozen=True, slots=True)
class SalesTrigger:
    name: str
    day: date
    confidence: float
    transaction_ids: tuple[str, ...]
    reasons: tuple[Reason, ...]
    amount: Decimal | None = None


def find_sales_triggers(
    records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account], today: date
) -> list[SalesTrigger]:
    """All triggers that fire today, in the order of the tree."""
    budget = make_budget(records, contracts, accounts, today)
    signals = read_life_signals(records, contracts, accounts, today)
    triggers: list[SalesTrigger] = []
    if budget is not None:
        stages = {stage.name for stage in find_stages(signals, records, contracts, accounts)}
        income = measure_personal_income(budget, contracts)
        triggers += _find_missing_insurance(records, budget, income, bool(stages & _WORKING), today)
    triggers += _find_events(find_events(signals), today)
    if budget is not None:
        triggers += _find_savings_potential(budget)
        triggers += _find_large_income(records, contracts, accounts, today)
    return triggers


def measure_personal_income(budget: Budget, contracts: Sequence[Contract]) -> Decimal:
    """Earned income a month without a household's second salary: of salaries that different employers pay at the same
    time, only the largest counts."""
    salaries = [contract for contract in contracts if contract.is_income and contract.category == _SALARY]
    recent = [salary for salary in salaries if salary.date_latest >= budget.first_day]
    if not recent:
        return budget.income.amount
    main = max(recent, key=lambda salary: (salary.amount_latest, salary.id))
    others = {number for salary in recent if _is_paid_beside(salary, main) for number in salary.transaction_ids}
    second = sum(
        (record.amount for use, _, record in budget.counted if use is Use.INCOME and record.id in others), Decimal(0)
    )
    return (budget.income.amount - second / len(budget.months)).quantize(CENT, ROUND_HALF_UP)


def _is_paid_beside(salary: Contract, main: Contract) -> bool:
    shared = min(salary.date_latest, main.date_latest) - max(salary.date_first, main.date_first)
    return shared > _MAX_CHANGE and _name_employer(salary) != _name_employer(main)


def _name_employer(salary: Contract) -> tuple[str, str]:
    """Who pays, and for whom."""
    return simplify_name(salary.counterparty_name), simplify_name(salary.counterparty_name_ultimate)


def _find_missing_insurance(
    records: Sequence[Record], budget: Budget, income: Decimal, is_working: bool, today: date
) -> Iterator[SalesTrigger]:
    """`income` is that of one person."""
    recent = select_days(order_records(records), subtract_months(today, _PREMIUM_MONTHS), today)
    seen = {record.insurance_type for record in recent}
    # What is paid once a year may still come where the data is young; a bundle may contain anything.
    confidence = 0.4 + 0.5 * min(1.0, len(budget.months) / 12) - (0.2 if _BUNDLES in seen else 0)
    for name, wanted in _MISSING:
        if wanted in seen:
            continue
        reasons = [Reason(f"No payment for {wanted} in {len(budget.months)} months")]
        if wanted == "HEALTH_PRIVATE":
            if income < MIN_INCOME_FOR_PRIVATE_HEALTH:
                continue
            reasons.append(Reason(f"Income of {income} a month is at least {MIN_INCOME_FOR_PRIVATE_HEALTH}"))
        elif wanted == "INCAPACITY_OCCUPATIONAL" and not is_working:
            continue
        yield SalesTrigger(name, today, round(confidence, 2), (), tuple(reasons))


def _name_event(event: LifeEvent) -> str | None:
    if event.name == "TENANCY_START":
        return "LIFEEVENT_FIRSTAPARTMENT" if event.is_first else "LIFEEVENT_NEWAPARTMENT"
    if event.name == "EMPLOYMENT_START":
        return "LIFEEVENT_FIRSTEMPLOYMENT" if event.is_first else "LIFEEVENT_NEWEMPLOYMENT"
    if event.name == "CHILD_BIRTH":
        return "LIFEEVENT_FIRSTCHILD" if event.is_first else None
    return {
        "RELOCATION": "LIFEEVENT_NEWAPARTMENT",
        "EMPLOYMENT_CHANGE": "LIFEEVENT_NEWEMPLOYMENT",
        "SALARY_INCREASE": "FINANCIAL_SALARYINCREASE",
    }.get(event.name)


_ORDER = (
    "LIFEEVENT_FIRSTAPARTMENT",
    "LIFEEVENT_NEWAPARTMENT",
    "LIFEEVENT_FIRSTEMPLOYMENT",
    "LIFEEVENT_NEWEMPLOYMENT",
    "LIFEEVENT_FIRSTCHILD",
    "FINANCIAL_SALARYINCREASE",
)


def _find_events(events: Sequence[LifeEvent], today: date) -> list[SalesTrigger]:
    """Events of the last six months. A move into the first flat is that, and no new flat besides."""
    begin = subtract_months(today, EVENT_MONTHS)
    by_name: dict[str, list[LifeEvent]] = {}
    for event in events:
        name = _name_event(event)
        if name is not None and begin <= event.day <= today:
            by_name.setdefault(name, []).append(event)
    if "LIFEEVENT_FIRSTAPARTMENT" in by_name:
        by_name.pop("LIFEEVENT_NEWAPARTMENT", None)
    return [
        SalesTrigger(name, event.day, event.confidence, event.transaction_ids, event.reasons, event.amount)
        for name in _ORDER
        for event in _choose_events(name, by_name.get(name, []))
    ]


def _choose_events(name: str, events: list[LifeEvent]) -> list[LifeEvent]:
    """A new flat shows in its rent and in the move: the rent tells it."""
    if name == "LIFEEVENT_NEWAPARTMENT":
        return [event for event in events if event.name == "TENANCY_START"] or events
    return events


def _find_savings_potential(budget: Budget) -> Iterator[SalesTrigger]:
    """Money that is left in most of the last months, after all expenses and what is saved already."""
    months = budget.months[:_SURPLUS_MONTHS]
    left = dict.fromkeys(months, Decimal(0))
    income = Decimal(0)
    for use, _, record in budget.counted:
        month = number_month(record.day)
        if month in left and record.category != _BORROWED:
            left[month] += record.amount
            income += record.amount if use is Use.INCOME else 0
    amounts = sorted(left.values())
    usual = amounts[(len(amounts) - 1) // 2]
    least = max(_MIN_SURPLUS, _MIN_SURPLUS_SHARE * income / len(months))
    positive = sum(amount > 0 for amount in amounts)
    needed = min(_MIN_SURPLUS_MONTHS, len(months))
    if usual < least or positive < needed:
        return
    amount = usual.quantize(CENT, ROUND_HALF_UP)
    reasons = (
        Reason(f"In {positive} of {len(months)} months money was left, in the middle one {amount}"),
        Reason(f"Savings so far: {budget.savings.amount} a month"),
    )
    confidence = round(0.5 + 0.4 * positive / _SURPLUS_MONTHS, 2)
    yield SalesTrigger("FINANCIAL_SAVINGSPOTENTIAL", budget.last_day, confidence, (), reasons, amount)


def _find_large_income(
    records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account], today: date
) -> Iterator[SalesTrigger]:
    """Single incomes of the last six months of at least twice what is earned on average in a month without them. What
    comes regularly is no event."""
    regular_ids = {
        number for contract in contracts if contract.is_income for number in contract.transaction_ids_regular
    }
    own, begin = OwnMoney(accounts), subtract_months(today, EVENT_MONTHS)
    recent = select_days(order_records(records), subtract_months(today, 12), today)
    incomes = [
        record
        for record in recent
        if is_countable(record, today) and record.amount > 0
        if record.category != _BORROWED and not own.is_own(record)
    ]
    current = number_month(today)
    months = {number_month(day) for day in {record.day for record in recent}} - {current}
    if not months:
        return
    earned = EarnedIncome(contracts, accounts)
    counted = {
        income.id: income.amount
        for income in incomes
        if number_month(income.day) != current and earned.is_earned(income)
    }
    total = sum(counted.values(), Decimal(0))
    for income in incomes:
        average = (total - counted.get(income.id, Decimal(0))) / len(months)
        if income.day >= begin and income.id not in regular_ids and 0 < _LARGE * average <= income.amount:
            reasons = (
                Reason(f"{income.amount} came in on {income.day}", (income.id,)),
                Reason(f"Without it {average.quantize(CENT, ROUND_HALF_UP)} a month is earned on average"),
            )
            yield SalesTrigger("FINANCIAL_LARGEINCOME", income.day, 0.95, (income.id,), reasons, income.amount)
