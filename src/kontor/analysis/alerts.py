"""What bookings, accounts and contracts say that a user should know: rises, unusual debits, low balances, deadlines."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal

from kontor.analysis.category_budgets import measure_budgets
from kontor.analysis.contracts import Contract, find_notice_date, find_price_rise
from kontor.analysis.contracts.texts import simplify_name
from kontor.analysis.disposable_money import find_disposable_money
from kontor.analysis.own_money import OwnMoney
from kontor.analysis.records import NO_PARTNER, Account, Record
from kontor.domain.alerts import KEPT_DAYS, NOTICE_WARNING, AlertFacts, AlertKind, AlertObject, Cause, ObjectKind
from kontor.domain.budgets import Budget, BudgetStatus
from kontor.domain.contracts import ContractSettings
from kontor.domain.products import ProductCategory

CURRENCY = "EUR"
UNUSUAL_AMOUNT = Decimal(250)
UNUSUAL_DAYS, HISTORY_DAYS, HISTORY_DEBITS = 14, 180, 20
STALE_DAYS = 7  # older balances say nothing about today

FindSettings = Callable[[str], ContractSettings]


def find_causes(
    records: Sequence[Record],
    contracts: Sequence[Contract],
    accounts: Sequence[Account],
    today: date,
    find_settings: FindSettings,
    budgets: Sequence[Budget] = (),
) -> list[Cause]:
    """All that hold today. Instead of an access, objects name an account; transactions have no product yet."""
    return [
        *(cause for contract in contracts if (cause := _tell_rise(contract, today, find_settings))),
        *(cause for contract in contracts if (cause := _find_deadline(contract, today, find_settings))),
        *find_unusual(records, contracts, accounts, today),
        *(cause for account in accounts if (cause := _find_low_balance(records, contracts, account, today))),
        *_find_exceeded(budgets, records, contracts, accounts, today),
    ]


# Contracts


def _tell_rise(contract: Contract, today: date, find_settings: FindSettings) -> Cause | None:
    rise = find_price_rise(contract)
    if rise is None or (today - rise.day).days > KEPT_DAYS:
        return None
    facts = AlertFacts(_name_contract(contract, find_settings), rise.day, rise.before)
    return Cause(AlertKind.PRICE_RISE, _refer(contract), f"{rise.day} {rise.amount}", rise.amount, facts=facts)


def _find_deadline(contract: Contract, today: date, find_settings: FindSettings) -> Cause | None:
    day = find_notice_date(contract, find_settings(contract.id), today)
    if day is None or not today <= day <= today + NOTICE_WARNING:
        return None
    facts = AlertFacts(_name_contract(contract, find_settings), day)
    return Cause(AlertKind.CONTRACT_NOTICE, _refer(contract), str(day), facts=facts)


def _refer(contract: Contract) -> AlertObject:
    return AlertObject(ObjectKind.CONTRACT, contract.id, contract.accounts[0])


def _name_contract(contract: Contract, find_settings: FindSettings) -> str | None:
    partner = contract.partner if contract.partner != NO_PARTNER else ""
    return find_settings(contract.id).name or contract.counterparty_name or partner or None


# Debits


def find_unusual(
    records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account], today: date
) -> list[Cause]:
    """Debits to somebody new that are larger than all of the half year before.

    What belongs to a contract or stays among own accounts is neither unusual nor compared with.
    """
    regular = {row for contract in contracts for row in contract.transaction_ids}
    own_money = OwnMoney(accounts)
    debits: dict[str, list[Record]] = {}
    for record in records:
        is_debit = record.amount < 0 and record.currency == CURRENCY and not record.is_pending and record.day <= today
        if is_debit and record.id not in regular and not own_money.is_own(record):
            debits.setdefault(record.account, []).append(record)
    return [
        cause for account in debits.values() for record in account if (cause := _judge_debit(record, account, today))
    ]


def _judge_debit(record: Record, debits: Sequence[Record], today: date) -> Cause | None:
    if -record.amount < UNUSUAL_AMOUNT or (today - record.day).days > UNUSUAL_DAYS:
        return None
    first = record.day - timedelta(days=HISTORY_DAYS)
    before = [other for other in debits if first <= other.day <= record.day and other.id != record.id]
    if len(before) < HISTORY_DEBITS or any(other.amount <= record.amount for other in before):
        return None
    whose = _name_counterparty(record)
    if not whose or any(_name_counterparty(other) == whose for other in debits if other.id != record.id):
        return None
    place = AlertObject(ObjectKind.TRANSACTION, record.id, record.account)
    facts = AlertFacts(record.counterparty_name or None, record.day)
    return Cause(AlertKind.UNUSUAL_DEBIT, place, record.id, record.amount, facts=facts)


def _name_counterparty(record: Record) -> str:
    return record.counterparty_iban or simplify_name(record.counterparty_name)


# Balances


def _find_low_balance(
    records: Sequence[Record], contracts: Sequence[Contract], account: Account, today: date
) -> Cause | None:
    """A payment account that is overdrawn, or will be before the next salary comes. Told once a month."""
    if account.category is not ProductCategory.CHECKING or account.currency != CURRENCY or account.balance is None:
        return None
    if account.data_until is None or (today - account.data_until).days > STALE_DAYS:
        return None
    amount, day = account.balance, None
    if amount >= 0:
        expected = find_disposable_money(
            [record for record in records if record.account == account.id],
            [contract for contract in contracts if account.id in contract.accounts],
            today,
        )
        if expected is None:
            return None
        amount += expected.amount_expected_fixed + expected.amount_expected_flex
        day = expected.date_salary_next
    if amount >= 0:
        return None
    place = AlertObject(ObjectKind.PRODUCT, account.id, account.id)
    return Cause(AlertKind.BALANCE_LOW, place, f"{today:%Y-%m}", amount, facts=AlertFacts(account.name or None, day))


# Budgets


def _find_exceeded(
    budgets: Sequence[Budget],
    records: Sequence[Record],
    contracts: Sequence[Contract],
    accounts: Sequence[Account],
    today: date,
) -> list[Cause]:
    """Those of this month; each is told once a month."""
    month = today.replace(day=1)
    begun = [budget for budget in budgets if budget.starts_on <= month]
    if not begun:
        return []
    measured = measure_budgets(begun, month, records, contracts, accounts, today)
    return [
        Cause(
            AlertKind.BUDGET_EXCEEDED,
            AlertObject(ObjectKind.BUDGET, str(budget.id)),
            f"{month:%Y-%m}",
            found.remaining,
            facts=AlertFacts(budget.name, month),
        )
        for budget, found in zip(begun, measured, strict=True)
        if found.status is BudgetStatus.EXCEEDED
    ]
