"""Home and family: flats, moves, property; children and their care."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from kontor.analysis.life_events.findings import LifeEvent
from kontor.analysis.life_events.signals import LifeSignals, SignalPeriod, count_days, subtract_days
from kontor.analysis.life_events.signs import Sign
from kontor.analysis.reasons import Reason
from kontor.analysis.records import Record

# Two things that belong to one move are at most so far apart.
_MOVE_DAYS = 100
_SAME_HOME_DAYS, _SAME_RENT = 45, Decimal("0.01")
_PURCHASE_DAYS = 200
_MIN_HOME_LOAN = 30_000
_SAME_CHILD_DAYS = 430
_CHILD_SIGNS_DAYS = 120
_BENEFIT_DELAY_DAYS = 30
_MATERNITY_DAYS = 42


def find_home_events(signals: LifeSignals) -> Iterator[LifeEvent]:
    purchases = list(_find_purchases(signals))
    homes = list_homes(signals)
    yield from purchases
    for home in homes:
        if home.has_beginning:
            is_first = not any(other.first < home.first for other in homes)
            reasons = (Reason(f"First rent to {home.partner} on {home.first}", home.ids[:2]),)
            confidence = 0.97 if len(home.records) > 1 else 0.8
            yield LifeEvent("TENANCY_START", home.first, confidence, home.ids[:2], reasons, home.usual_amount, is_first)
        if home.is_over:
            ended = (
                Reason(f"Last rent to {home.partner} on {home.last}", home.ids[-2:]),
                Reason("The next one was not paid although newer data of the account is there"),
            )
            yield LifeEvent("TENANCY_END", home.last, 0.93, home.ids[-2:], ended)
    yield from _find_moves(signals, homes, purchases)


def list_homes(signals: LifeSignals) -> list[SignalPeriod]:
    """Rented homes of one's own. The same rent to another landlord, without any sign of a move, is the same home."""
    moves = signals.list_singles(Sign.MOVER, Sign.DEPOSIT)
    homes: list[SignalPeriod] = []
    for period in signals.list_periods(Sign.RENT):
        before = homes[-1] if homes else None
        if before is not None and _is_same_home(before, period, moves):
            homes[-1] = SignalPeriod(
                period.sign, period.partner, before.records + period.records, period.is_over, before.has_beginning
            )
        else:
            homes.append(period)
    return homes


def _is_same_home(before: SignalPeriod, period: SignalPeriod, moves: list[Record]) -> bool:
    if not 0 < (period.first - before.last).days <= _SAME_HOME_DAYS:
        return False
    old_rent, new_rent = before.records[-1].amount, period.records[0].amount
    is_same_rent = abs(old_rent - new_rent) <= abs(old_rent) * _SAME_RENT
    return is_same_rent and not any(count_days(move.day, period.first) <= _MOVE_DAYS for move in moves)


def _find_moves(signals: LifeSignals, homes: list[SignalPeriod], purchases: list[LifeEvent]) -> Iterator[LifeEvent]:
    """A mover's bill tells best; else one home that follows upon another."""
    told: list[date] = []
    for mover in signals.list_singles(Sign.MOVER):
        if all(count_days(mover.day, day) > _MOVE_DAYS for day in told):
            told.append(mover.day)
            reasons = (Reason(f"Bill of a mover on {mover.day}", (mover.id,)),)
            yield LifeEvent("RELOCATION", mover.day, 0.96, (mover.id,), reasons, abs(mover.amount))
    for home in homes:
        before = [
            past for past in homes if past is not home and past.first < home.first and _meet(past.last, home.first)
        ]
        if home.has_beginning and before and all(not _meet(day, home.first) for day in told):
            told.append(home.first)
            ids = (*before[-1].ids[-1:], *home.ids[:1])
            reasons = (Reason(f"Rent to {home.partner} took the place of rent to {before[-1].partner}", ids),)
            yield LifeEvent("RELOCATION", home.first, 0.88, ids, reasons)
        bought = [event for event in purchases if count_days(event.day, home.last) <= _PURCHASE_DAYS]
        if home.is_over and bought and all(not _meet(day, home.last) for day in told):
            told.append(home.last)
            reasons = (Reason(f"The rent ended on {home.last}, near the purchase of a property", home.ids[-1:]),)
            yield LifeEvent("RELOCATION", home.last, 0.85, home.ids[-1:], reasons)


