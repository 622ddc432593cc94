"""Alerts of a user: what holds today is compared with what is known (ADR 0064).

Workers look after a fetch and once a day; who asks gets what holds at this moment. Alerts and their causes are compared
under the user's lock, so that a cause makes one alert however many look at the same time.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from functools import partial
from uuid import UUID, uuid4

import structlog

from kontor.domain.alerts import EVENTS, MAX_OPEN, Alert, AlertKind, AlertStatus, Cause, check_step
from kontor.domain.clocks import BERLIN
from kontor.domain.errors import NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.services.alerts.causes import (
    find_access_causes,
    find_analysed,
    find_product_causes,
    name_question,
    read_analysed,
)
from kontor.services.analyses import Analyses
from kontor.services.runtime import Clock
from kontor.storage import accesses, alert_states, alerts, budgets, products, push_messages, users
from kontor.storage.alert_states import AlertState
from kontor.storage.alerts import KnownAlert
from kontor.storage.data_versions import lock_data, read_version
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts

log = structlog.get_logger(__name__)

ATTEMPTS = 3  # while others change the data; a later look sees what they did
LEASE = timedelta(minutes=5)
SPREAD_SECONDS = 4 * 3600  # after midnight, over which the looks of a day are spread


class Alerts:
    def __init__(self, database: Database, clock: Clock, analyses: Analyses) -> None:
        self._database = database
        self._clock = clock
        self._analyses = analyses

    # For users

    async def list_alerts(self, principal: Principal, status: AlertStatus | None, limit: int) -> list[Alert]:
        """Those of the last 90 days, as of now. From the first call on workers look for them, too."""
        user_id = user_of(principal)
        await self.evaluate_if_due(user_id)
        async with self._database.connect(user_id) as connection:
            return await alerts.list_alerts(connection, user_id, status, limit)

    async def read_alert(self, principal: Principal, alert_id: UUID) -> Alert:
        user_id = user_of(principal)
        async with self._database.connect(user_id) as connection:
            found = await alerts.find_alert(connection, user_id, alert_id)
        if found is None:
            raise NotFoundError
        return found

    @retry_conflicts
    async def set_status(self, principal: Principal, alert_id: UUID, status: AlertStatus) -> None:
        user_id = user_of(principal)
        async with self._database.transaction(user_id) as connection:
            found = await alerts.find_alert(connection, user_id, alert_id)
            if found is None:
                raise NotFoundError
            check_step(found.status, status)
            if status is not found.status:
                await alerts.set_status(connection, user_id, alert_id, status)

    # Looking

    async def evaluate_if_due(self, user_id: UUID) -> None:
        async with self._database.connect(user_id) as connection:
            state = await alert_states.find_state(connection, user_id)
            version = await read_version(connection, user_id)
            now = await self._clock.read(connection)
            if state is None:
                await alert_states.add_state(connection, user_id, now)
                state = AlertState(now, None, None)
        if state.due_at <= now or (state.data_version, state.checked_on) != (version, self._clock.today()):
            await self._look(user_id)

    async def evaluate_due_users(self) -> int:
        """What a worker does every few seconds; returns for how many users it has looked."""
        count = 0
        while True:
            async with self._database.transaction() as connection:
                claimed = await alert_states.claim_due(connection, await self._clock.read(connection), LEASE)
            if claimed is None:
                return count
            if await self._is_wanted(claimed):
                await self._look(claimed)
            count += 1

    async def _is_wanted(self, user_id: UUID) -> bool:
        """Nobody looks for a user who is deactivated; perhaps tomorrow."""
        async with self._database.transaction(user_id) as connection:
            is_active = await users.is_active(connection, user_id)
            if not is_active:
                next_at = find_next_evaluation(user_id, await self._clock.read(connection))
                await alert_states.mark_due(connection, user_id, next_at)
        return is_active

    async def _look(self, user_id: UUID) -> None:
        for _ in range(ATTEMPTS):
            async with self._database.connect(user_id) as connection:
                state = await alert_states.find_state(connection, user_id)
                version = await read_version(connection, user_id)
            if state is None:  # the user is gone
                return
            causes = await self._find_causes(user_id)
            if await self._store(user_id, AlertState(state.due_at, version, self._clock.today()), causes):
                return

    async def _find_causes(self, user_id: UUID) -> list[Cause]:
        async with self._database.connect(user_id) as connection:
            planned = await budgets.list_budgets(connection, user_id)
        answer = await self._analyses.answer_for(user_id, name_question(planned), partial(find_analysed, planned))
        async with self._database.snapshot(user_id) as connection:
            stored = await products.list_products(connection, user_id)
            held = await accesses.list_accesses(connection, user_id)
            analysed = await read_analysed(connection, user_id, answer, stored)
        found = find_access_causes(held, self._clock.today(), datetime.now(UTC))
        return [*found, *find_product_causes(stored), *analysed]

    @retry_conflicts
    async def _store(self, user_id: UUID, seen: AlertState, causes: Sequence[Cause]) -> bool:
        """False where something has changed, or somebody else has looked, since the causes were found."""
        async with self._database.transaction(user_id) as connection:
            if await lock_data(connection, user_id) != seen.data_version:
                return False
            if await alert_states.lock_due(connection, user_id) != seen.due_at:
                return False
            new = await _compare(connection, user_id, causes)
            await alerts.end_parts_removed(connection, user_id)
            next_at = find_next_evaluation(user_id, await self._clock.read(connection))
            await alert_states.finish_check(connection, user_id, replace(seen, due_at=next_at))
            log.debug("alerts.stored", new=new)
        return True


async def _compare(connection: Connection, user_id: UUID, causes: Sequence[Cause]) -> int:
    """Returns how many alerts are new. Beyond the most that may be open, none is made until some are done."""
    known = [alert for alert in await alerts.list_known(connection, user_id) if alert.cause.kind not in EVENTS]
    by_key = {_name(alert.cause): alert for alert in known}
    held = {_name(cause) for cause in causes}
    gone = [alert.id for alert in known if not alert.is_ended and _name(alert.cause) not in held]
    if gone:
        await alerts.end_alerts(connection, user_id, gone)
    counts = _count_open(known, gone)
    new = 0
    for cause in causes:
        alert = by_key.get(_name(cause))
        if alert is None and counts[cause.kind] < MAX_OPEN:
            alert_id = uuid4()
            await alerts.insert_alert(connection, user_id, alert_id, cause)
            await push_messages.insert_messages(connection, user_id, cause.kind, [alert_id])
            counts[cause.kind] += 1
            new += 1
        elif alert is not None and (alert.is_ended or alert.cause != cause):
            await alerts.renew_alert(connection, user_id, alert.id, cause)
    return new


def _count_open(known: Sequence[KnownAlert], gone: Sequence[UUID]) -> Counter[AlertKind]:
    return Counter(alert.cause.kind for alert in known if alert.is_open and alert.id not in gone)


def _name(cause: Cause) -> tuple[AlertKind, str, str]:
    return cause.kind, cause.object.id, cause.key


def find_next_evaluation(user_id: UUID, now: datetime) -> datetime:
    """On the next day, since some causes are days; users at different times."""
    tomorrow = now.astimezone(BERLIN).date() + timedelta(days=1)
    return datetime.combine(tomorrow, time(), BERLIN) + timedelta(seconds=user_id.int % SPREAD_SECONDS)
