"""Money: vehicles, loans, windfalls, debt collection."""

from collections.abc import Iterator
from datetime import date

from kontor.analysis.life_events.episodes import LifeSignals, SignalPeriod, count_days
from kontor.analysis.life_events.findings import LifeEvent
from kontor.analysis.life_events.signs import Sign
from kontor.analysis.reasons import Reason

_MIN_VEHICLE = 1500
_VEHICLE_DAYS = 90
_LOAN_DAYS = 120
_PAYOFF_DAYS = 75
_QUIET_DAYS = 365


def find_finance_events(course: LifeSignals) -> Iterator[LifeEvent]:
    yield from _find_vehicles(course)
    yield from _find_loan_begins(course)
    yield from _find_loan_ends(course)
    yield from _find_windfalls(course)
    yield from _find_collections(course)


def _find_vehicles(course: LifeSignals) -> Iterator[LifeEvent]:
    """A price, or the first rate of a leasing or financing that names the vehicle."""
    told: list[date] = []
    for paid in course.list_singles(Sign.VEHICLE):
        if abs(paid.amount) >= _MIN_VEHICLE and all(count_days(paid.day, day) > _VEHICLE_DAYS for day in told):
            told.append(paid.day)
            reasons = (Reason(f"A vehicle was paid for on {paid.day}", (paid.id,)),)
            yield LifeEvent("VEHICLE_PURCHASE", paid.day, 0.95, (paid.id,), reasons, abs(paid.amount))
    for episode in course.list_episodes(Sign.VEHICLE):
        if episode.has_beginning and all(count_days(episode.first, day) > _VEHICLE_DAYS for day in told):
            told.append(episode.first)
            reasons = (Reason(f"First rate for a vehicle on {episode.first}", episode.ids[:2]),)
            yield LifeEvent("VEHICLE_PURCHASE", episode.first, 0.88, episode.ids[:2], reasons)


def _find_loan_begins(course: LifeSignals) -> Iterator[LifeEvent]:
    payouts = course.list_singles(Sign.PAYOUT)
    for payout in payouts:
        if payout.id not in course.regular_ids:
            reasons = (Reason(f"A loan was paid out on {payout.day}", (payout.id,)),)
            yield LifeEvent("LOAN_START", payout.day, 0.96, (payout.id,), reasons, payout.amount)
    for loan in course.list_episodes(Sign.LOAN, Sign.MORTGAGE):
        is_told = any(count_days(payout.day, loan.first) <= _LOAN_DAYS for payout in payouts)
        if loan.has_beginning and not is_told:
            begun = (
                Reason(f"First installment to {loan.partner} on {loan.first}", loan.ids[:2]),
                Reason("No payout was seen"),
            )
            yield LifeEvent("LOAN_START", loan.first, 0.8, loan.ids[:2], begun)


def _find_loan_ends(course: LifeSignals) -> Iterator[LifeEvent]:
    told: list[date] = []
    for payoff in course.list_singles(Sign.PAYOFF):
        told.append(payoff.day)
        reasons = (Reason(f"A loan was paid off on {payoff.day}", (payoff.id,)),)
        yield LifeEvent("LOAN_END", payoff.day, 0.93, (payoff.id,), reasons, abs(payoff.amount))
    for loan in course.list_episodes(Sign.LOAN, Sign.MORTGAGE):
        if loan.is_over and len(loan.records) > 1 and all(count_days(loan.last, day) > _PAYOFF_DAYS for day in told):
            ended = (
                Reason(f"Last installment to {loan.partner} on {loan.last}", loan.ids[-2:]),
                Reason("The next one was not paid although newer data of the account is there"),
            )
            yield LifeEvent("LOAN_END", loan.last, 0.88, loan.ids[-2:], ended)


def _find_windfalls(course: LifeSignals) -> Iterator[LifeEvent]:
    for record in course.list_singles(Sign.WINDFALL):
        if record.id in course.regular_ids or record.amount < course.monthly_income:
            continue
        reasons = (
            Reason(f"{record.amount} came in on {record.day}, in no relation to any regular income", (record.id,)),
        )
        yield LifeEvent("WINDFALL", record.day, 0.92, (record.id,), reasons, record.amount)


def _find_collections(course: LifeSignals) -> Iterator[LifeEvent]:
    """Rates to a collector that begin; a single payment only after a year without any."""
    episodes: list[SignalPeriod] = [
        episode for episode in course.list_episodes(Sign.COLLECTION) if episode.has_beginning
    ]
    for episode in episodes:
        reasons = (Reason(f"Rates to the collector {episode.partner} began on {episode.first}", episode.ids[:2]),)
        yield LifeEvent("DEBTCOLLECTION_START", episode.first, 0.93, episode.ids[:2], reasons)
    paid = course.list_singles(Sign.COLLECTION) + [record for episode in episodes for record in episode.records]
    for record in course.list_singles(Sign.COLLECTION):
        is_quiet = not any(
            other.day <= record.day and other is not record and count_days(other.day, record.day) <= _QUIET_DAYS
            for other in paid
        )
        is_known = (record.day - course.data_from[record.account]).days > _QUIET_DAYS
        if is_quiet and is_known and all(count_days(episode.first, record.day) > _QUIET_DAYS for episode in episodes):
            reasons = (Reason(f"A collector was paid on {record.day}, after a year without any", (record.id,)),)
            yield LifeEvent("DEBTCOLLECTION_START", record.day, 0.85, (record.id,), reasons)
