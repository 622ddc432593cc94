"""Standing orders over FinTS: created by HKCDE, changed by HKCDN, deleted by HKCDL, listed by HKCDB."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from fints.segments.base import FinTS3Segment

from kontor.connectors.base import FailureKind, Pay
from kontor.connectors.fints.accounts import Account, name_account
from kontor.connectors.fints.dated_transfers import is_ours
from kontor.connectors.fints.listed_orders import is_listed, list_segments
from kontor.connectors.fints.payments import AT_ONCE, check_lead_time, find_descriptor
from kontor.connectors.fints.segments import HKCDB1, HKCDE1, HKCDL1, HKCDN1, StandingDetails1
from kontor.connectors.fints.sessions import MALFORMED, RefusedError, Reply, Session
from kontor.connectors.pain001 import Batch, write_pain001
from kontor.connectors.pain001_reading import PaymentBlock, read_pain001
from kontor.connectors.pain_messages import Party
from kontor.connectors.statements import StatementError
from kontor.domain.payments import PaymentOutcome
from kontor.domain.schedules import Period, Schedule, StandingAction
from kontor.domain.standing_orders import StandingOrder, list_facts

FORMS: dict[StandingAction, type[FinTS3Segment]] = {
    StandingAction.CREATE: HKCDE1,
    StandingAction.CHANGE: HKCDN1,
    StandingAction.DELETE: HKCDL1,
}
MONTHS, WEEKS = "M", "W"
ANY = "00"  # in a bank's list of intervals
NOT_POSSIBLE = "Daueraufträge sind von diesem Konto bei der Bank nicht in dieser Form möglich."


@dataclass(frozen=True, slots=True)
class StandingList:
    """`is_complete`: every order could be read. `other_keys` name orders in intervals that Kontor has no name for."""

    entries: tuple[tuple[StandingOrder, PaymentBlock], ...]
    is_complete: bool
    other_keys: tuple[str | None, ...] = ()

    @property
    def orders(self) -> tuple[StandingOrder, ...]:
        return tuple(standing for standing, _ in self.entries)


def list_actions(session: Session, account: Account) -> tuple[StandingAction, ...]:
    """What the bank lets this customer do with standing orders of the account."""
    if session.method is None or not account.iban:
        return ()
    return tuple(action for action, form in FORMS.items() if _is_offered(session, account, form))


def _is_offered(session: Session, account: Account, form: type[FinTS3Segment]) -> bool:
    return session.parameters.find_newest(form.TYPE, (form.VERSION,)) is not None and account.can(form.TYPE)


def make_standing_order(
    session: Session, account: Account, pay: Pay, today: date, created_at: datetime
) -> FinTS3Segment:
    """The segment of the order, the same at every call. Raises RefusedError where the bank has no such business."""
    assert pay.standing is not None
    action, schedule = pay.standing.action, pay.standing.schedule
    form = FORMS[action]
    if not _is_offered(session, account, form):
        raise RefusedError(FailureKind.NOT_SUPPORTED, NOT_POSSIBLE)
    if action is StandingAction.CREATE:
        check_lead_time(session, form.TYPE, (schedule.first - today).days)
        _check_interval(session, schedule.period)
    batch = Batch(pay.payment_id.hex, pay.orders, AT_ONCE)
    document = write_pain001(Party(account.holder, account.iban, account.bic or None), batch, created_at)
    segment = form(
        account=name_account(form, account),
        sepa_descriptor=find_descriptor(session),
        sepa_pain_message=document,
        details=_write_details(schedule),
    )
    if action is not StandingAction.CREATE:
        segment.order_id = pay.standing.key
    return segment


def _write_details(schedule: Schedule) -> StandingDetails1:
    period = schedule.period
    if period.weeks:
        return StandingDetails1(schedule.first, WEEKS, period.weeks, schedule.first.isoweekday(), schedule.last)
    day = schedule.first.day if schedule.day is None else schedule.day
    return StandingDetails1(schedule.first, MONTHS, period.months, day, schedule.last)


def _check_interval(session: Session, period: Period) -> None:
    """The bank lists intervals as numbers of two digits, one behind the other."""
    limits = session.parameters.find_parameter(HKCDE1.TYPE)
    listed = str(getattr(limits, "week_intervals" if period.weeks else "month_intervals", None) or "")
    offered = {listed[place : place + 2] for place in range(0, len(listed), 2)}
    is_offered = ANY in offered or f"{period.weeks or period.months:02d}" in offered
    if limits is not None and not is_offered:
        raise RefusedError(FailureKind.REJECTED, "Die Bank bietet Daueraufträge nicht in diesem Turnus an.")


def read_key(reply: Reply) -> str | None:
    """The bank's name of an order that was created or changed."""
    segment = reply.find("HICDE") or reply.find("HICDN")
    return None if segment is None else getattr(segment, "order_id", None) or None


def list_standing(session: Session, account: Account) -> StandingList | None:
    """None where the bank offers no list. One in an interval that Kontor does not know is left out."""
    if not is_listed(session, account, HKCDB1):
        return None
    return read_list(list_segments(session, account, HKCDB1))


def read_list(segments: Sequence[Any]) -> StandingList:
    entries, other_keys, is_complete = [], [], True
    for segment in segments:
        try:
            (block, *_) = read_pain001(bytes(segment.sepa_pain_message or b""))
            schedule, key = _read_details(segment.details), segment.order_id or None
        except (StatementError, *MALFORMED):
            is_complete = False
            continue
        if schedule is None:
            other_keys.append(key)
        else:
            entries.append((StandingOrder(block.orders[0], schedule, key), block))
    return StandingList(tuple(entries), is_complete, tuple(other_keys))


def _read_details(details: StandingDetails1) -> Schedule | None:
    """None for an interval that Kontor has no name for."""
    is_weekly = details.time_unit == WEEKS
    periods = {(bool(period.weeks), period.weeks or period.months): period for period in Period}
    period = periods.get((is_weekly, int(details.interval)))
    if period is None:
        return None
    day = None if is_weekly or details.execution_day in (None, details.first_date.day) else int(details.execution_day)
    return Schedule(period, details.first_date, details.last_date, day)


def find_standing_outcome(listed: StandingList, pay: Pay) -> tuple[PaymentOutcome, str | None]:
    """What the bank's list proves of an order whose answer was lost, and the name of the order there."""
    assert pay.standing is not None
    if pay.standing.action is StandingAction.CREATE:
        found = [standing for standing, block in listed.entries if is_ours(block, pay, pay.orders[0])]
    elif pay.standing.action is StandingAction.DELETE:
        is_gone = listed.is_complete and pay.standing.key is not None
        is_gone = is_gone and pay.standing.key not in [*listed.other_keys, *(order.key for order in listed.orders)]
        return (PaymentOutcome.EXECUTED if is_gone else PaymentOutcome.UNKNOWN), None
    else:
        found = _find_changed(listed.orders, pay)
    return (PaymentOutcome.EXECUTED, found[0].key) if found else (PaymentOutcome.UNKNOWN, None)


def _find_changed(orders: Sequence[StandingOrder], pay: Pay) -> list[StandingOrder]:
    """The order under its name, as it was to become."""
    assert pay.standing is not None
    wanted = list_facts(StandingOrder(pay.orders[0], pay.standing.schedule))
    key = pay.standing.key
    named = [standing for standing in orders if key is not None and standing.key == key]
    return [standing for standing in named if list_facts(standing) == wanted]
