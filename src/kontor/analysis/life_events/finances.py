"""Money: vehicles, loans, windfalls, debt collection."""

from collections.abc import Iterator
from datetime import date

from kontor.analysis.life_events.findings import LifeEvent
from kontor.analysis.life_events.signals import LifeSignals, SignalPeriod, count_days
from kontor.analysis.life_events.signs import Sign
from kontor.analysis.reasons import Reason

_MIN_VEHICLE = 1500
_VEHICLE_DAYS = 90
_LOAN_DAYS = 120
_PAYOFF_DAYS = 75
_QUIET_DAYS = 365


def find_finance_events(signals: LifeSignals) -> Iterator[LifeEvent]:
    yield from _find_vehicles(signals)
    yield from _find_loan_begins(signals)
    yield from _find_loan_ends(signals)
    yield from _find_windfalls(signals)
    yield from _find_collections(signals)


def _find_vehicles(signals: LifeSignals) -> Iterator[LifeEvent]:
    """A price, or the first rate of a leasing or financing that names the vehicle."""
    told: list[date] = []
    for paid in signals.list_singles(Sign.VEHICLE):
        if abs(paid.amount) >= _MIN_VEHICLE and all(count_days(paid.day, day) > _VEHICLE_DAYS for day in told):
            told.append(paid.day)
            reasons = (Reason(f"A vehicle was paid for on {paid.day}", (paid.id,)),)
            yield LifeEvent("VEHICLE_PURCHASE", paid.day, 0.95, (paid.id,), reasons, abs(paid.amount))
    for period in signals.list_periods(Sign.VEHICLE):
        if period.has_beginning and all(count_days(period.first, day) > _VEHICLE_DAYS for day in told):
            told.append(period.first)
            reasons = (Reason(f"First rate for a vehicle on {period.first}", period.ids[:2]),)
            yield LifeEvent("VEHICLE_PURCHASE", period.first, 0.88, period.ids[:2], reasons)


def _find_loan_begins(signals: LifeSignals) -> Iterator[LifeEvent]:
    payouts = signals.list_singles(Sign.PAYOUT)
    for payout in payouts:
        if payout.id not in signals.regular_ids:
            reasons = (Reason(f"A loan was paid out on {payout.day}", (payout.id,)),)
            yield LifeEvent("LOAN_START", payout.day, 0.96, (payout.id,), reasons, payout.amount)
    for loan in signals.list_periods(Sign.LOAN, Sign.MORTGAGE):
        is_told = any(count_days(payout.day, loan.first) <= _LOAN_DAYS for payout in payouts)
        if loan.has_beginning and not is_told:
            begun = (
                Reason(f"First installment to {loan.partner} on {loan.first}", loan.ids[:2]),
                Reason("No payout was seen"),
            )
            yield LifeEvent("LOAN_START", loan.first, 0.8, loan.ids[:2], begun)


def _find_loan_ends(signals: LifeSignals) -> Iterator[LifeEvent]:
    told: list[date] = []
    for payoff in signals.list_singles(Sign.PAYOFF):
        told.append(payoff.day)
        reasons = (Reason(f"A loan was paid off on {payoff.day}", (payoff.id,)),)
        yield LifeEvent("LOAN_END", payoff.day, 0.93, (payoff.id,), reasons, abs(payoff.amount))
    for loan in signals.list_periods(Sign.LOAN, Sign.MORTGAGE):
        if loan.is_over and len(loan.records) > 1 and all(count_days(loan.last, day) > _PAYOFF_DAYS for day in told):
            ended = (
                Reason(f"Last installment to {loan.partner} on {loan.last}", loan.ids[-2:]),
                Reason("The next one was not paid although newer data of the account is there"),
            )
            yield LifeEvent("LOAN_END", loan.last, 0.88, loan.ids[-2:], ended)


def _find_windfalls(signals: LifeSignals) -> Iterator[LifeEvent]:
    for record in signals.list_singles(Sign.WINDFALL):
        if record.id in signals.regular_ids or record.amount < signals.monthly_income:
            continue
        reasons = (
            Reason(f"{record.amount} came in on {record.day}, in no relation to any regular income", (record.id,)),
        )
        yield LifeEvent("WINDFALL", record.day, 0.92, (record.id,), reasons, record.amount)


def _find_collections(signals: LifeSignals) -> Iterator[LifeEvent]:
    """Rates to a collector that begin; a single payment only after a year without any."""
    periods: list[SignalPeriod] = [period for period in signals.list_periods(Sign.COLLECTION) if period.has_beginning]
    for period in periods:
        reasons = (Reason(f"Rates to the collector {period.partner} began on {period.first}", period.ids[:2]),)
        yield LifeEvent("DEBTCOLLECTION_START", period.first, 0.93, period.ids[:2], reasons)
    paid = signals.list_singles(Sign.COLLECTION) + [record for period in periods for record in period.records]
    for record in signals.list_singles(Sign.COLLECTION):
        is_quiet = not any(
            other.day <= record.day and other is not record and count_days(other.day, record.day) <= _QUIET_DAYS
            for other in paid
        )
        is_known = (record.day - signals.data_from[record.account]).days > _QUIET_DAYS
        if is_quiet and is_known and all(count_days(period.first, record.day) > _QUIET_DAYS for period in periods):
            reasons = (Reason(f"A collector was paid on {record.day}, after a year without any", (record.id,)),)
            yield LifeEvent("DEBTCOLLECTION_START", record.day, 0.85, (record.id,), reasons)
