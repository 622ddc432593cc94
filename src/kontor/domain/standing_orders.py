"""Standing orders of an account, as a bank lists them and as they are stored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from uuid import UUID

from kontor.domain.order_checks import OrderError, OrderProblem
from kontor.domain.payments import Order
from kontor.domain.schedules import Schedule, StandingAction

FIRST, LAST = "firstExecutionDate", "lastExecutionDate"


class StandingState(StrEnum):
    ACTIVE = "ACTIVE"
    ENDED = "ENDED"


@dataclass(frozen=True, slots=True)
class StandingOrder:
    """As the bank has it. `key` is its name for the order, None at banks that have none."""

    order: Order
    schedule: Schedule
    key: str | None = None


@dataclass(frozen=True, slots=True)
class StoredStandingOrder:
    """`is_listed`: it was in the bank's last list, or we have created it and saw no list since."""

    id: UUID
    product_id: UUID
    standing: StandingOrder
    is_listed: bool = True

    def find_state(self, today: date) -> StandingState:
        is_active = self.is_listed and not self.standing.schedule.is_over(today)
        return StandingState.ACTIVE if is_active else StandingState.ENDED


def check_schedule(schedule: Schedule, today: date, known: Schedule | None = None) -> None:
    """Raises OrderError. An order that is changed may keep a first day that lies in the past."""
    is_kept = known is not None and known.first == schedule.first
    if schedule.first < today and not is_kept:
        raise OrderError(OrderProblem.DATA, "lies in the past", FIRST)
    if schedule.last is not None and schedule.last < schedule.first:
        raise OrderError(OrderProblem.DATA, "lies before the first execution", LAST)
    if schedule.last is not None and schedule.last < today:
        raise OrderError(OrderProblem.DATA, "lies in the past", LAST)


def is_new_payee(action: StandingAction, order: Order, known: Order | None) -> bool:
    """Is there an account that nobody has verified for this standing order?"""
    return action is not StandingAction.DELETE and (known is None or known.iban != order.iban)


def match_orders(
    stored: Sequence[StoredStandingOrder], listed: Sequence[StandingOrder]
) -> tuple[list[StoredStandingOrder], list[StandingOrder]]:
    """The stored orders as the bank's list has them, and listed ones that are new.

    Matched by the bank's name, then by content: banks rename orders, and some have no names. What the bank no longer
    lists is listed no more.
    """
    left = list(listed)
    found: dict[UUID, StandingOrder] = {}
    for is_same in (_has_same_key, _has_same_content):
        for order in stored:
            if order.id in found:
                continue
            place = next((place for place, other in enumerate(left) if is_same(order.standing, other)), None)
            if place is not None:
                found[order.id] = left.pop(place)
    matched = [
        replace(order, standing=found.get(order.id, order.standing), is_listed=order.id in found) for order in stored
    ]
    return matched, left


def _has_same_key(stored: StandingOrder, listed: StandingOrder) -> bool:
    return stored.key is not None and stored.key == listed.key


def _has_same_content(stored: StandingOrder, listed: StandingOrder) -> bool:
    return list_facts(stored) == list_facts(listed)


def list_facts(standing: StandingOrder) -> tuple[object, ...]:
    """What makes two standing orders pay the same."""
    order, schedule = standing.order, standing.schedule
    return order.iban, order.amount, order.purpose, schedule.period, schedule.first, schedule.last
