"""What budgets and savings goals share."""

from collections.abc import Iterable
from typing import Protocol, TypeVar
from uuid import UUID

from kontor.domain.errors import NotFoundError
from kontor.domain.principals import Principal
from kontor.services.security import auditing
from kontor.storage.database import Connection


class Plan(Protocol):
    @property
    def id(self) -> UUID: ...


P = TypeVar("P", bound=Plan)


def find_plan(plans: Iterable[P], plan_id: UUID) -> P:
    plan = next((plan for plan in plans if plan.id == plan_id), None)
    if plan is None:
        raise NotFoundError
    return plan


async def record_change(connection: Connection, principal: Principal, kind: str, change: str, plan_id: UUID) -> None:
    """An audit entry, such as `budget.add`."""
    subject = f"user {principal.user_pseudonym} {kind} {plan_id}"
    await auditing.record(connection, principal.tenant_id, auditing.name_actor(principal), f"{kind}.{change}", subject)
