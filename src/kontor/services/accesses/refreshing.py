"""Background refresh: which accesses are due, and what follows from how a fetch went.

Any number of workers look at the same time; rows decide. A slot ends as exactly one row of `fetches`. Whether the bank
may be called is decided directly before the call, in `services/banks/admission.py`.
"""

from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

import structlog

from kontor.domain.refreshes import (
    SLOT_SPACING,
    Outage,
    RefreshPause,
    SkipReason,
    Slot,
    check_budget,
    check_busy,
    check_provider,
    find_next_slot,
    find_slot,
    list_missed,
    plan_next,
)
from kontor.domain.webhooks import Event, EventType
from kontor.services.runtime import Clock
from kontor.services.webhooks import Events
from kontor.storage import operator_pauses, outages, queue, refreshes
from kontor.storage.database import Connection, Database
from kontor.storage.fetches import Fetch
from kontor.storage.refreshes import DueAccess, NextRefresh, SlotRow
from kontor.storage.retries import retry_conflicts

log = structlog.get_logger(__name__)
T = TypeVar("T")

BATCH = 200  # accesses per transaction
MAX_QUEUED = 400  # fetches that wait; more would only wait in another place
CALLS_KEPT = timedelta(days=7)


class Refreshing:
    def __init__(self, database: Database, clock: Clock, events: Events) -> None:
        self._database = database
        self._clock = clock
        self._events = events

    # Looking

    async def schedule_due(self) -> int:
        """Look at every access whose time has come; returns how many there were."""
        total = 0
        while True:
            found = await self._schedule_batch()
            total += found
            if found < BATCH:
                return total

    @retry_conflicts
    async def _schedule_batch(self) -> int:
        async with self._database.transaction() as connection:
            now = await self._clock.read(connection)
            due = await refreshes.list_due(connection, now, BATCH, MAX_QUEUED)
            if not due:
                return 0
            known = await outages.list_outages(connection, list({access.provider_id for access in due}))
            tried: set[UUID] = set()
            rows: list[SlotRow] = []
            next_refreshes = [_decide(access, known.get(access.provider_id), tried, rows, now) for access in due]
            queued = await refreshes.insert_slots(connection, rows)
            if queued:
                await queue.enqueue_refreshes(connection, queued)
            await refreshes.set_next_refreshes(connection, next_refreshes)
        skipped = len([row for row in rows if row.skip is not None])
        log.debug("refresh.scheduled", looked=len(due), queued=len(queued), skipped=skipped)
        return len(due)

    async def repair_schedule(self) -> int:
        """Give a time to every access that should have one: those of a former version, or after a change of clock."""
        total = 0
        while True:
            async with self._database.transaction() as connection:
                now = await self._clock.read(connection)
                await refreshes.clear_far_refreshes(connection, now + SLOT_SPACING * 2, BATCH)
                found = await refreshes.list_unscheduled(connection, BATCH)
                await refreshes.set_next_refreshes(
                    connection, [_begin(user_id, access, now) for user_id, access in found]
                )
            total += len(found)
            if len(found) < BATCH:
                return total

    async def warn_of_consents(self) -> int:
        """Tell tenants of consents that end soon, once for each."""
        total = 0
        while True:
            async with self._database.transaction() as connection:
                ending = await refreshes.claim_ending_consents(connection, self._clock.today(), BATCH)
                found = [Event(EventType.CONSENT_EXPIRING, consent.user_id, consent.access_id) for consent in ending]
                await self._events.publish(connection, *found)
            total += len(ending)
            if len(ending) < BATCH:
                return total

    # After a call, and after changes

    async def reschedule(self, connection: Connection, user_id: UUID, access_id: str) -> None:
        """Whether and when an access is refreshed next, from what is known of it now."""
        now = await self._clock.read(connection)
        await refreshes.reschedule(connection, user_id, access_id, now, find_next_slot(user_id, access_id, now))

    async def resume(self, connection: Connection, user_id: UUID, access_id: str) -> None:
        """New credentials, or a consent: whatever stood in the way is gone."""
        await refreshes.resume(connection, user_id, access_id)
        await self.reschedule(connection, user_id, access_id)

    async def accept_credentials(self, connection: Connection, user_id: UUID, access_id: str) -> bool:
        """The customer has entered the same credentials again. True where the bank had refused them: it is asked."""
        was_refused = await refreshes.resume(connection, user_id, access_id, [RefreshPause.CREDENTIALS])
        if was_refused:
            await self.reschedule(connection, user_id, access_id)
        return was_refused

    async def note_success(self, connection: Connection, fetch: Fetch) -> None:
        if fetch.slot_at is None:  # somebody asked for it, perhaps to see whether the credentials work again
            await refreshes.resume_equal_credentials(connection, fetch.user_id, fetch.access_id)
        await self.reschedule(connection, fetch.user_id, fetch.access_id)

    async def pause_for_sca(self, connection: Connection, user_id: UUID, access_id: str) -> None:
        await refreshes.pause(connection, user_id, access_id, RefreshPause.SCA)

    async def pause_credentials(self, connection: Connection, lease_key: bytes, user_id: UUID, access_id: str) -> None:
        """Raises RowsLockedError, see `retry_when_locked`."""
        await refreshes.pause_equal_credentials(connection, lease_key, user_id, access_id)

    async def pause_by_operator(self, connection: Connection, user_id: UUID, access_id: str) -> bool:
        """A fetch of background refresh that waits is left out, too. False when it was paused already."""
        now = await self._clock.read(connection)
        return await operator_pauses.pause_by_operator(connection, user_id, access_id, now)

    async def resume_by_operator(self, connection: Connection, user_id: UUID, access_id: str) -> bool:
        """What the bank said meanwhile still holds. False when no operator had paused it."""
        was_paused = await operator_pauses.resume_by_operator(connection, user_id, access_id)
        if was_paused:
            await self.reschedule(connection, user_id, access_id)
        return was_paused

    async def stop_user(self, connection: Connection, user_id: UUID) -> None:
        await refreshes.stop_user(connection, user_id)

    async def resume_user(self, connection: Connection, user_id: UUID) -> None:
        now = await self._clock.read(connection)
        while found := await refreshes.list_unscheduled(connection, BATCH, user_id):
            await refreshes.set_next_refreshes(connection, [_begin(user_id, access, now) for user_id, access in found])

    async def forget_old_calls(self, connection: Connection, batch: int) -> int:
        before = await self._clock.read(connection) - CALLS_KEPT
        return await refreshes.delete_old_calls(connection, before, batch)


