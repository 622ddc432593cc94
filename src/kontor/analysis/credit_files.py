"""The figures of a credit file: those of the credit check, computed from what it may know (ADR 0080).

Barred bookings are removed first, so that nothing depends on them: neither figures, nor contracts, nor the span of the
data and its gaps. Days with an overdraft are left out: balances of days follow from all bookings, also the barred ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from msgspec import structs

from kontor.analysis.barred_inputs import load_barred_inputs
from kontor.analysis.budgets import Budget, Use
from kontor.analysis.contracts import Contract, find_contracts, name_contracts
from kontor.analysis.credit_checks import CreditCheck, check_credit
from kontor.analysis.earned_income import is_gambling
from kontor.analysis.own_money import LOAN_PAYMENTS
from kontor.analysis.records import Account, Record
from kontor.domain.completeness import Gap, MonthSums, state_months
from kontor.domain.contracts import KnownContract
from kontor.domain.credit_files import (
    AccountGap,
    CreditFigures,
    Figure,
    FigureName,
    LatestEvent,
    Sources,
    TagCorrection,
)
from kontor.domain.tags import derive_insurance_type

RULES = 3  # raised with every change of what a file computes


def name_rules() -> str:
    """The version of the rules: of this module, and of the list of barred inputs."""
    return f"credit-file {RULES}, barred-inputs {load_barred_inputs().digest}"


def compute_figures(
    records: Sequence[Record],
    accounts: Sequence[Account],
    known: Sequence[KnownContract],
    repeated: Mapping[str, str],
    sources: Sources,
    today: date,
    corrections: Sequence[TagCorrection] = (),
) -> CreditFigures:
    """`known` are the contracts that were found before, `repeated` names rows that repeat the one that counts."""
    kept = sorted(
        _correct(load_barred_inputs().remove(records), corrections), key=lambda record: (record.day, record.id)
    )
    contracts = _find_contracts(kept, accounts, known, repeated, today)
    check = check_credit(kept, contracts, accounts, today)
    gaps = tuple(_list_gaps(kept, accounts, sources, today))
    counted = len({record.account for record in kept})
    if check is None:
        return CreditFigures(None, None, None, None, 0, (), gaps, (), (), counted)
    budget = check.affordability.budget
    return CreditFigures(
        first_day=check.data_from,
        last_day=check.data_to,
        first_month=budget.first_day,
        last_month=budget.last_day,
        months=len(budget.months),
        figures=tuple(_list_figures(check, contracts)),
        gaps=gaps,
        latest_events=tuple(_list_latest(check)),
        excluded_currencies=budget.excluded_currencies,
        accounts=counted,
    )


def correct_record(record: Record, category: str) -> Record:
    """As if the customer had corrected it."""
    insurance_type = derive_insurance_type(category, record.insurance_type)
    return structs.replace(record, category=category, insurance_type=insurance_type, own_category="", is_learnt=False)


def _correct(kept: Sequence[Record], corrections: Sequence[TagCorrection]) -> Sequence[Record]:
    """By a review. Bookings that are barred stay so, and those that the customer has split keep their parts."""
    if not corrections:
        return kept
    chosen = {str(correction.transaction_id): correction.after for correction in corrections}
    return load_barred_inputs().remove(
        correct_record(record, chosen[record.id]) if record.id in chosen and not record.part_categories else record
        for record in kept
    )


def _find_contracts(
    kept: Sequence[Record],
    accounts: Sequence[Account],
    known: Sequence[KnownContract],
    repeated: Mapping[str, str],
    today: date,
) -> list[Contract]:
    """Without those of which the customer says that they are none."""
    ids = {record.id for record in kept}
    rows = {row: counted for row, counted in repeated.items() if counted in ids}
    seen = [replace(contract, bookings=_select_bookings(contract, ids | rows.keys())) for contract in known]
    excluded = {contract.id for contract in seen if contract.is_excluded}
    visible = [contract for contract in seen if contract.bookings]
    found = name_contracts(find_contracts(kept, accounts, today), visible, rows)
    return [contract for contract in found if contract.id not in excluded]


def _select_bookings(contract: KnownContract, ids: set[str]) -> tuple[tuple[str, ...], ...]:
    selected = (tuple(row for row in booking if row in ids) for booking in contract.bookings)
    return tuple(booking for booking in selected if booking)


def _list_figures(check: CreditCheck, contracts: Sequence[Contract]) -> Iterable[Figure]:
    affordability = check.affordability
    budget, signals = affordability.budget, affordability.distress_signals
    spent = (Use.NECESSITY, Use.LUXURY)
    installments = {
        number
        for contract in contracts
        if contract.category in LOAN_PAYMENTS and not contract.is_income
        for number in contract.transaction_ids_regular
    }
    payouts = [record for _, _, record in budget.counted if record.category == "BANKFINANCE_CREDITINCOME"]
    returned = (*signals.returned_debits, *signals.return_fees)
    yield Figure(FigureName.INCOME, budget.income.amount, _select(budget, Use.INCOME))
    yield Figure(FigureName.INCOME_STABILITY, check.income_stability, _select(budget, Use.INCOME, only_regular=True))
    yield Figure(FigureName.EXPENSES, budget.expenses, _select(budget, *spent))
    yield Figure(FigureName.NECESSITIES, budget.necessities.amount, _select(budget, Use.NECESSITY))
    yield Figure(FigureName.FIXED_COSTS, check.fixed_costs_monthly, _select(budget, *spent, only_regular=True))
    yield Figure(FigureName.FREE_INCOME, check.free_income_monthly, _select(budget, Use.INCOME, *spent))
    rents = (record for _, _, record in budget.counted if record.category == "HOUSING_RENT" and record.amount < 0)
    yield Figure(FigureName.RENT, check.rent_monthly, _ids(rents))
    lent = (record for _, _, record in budget.counted if record.id in installments)
    yield Figure(FigureName.INSTALLMENTS, check.loan_installments_monthly, _ids(lent))
    yield Figure(FigureName.SAVINGS, budget.savings.amount, _select(budget, Use.SAVING))
    staked = (record for use, _, record in budget.counted if use is Use.LUXURY and is_gambling(record))
    yield Figure(FigureName.GAMBLING, affordability.gambling, _ids(staked))
    yield Figure(FigureName.RETURNED_DEBITS, signals.returned_count, _ids(returned))
    yield Figure(FigureName.REMINDER_CHARGES, len(signals.reminders), _ids(signals.reminders))
    yield Figure(FigureName.DEBT_COLLECTIONS, len(signals.collections), _ids(signals.collections))
    yield Figure(FigureName.SEIZURES, len(signals.seizures), _ids(signals.seizures))
    paid_out = sum((record.amount for record in payouts), Decimal("0.00"))
    yield Figure(FigureName.LOAN_PAYOUTS, paid_out, _ids(payouts))


def _list_latest(check: CreditCheck) -> Iterable[LatestEvent]:
    signals = check.affordability.distress_signals
    named = (
        (FigureName.RETURNED_DEBITS, [*signals.returned_debits, *signals.return_fees]),
        (FigureName.REMINDER_CHARGES, signals.reminders),
        (FigureName.DEBT_COLLECTIONS, signals.collections),
        (FigureName.SEIZURES, signals.seizures),
    )
    for name, records in named:
        if records:
            yield LatestEvent(name, max(record.day for record in records))


def _select(budget: Budget, *uses: Use, only_regular: bool = False) -> tuple[str, ...]:
    return _ids(
        record for use, is_regular, record in budget.counted if use in uses and (is_regular or not only_regular)
    )


def _ids(records: Iterable[Record]) -> tuple[str, ...]:
    """By day; a booking that is split occurs once."""
    ordered = sorted(records, key=lambda record: (record.day, record.id))
    return tuple(dict.fromkeys(record.id for record in ordered))


def _list_gaps(
    kept: Sequence[Record], accounts: Sequence[Account], sources: Sources, today: date
) -> Iterable[AccountGap]:
    """As completeness statements have them, of the bookings that count; gaps that continue are told as one."""
    months: dict[str, dict[date, MonthSums]] = {}
    for record in kept:
        if not record.is_pending and record.day <= today:
            of_account = months.setdefault(record.account, {})
            first = record.day.replace(day=1)
            nothing = Decimal(0)  # sums do not matter: gaps follow from days, and from balances of the bank
            of_account.setdefault(first, MonthSums(0, nothing, nothing, nothing, record.day))
    for account in sorted(accounts, key=lambda account: account.id):
        source = sources.get(account.id)
        if source is not None and account.id in months:
            found = [gap for month in state_months(source, months[account.id]) for gap in month.gaps]
            yield from (AccountGap(account.id, gap) for gap in _join_gaps(found))


def _join_gaps(gaps: Iterable[Gap]) -> Iterable[Gap]:
    joined: list[Gap] = []
    for gap in sorted(gaps, key=lambda gap: (gap.kind, gap.first)):
        last = joined[-1] if joined else None
        if last is not None and last.kind is gap.kind and (gap.first - last.last).days == 1:
            joined[-1] = replace(last, last=gap.last)
        else:
            joined.append(gap)
    return sorted(joined, key=lambda gap: (gap.first, gap.kind))