def _meet(first: date, second: date) -> bool:
    return count_days(first, second) <= _MOVE_DAYS


def _find_purchases(signals: LifeSignals) -> Iterator[LifeEvent]:
    """The price tells best, then the tax, then a large loan with a first mortgage payment."""
    told: list[date] = []

    def is_new(day: date) -> bool:
        if any(count_days(day, other) <= _PURCHASE_DAYS for other in told):
            return False
        told.append(day)
        return True

    for price in signals.list_singles(Sign.PURCHASE_PRICE):
        if is_new(price.day):
            reasons = (Reason(f"The price of a property was paid on {price.day}", (price.id,)),)
            yield LifeEvent("PROPERTY_PURCHASE", price.day, 0.96, (price.id,), reasons, abs(price.amount))
    for tax in signals.list_singles(Sign.TRANSFER_TAX):
        if is_new(tax.day):
            reasons = (Reason(f"The tax on buying property was paid on {tax.day}", (tax.id,)),)
            yield LifeEvent("PROPERTY_PURCHASE", tax.day, 0.93, (tax.id,), reasons)
    for mortgage in signals.list_periods(Sign.MORTGAGE):
        payouts = [
            record
            for record in signals.list_singles(Sign.PAYOUT)
            if record.amount >= _MIN_HOME_LOAN and count_days(record.day, mortgage.first) <= _PURCHASE_DAYS
        ]
        if mortgage.has_beginning and payouts and is_new(payouts[0].day):
            ids = (payouts[0].id, *mortgage.ids[:1])
            reasons = (Reason("A large loan was paid out, and its mortgage payments began", ids),)
            yield LifeEvent("PROPERTY_PURCHASE", payouts[0].day, 0.8, ids, reasons)


def find_family_events(signals: LifeSignals) -> Iterator[LifeEvent]:
    yield from _find_births(signals)
    for care in signals.list_periods(Sign.CHILDCARE):
        goes_on = any(other is not care and other.covers(care.first) for other in signals.list_periods(Sign.CHILDCARE))
        if care.has_beginning and not goes_on:
            reasons = (Reason(f"First fee for childcare on {care.first}", care.ids[:2]),)
            confidence = 0.95 if len(care.records) > 1 else 0.8
            yield LifeEvent("CHILDCARE_START", care.first, confidence, care.ids[:2], reasons, care.usual_amount)


def _list_birth_signs(signals: LifeSignals) -> Iterator[tuple[date, float, Reason]]:
    """Days near births: parental allowance tells best, then maternity pay, then child benefit with purchases."""
    for period in signals.list_periods(Sign.PARENTAL_ALLOWANCE):
        if period.has_beginning:
            yield period.first, 0.95, Reason(f"Parental allowance began on {period.first}", period.ids[:1])
    for pay in signals.list_singles(Sign.MATERNITY_PAY):
        if (pay.day - signals.data_from[pay.account]).days > _CHILD_SIGNS_DAYS:
            day = subtract_days(pay.day, -_MATERNITY_DAYS)
            if day <= signals.today:
                yield day, 0.8, Reason(f"Maternity pay on {pay.day}, six weeks before a birth", (pay.id,))
    for period in signals.list_periods(Sign.CHILD_BENEFIT):
        buys = any(count_days(day, period.first) <= _CHILD_SIGNS_DAYS for day in signals.child_days)
        if period.has_beginning and buys:
            day = subtract_days(period.first, _BENEFIT_DELAY_DAYS)
            yield (
                day,
                0.85,
                Reason(f"Child benefit began on {period.first}, with purchases for a child", period.ids[:1]),
            )


def _find_births(signals: LifeSignals) -> Iterator[LifeEvent]:
    told: list[date] = []
    for day, confidence, reason in _list_birth_signs(signals):
        if any(count_days(day, other) <= _SAME_CHILD_DAYS for other in told):
            continue
        told.append(day)
        earlier = subtract_days(day, _CHILD_SIGNS_DAYS)
        signs = signals.list_periods(Sign.CHILD_BENEFIT, Sign.CHILDCARE, Sign.PARENTAL_ALLOWANCE)
        is_first = not any(period.first < earlier for period in signs)
        yield LifeEvent("CHILD_BIRTH", day, confidence, reason.transaction_ids, (reason,), None, is_first)
