"""How far savings goals are: the balances of their products, and how much those have grown in the last months."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal

from kontor.analysis.calendars import find_day, number_month
from kontor.analysis.records import Account, Record
from kontor.domain.savings_goals import GoalProgress, SavingsGoal, measure_progress

MONTHS, MIN_MONTHS = 6, 2
_NOTHING, _CENT = Decimal("0.00"), Decimal("0.01")


def measure_goals(
    goals: Sequence[SavingsGoal],
    records: Sequence[Record],
    accounts: Sequence[Account],
    joined: Mapping[str, str],
    today: date,
) -> list[GoalProgress]:
    """`joined` names the account of each product that shares its account with others."""
    by_id = {account.id: account for account in accounts}
    wanted = {joined.get(str(product), str(product)) for goal in goals for product in goal.products}
    moves: dict[str, list[Record]] = {account: [] for account in wanted}
    for record in records:
        if record.account in moves and not record.is_pending:
            moves[record.account].append(record)
    paces = {name: find_pace(by_id[name], moves[name], today) for name in wanted if name in by_id}
    return [_measure(goal, by_id, joined, paces, today) for goal in goals]


def _measure(
    goal: SavingsGoal,
    accounts: Mapping[str, Account],
    joined: Mapping[str, str],
    paces: Mapping[str, Decimal | None],
    today: date,
) -> GoalProgress:
    if not goal.products:
        return measure_progress(goal, goal.saved, None, today)
    named = dict.fromkeys(joined.get(str(product), str(product)) for product in goal.products)
    found = [accounts[name] for name in named if name in accounts]
    saved = sum((account.balance or _NOTHING for account in found), _NOTHING)
    known = [pace for account in found if (pace := paces[account.id]) is not None]
    monthly = sum(known, _NOTHING) if found and len(known) == len(found) else None
    return measure_progress(goal, saved, monthly, today)


def find_pace(account: Account, moves: Sequence[Record], today: date) -> Decimal | None:
    """By how much the balance has grown a month: over up to six complete months, but not before the first booking.

    None where that is not known: with fewer than two such months, and for a depot, which has prices but no bookings.
    """
    days = [record.day for record in moves if record.day <= today and record.currency == account.currency]
    if account.category.is_depot or not days:
        return None
    known_until = today if account.data_until is None else min(today, account.data_until)
    end = number_month(known_until + timedelta(days=1)) if known_until < date.max else number_month(known_until)
    first = min(days)
    begin = max(number_month(first) + (0 if first.day == 1 else 1), end - MONTHS)
    if end - begin < MIN_MONTHS:
        return None
    begins_on, ends_before = find_day(begin, 1), find_day(end, 1)
    grown = sum(
        (
            record.amount
            for record in moves
            if begins_on <= record.day < ends_before and record.currency == account.currency
        ),
        _NOTHING,
    )
    return (grown / (end - begin)).quantize(_CENT, ROUND_HALF_UP)
