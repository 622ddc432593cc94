"""Standing orders at the demo bank: recorded in its books, executed when their days have come."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import groupby
from uuid import UUID, uuid5

from kontor.connectors.base import Pay
from kontor.connectors.demo.memory import Bank
from kontor.connectors.demo.people import Account, Person
from kontor.connectors.demo.people.banking_days import move_to_banking_day
from kontor.connectors.demo.statements import make_booked_order
from kontor.domain.demo_books import BookOwner, StandingOrderAction
from kontor.domain.schedules import StandingAction, StandingInstruction
from kontor.domain.standing_orders import StandingOrder

_EXECUTIONS = UUID("0b6d6d1e-3a0c-5a0e-8f5b-6f0f6b3d9a21")


def make_action(job: Pay, product_key: str, today: date) -> StandingOrderAction:
    assert job.standing is not None
    wanted, name = job.standing, find_name(job)
    assert name is not None
    return StandingOrderAction(job.payment_id, product_key, name, wanted.action, job.orders[0], wanted.schedule, today)


def find_name(job: Pay) -> str | None:
    """The bank's name of the standing order that a job is about."""
    if job.standing is None:
        return None
    return job.standing.key or f"DA{job.payment_id.hex[:14].upper()}"


def list_standing_orders(bank: Bank, owner: BookOwner, today: date) -> dict[str, tuple[StandingOrder, ...]]:
    """Per product key those that the bank will still execute."""
    found: dict[str, tuple[StandingOrder, ...]] = {}
    for action in find_active(bank.list_standing_order_actions(owner)):
        if not action.schedule.is_over(today):
            standing = StandingOrder(action.order, action.schedule, action.name)
            found[action.product_key] = (*found.get(action.product_key, ()), standing)
    return found


def find_active(actions: Sequence[StandingOrderAction]) -> list[StandingOrderAction]:
    """The newest action of each name, in the order in which the names were given, without what was deleted."""
    newest: dict[str, StandingOrderAction] = {}
    for action in actions:
        newest[action.name] = action
    return [action for action in newest.values() if action.kind is not StandingAction.DELETE]


def execute_due(bank: Bank, owner: BookOwner, person: Person, today: date) -> None:
    """Book every execution whose day has come. Each has an id of its own, so that it is booked once."""
    accounts = {account.product.key: account for account in person.accounts}
    for action, day in list_executions(bank.list_standing_order_actions(owner), today):
        account = accounts.get(action.product_key)
        payment_id = uuid5(_EXECUTIONS, f"{owner.key} {action.name} {day}")
        if account is None or bank.find_receipt(owner, payment_id) is not None:
            continue
        booked_on = move_to_banking_day(day, 1)
        standing = StandingInstruction(StandingAction.CREATE, action.schedule, action.name)
        job = Pay(payment_id, action.product_key, (action.order,), execution_date=booked_on, standing=standing)
        booked = replace(make_booked_order(job, account, booked_on), is_scheduled=False)
        bank.settle(owner, booked, _find_funds(account), today)


def list_executions(actions: Sequence[StandingOrderAction], today: date) -> list[tuple[StandingOrderAction, date]]:
    """What was to be paid until today: by each action from its day on, until the next action of its name.

    A day on which banks are closed is moved to the next one on which they work.
    """
    due = []
    for _, same in groupby(sorted(actions, key=lambda action: action.name), key=lambda action: action.name):
        versions = list(same)
        for action, following in zip(versions, [*versions[1:], None], strict=True):
            if action.kind is StandingAction.DELETE:
                continue
            end = date.max if following is None else following.valid_from
            for day in action.schedule.list_days():
                if day >= end or move_to_banking_day(day, 1) > today:
                    break
                if day >= action.valid_from:
                    due.append((action, day))
    return due


def _find_funds(account: Account) -> Decimal:
    product = account.product
    return (product.balance or Decimal(0)) + (product.overdraft_limit or Decimal(0))
