"""Standing orders: as they are ordered, and as they are listed."""

from collections.abc import Collection
from datetime import date
from typing import Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from kontor.domain.payments import Order
from kontor.domain.schedules import Period, Schedule, StandingAction
from kontor.domain.standing_orders import StandingState, StoredStandingOrder
from kontor.wire.payments import PERIODS, NewTransferDetails, TransferDetails, show_details
from kontor.wire.products import present
from kontor.wire.relations import Relation
from kontor.wire.urls import Urls


class NewStandingOrder(msgspec.Struct):
    transferDetails: NewTransferDetails  # noqa: N815
    period: PERIODS
    firstExecutionDate: date  # noqa: N815
    lastExecutionDate: date | None = None  # noqa: N815
    vopId: UUID | None = None  # noqa: N815

    def to_order(self) -> Order:
        return self.transferDetails.to_order("transferDetails")

    def to_schedule(self) -> Schedule:
        return Schedule(Period(self.period), self.firstExecutionDate, self.lastExecutionDate)


class StandingOrder(msgspec.Struct):
    id: UUID
    state: Literal["ACTIVE", "ENDED"]
    transferDetails: TransferDetails  # noqa: N815
    period: PERIODS
    firstExecutionDate: date  # noqa: N815
    relations: list[Relation]
    nextExecutionDate: date | UnsetType = UNSET  # noqa: N815
    lastExecutionDate: date | UnsetType = UNSET  # noqa: N815


def show_standing_order(
    stored: StoredStandingOrder, access_id: str, actions: Collection[StandingAction], today: date, urls: Urls
) -> StandingOrder:
    """`actions` are what the bank can do with standing orders of the product; with an ended one it can do nothing."""
    schedule, state = stored.standing.schedule, stored.find_state(today)
    is_active = state is StandingState.ACTIVE
    return StandingOrder(
        id=stored.id,
        state=state.value,
        transferDetails=show_details(stored.standing.order),
        period=schedule.period.value,
        firstExecutionDate=schedule.first,
        relations=urls.standing_order_relations(access_id, stored.product_id, stored.id, actions if is_active else ()),
        nextExecutionDate=present(schedule.find_next(today) if is_active else None),
        lastExecutionDate=present(schedule.last),
    )