def _begin(user_id: UUID, access_id: str, now: datetime) -> NextRefresh:
    return NextRefresh(user_id, access_id, find_next_slot(user_id, access_id, now), now)


def _decide(due: DueAccess, outage: Outage | None, tried: set[UUID], rows: list[SlotRow], now: datetime) -> NextRefresh:
    """Decide about one access: what is written down goes to `rows`, providers that are tried now to `tried`."""
    user_id, access_id = due.user_id, due.access_id
    if not due.is_refreshed:
        return NextRefresh(user_id, access_id, None)
    if due.scheduled_since is None:
        return _begin(user_id, access_id, now)
    slot = Slot(user_id, access_id, find_slot(user_id, access_id, now))
    since = due.scheduled_since if due.last_slot is None else max(due.scheduled_since, due.last_slot)
    missed = list_missed(slot.at, since)
    rows += [SlotRow(user_id, access_id, slot_at, skip=SkipReason.MISSED) for slot_at in missed]
    if due.last_slot is not None and due.last_slot >= slot.at:
        return NextRefresh(user_id, access_id, slot.end)
    verdict = check_busy(slot, now) if due.is_busy else check_budget(slot, due.calls, now)
    if verdict.is_go:
        verdict = check_provider(slot, outage, now, is_tried=due.provider_id in tried)
    if verdict.retry_at is not None:
        return NextRefresh(user_id, access_id, verdict.retry_at)
    rows.append(SlotRow(user_id, access_id, slot.at, due.lease_key, verdict.skip))
    if verdict.is_go and outage is not None and outage.down_since is not None:
        tried.add(due.provider_id)
    return NextRefresh(user_id, access_id, slot.end if verdict.skip else plan_next(slot, due.calls, now))
