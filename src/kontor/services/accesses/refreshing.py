"""Background refresh: who is due, whether the bank may be called for it, and what follows from how it went.

Any number of workers look at the same time; rows decide. A slot ends as exactly one row of `fetches`. A call without
the customer is written down in the transaction that lets it be made, so that it counts whatever happens afterwards.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from enum import Enum
from typing import TypeVar
from uuid import UUID

import structlog

from kontor.domain.refreshes import (
    GO,
    SLOT_SPACING,
    Outage,
    RefreshPause,
    SkipReason,
    Slot,
    Verdict,
    check_budget,
    check_busy,
    check_provider,
    find_free_at,
    find_next_slot,
    find_slot,
    list_missed,
    note_failure,
    note_try,
    plan_next,
)
from kontor.domain.webhooks import Event, EventType
from kontor.services.runtime import Clock
from kontor.services.webhooks import Events
from kontor.storage import fetches, outages, queue, refreshes
from kontor.storage.database import Connection, Database
from kontor.storage.fetches import Fetch, FetchState
from kontor.storage.leases import Lease
from kontor.storage.refreshes import CallFacts, DueAccess, NextRefresh, RowsLockedError, SlotRow

log = structlog.get_logger(__name__)
T = TypeVar("T")

BATCH = 200  # accesses per transaction
MOST_QUEUED = 400  # fetches that wait; more would only wait in another place
CALLS_KEPT = timedelta(days=7)
LOCKED_SECONDS, LOCKED_TRIES = 0.05, 200


class Start(Enum):
    """What a worker is to do with a fetch that it wants to begin."""

    CALL = "call"
    ASK_USER = "ask-user"
    WAIT = "wait"  # somebody else has its credentials by now
    NOTHING = "nothing"


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

    async def _schedule_batch(self) -> int:
        now = self._clock.now()
        async with self._database.transaction() as connection:
            due = await refreshes.list_due(connection, now, BATCH, MOST_QUEUED)
            if not due:
                return 0
            known = await outages.list_outages(connection, list({one.provider_id for one in due}))
            tried: set[UUID] = set()
            rows: list[SlotRow] = []
            next_refreshes = [_decide(one, known.get(one.provider_id), tried, rows, now) for one in due]
            queued = await refreshes.insert_slots(connection, rows)
            if queued:
                await queue.enqueue_refreshes(connection, queued)
            await refreshes.set_next_refreshes(connection, next_refreshes)
        skipped = len([one for one in rows if one.skip is not None])
        log.debug("refresh.scheduled", looked=len(due), queued=len(queued), skipped=skipped)
        return len(due)

    async def repair_schedule(self) -> int:
        """Give a time to every access that should have one: those of a former version, or after a change of clock."""
        now = self._clock.now()
        total = 0
        while True:
            async with self._database.transaction() as connection:
                await refreshes.clear_far_refreshes(connection, now + SLOT_SPACING * 2, BATCH)
                found = await refreshes.list_unscheduled(connection, BATCH)
                await refreshes.set_next_refreshes(connection, [_begin(one, access, now) for one, access in found])
            total += len(found)
            if len(found) < BATCH:
                return total

    async def warn_of_consents(self) -> int:
        """Tell tenants of consents that end soon, once for each."""
        total = 0
        while True:
            async with self._database.transaction() as connection:
                ending = await refreshes.claim_ending_consents(connection, self._clock.today(), BATCH)
                found = [Event(EventType.CONSENT_EXPIRING, one.user_id, one.access_id) for one in ending]
                await self._events.publish(connection, *found)
            total += len(ending)
            if len(ending) < BATCH:
                return total

    # Before a call

    async def start(self, fetch: Fetch, lease: Lease, *, can_call: bool) -> tuple[Start, Fetch]:
        """Take a fetch that waits, if it may be carried out now. A call is written down with the same commit.

        With the fetch as it is now: its user may have come meanwhile.
        """
        async with self._database.transaction() as connection:
            is_there = await refreshes.lock_for_call(connection, fetch.user_id, fetch.access_id)
            current = await fetches.find_fetch(connection, fetch.id)
            if not is_there or current is None or current.state is not FetchState.QUEUED:
                return Start.NOTHING, fetch
            return await self._start(connection, current, lease, can_call=can_call), current

    async def _start(self, connection: Connection, fetch: Fetch, lease: Lease, *, can_call: bool) -> Start:
        now = self._clock.now()
        facts = await refreshes.read_call_facts(connection, fetch.user_id, fetch.access_id, now)
        if not (facts.is_callable and can_call):
            await fetches.start_fetch(connection, fetch.id, lease)
            await fetches.finish_fetch(connection, fetch.id, FetchState.FAILED, "gone")
            return Start.NOTHING
        # Our date is a guess of what the bank wants. With the customer there the bank itself is asked.
        is_over = not fetch.is_attended and is_consent_over(facts.consent_until, self._clock.today())
        if not fetch.is_attended and not await self._admit(connection, fetch, facts, now, is_call=not is_over):
            return Start.NOTHING
        if fetch.is_attended or is_over:  # no call that counts for the budget
            is_ours = await fetches.start_fetch(connection, fetch.id, lease)
        else:
            is_ours = await fetches.start_call(connection, fetch.id, lease, now)
        if not is_ours:
            return Start.WAIT
        # Without consent the bank would only ask for SCA: no call is wasted on that.
        return Start.ASK_USER if is_over else Start.CALL

    async def _admit(
        self, connection: Connection, fetch: Fetch, facts: CallFacts, now: datetime, *, is_call: bool
    ) -> bool:
        """May this fetch go on without the customer? Otherwise it is left out, or comes back later in its window."""
        calls = facts.calls if is_call else []
        if fetch.slot_at is None:
            free_at = find_free_at(calls, now)
            if free_at is not None:
                await fetches.skip_fetch(connection, fetch.id, SkipReason.BUDGET)
                await self.hasten(connection, fetch.user_id, fetch.access_id, free_at - now)
            return free_at is None
        slot = Slot(fetch.user_id, fetch.access_id, fetch.slot_at)
        verdict = GO
        if not facts.is_refreshed:
            verdict = Verdict(skip=SkipReason.STOPPED)
        elif now >= slot.end:
            verdict = Verdict(skip=SkipReason.MISSED)
        elif is_call:
            verdict = check_budget(slot, calls, now)
            if verdict.is_go:
                verdict = await self._try_provider(connection, slot, facts, now)
        if verdict.skip is not None:
            await fetches.skip_fetch(connection, fetch.id, verdict.skip)
        elif verdict.retry_at is not None:
            await fetches.take_back(connection, fetch.id)
            await refreshes.postpone(connection, fetch.user_id, fetch.access_id, verdict.retry_at)
        return verdict.is_go

    @staticmethod
    async def _try_provider(connection: Connection, slot: Slot, facts: CallFacts, now: datetime) -> Verdict:
        """When a provider is down, whoever comes first after its pause finds out, and nobody else."""
        outage = await outages.lock_outage(connection, facts.provider_id) if facts.has_outage else None
        verdict = check_provider(slot, outage, now, is_tried=False)
        if outage is not None and outage.down_since is not None and verdict.is_go:
            await outages.store_outage(connection, note_try(outage, now))
        return verdict

    async def find_wait(self, connection: Connection, user_id: UUID, access_id: str) -> timedelta | None:
        """How long until another call without the customer may be made; None when it may be now."""
        now = self._clock.now()
        free_at = find_free_at(await refreshes.list_calls(connection, user_id, access_id, now), now)
        return None if free_at is None else free_at - now

    async def admit_lookup(self, user_id: UUID, access_id: str, payment_id: UUID) -> timedelta | None:
        """Write down a call without the customer that asks about a payment; how long to wait where it may not be made.

        An access that was deleted meanwhile has no budget left to keep.
        """
        async with self._database.transaction() as connection:
            if not await refreshes.lock_for_call(connection, user_id, access_id):
                return None
            wait = await self.find_wait(connection, user_id, access_id)
            if wait is None:
                await refreshes.record_call(connection, user_id, access_id, self._clock.now(), payment_id)
        return wait

    async def hasten(self, connection: Connection, user_id: UUID, access_id: str, wait: timedelta) -> None:
        """As soon as the budget allows; then, or at the next slot, the bank is called."""
        await refreshes.hasten(connection, user_id, access_id, self._clock.now() + wait)

    # After a call, and after changes

    async def reschedule(self, connection: Connection, user_id: UUID, access_id: str) -> None:
        """Whether and when an access is refreshed next, from what is known of it now."""
        now = self._clock.now()
        await refreshes.reschedule(connection, user_id, access_id, now, find_next_slot(user_id, access_id, now))

    async def resume(self, connection: Connection, user_id: UUID, access_id: str) -> None:
        """New credentials, or a consent: whatever stood in the way is gone."""
        await refreshes.resume(connection, user_id, access_id)
        await self.reschedule(connection, user_id, access_id)

    async def note_success(self, connection: Connection, fetch: Fetch) -> None:
        if fetch.slot_at is None:  # somebody asked for it, perhaps to see whether the credentials work again
            await refreshes.resume_equal_credentials(connection, fetch.user_id, fetch.access_id)
        await self.reschedule(connection, fetch.user_id, fetch.access_id)

    async def pause_for_sca(self, connection: Connection, user_id: UUID, access_id: str) -> None:
        await refreshes.pause(connection, user_id, access_id, RefreshPause.SCA)

    async def pause_credentials(self, connection: Connection, lease_key: bytes, user_id: UUID, access_id: str) -> None:
        """Raises RowsLockedError, see `retry_when_locked`."""
        await refreshes.pause_equal_credentials(connection, lease_key, user_id, access_id)

    async def note_answer(self, connection: Connection, provider_id: UUID, *, is_up: bool) -> None:
        """Did the provider answer at all? Last in a transaction, since many fetches share this row."""
        if is_up:
            await outages.delete_outage(connection, provider_id)
            return
        now = self._clock.now()
        outage = await outages.lock_failures(connection, provider_id, Outage(provider_id, 0, None, now))
        noted = note_failure(outage, now)
        if noted == outage:
            return
        await outages.store_outage(connection, noted)
        if noted.down_since is not None:
            log.warning("provider.down", provider=str(provider_id), failures=noted.failures)

    async def stop_user(self, connection: Connection, user_id: UUID) -> None:
        await refreshes.stop_user(connection, user_id)

    async def resume_user(self, connection: Connection, user_id: UUID) -> None:
        now = self._clock.now()
        while found := await refreshes.list_unscheduled(connection, BATCH, user_id):
            await refreshes.set_next_refreshes(connection, [_begin(one, access, now) for one, access in found])

    async def forget_old_calls(self, connection: Connection, batch: int) -> int:
        return await refreshes.delete_old_calls(connection, self._clock.now() - CALLS_KEPT, batch)


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
    rows += [SlotRow(user_id, access_id, one, skip=SkipReason.MISSED) for one in missed]
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


def is_consent_over(consent_until: date | None, today: date) -> bool:
    return consent_until is not None and consent_until < today


async def retry_when_locked(store: Callable[[], Awaitable[T]]) -> T:
    """Store again from the beginning while somebody else holds one of the rows."""
    for _ in range(LOCKED_TRIES):
        try:
            return await store()
        except RowsLockedError:
            await asyncio.sleep(LOCKED_SECONDS)
    return await store()
