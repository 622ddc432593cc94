"""Admission to a bank: who asks, whether the bank may be called now, and the record of the call.

A call without the customer is written down in the transaction that permits it, so that it counts whatever happens
afterwards: four in 24 hours, none while the bank wants the customer to authenticate or has refused the credentials,
none of a provider that is down until its pause is over.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from uuid import UUID

import structlog

from kontor.connectors.base import FailureKind
from kontor.domain.accesses import Notice, NoticeKind
from kontor.domain.consents import is_consent_over
from kontor.domain.refreshes import (
    GO,
    Outage,
    RefreshPause,
    SkipReason,
    Slot,
    Verdict,
    check_budget,
    check_provider,
    find_free_at,
    note_failure,
    note_try,
)
from kontor.services.banks.leasing import HeldLease
from kontor.services.runtime import Clock
from kontor.storage import accesses, fetches, outages, refreshes
from kontor.storage.database import Connection, Database
from kontor.storage.fetches import Fetch, FetchState
from kontor.storage.refreshes import CallFacts, RowsLockedError
from kontor.storage.retries import retry_conflicts, retry_when_locked

log = structlog.get_logger(__name__)

# With these the bank counts attempts: sending the same credentials again would lead to a lock.
REFUSALS = {
    FailureKind.WRONG_CREDENTIALS: NoticeKind.WRONG_CREDENTIALS,
    FailureKind.LOCKED: NoticeKind.LOCKED,
    FailureKind.INCOMPLETE_CREDENTIALS: NoticeKind.INCOMPLETE_CREDENTIALS,
}
PAUSED_LOOKUP = timedelta(days=1)  # until a paused access is looked at again


class Start(Enum):
    """What a worker is to do with a fetch that it wants to begin."""

    CALL = "call"
    ASK_USER = "ask-user"
    WAIT = "wait"  # somebody else has its credentials by now
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Permit:
    """Permission to call a bank under a lease. Only this module makes one (`tests/test_rules.py`)."""

    held: HeldLease
    is_attended: bool


@dataclass(frozen=True, slots=True)
class StoredLogin:
    """The credentials of an access, as they were when a dialogue began."""

    user_id: UUID
    access_id: str
    lease_key: bytes
    digest: bytes | None


@dataclass(frozen=True, slots=True)
class StartedFetch:
    """`fetch` as it is now: its user may have come meanwhile. `permit` where the bank is to be called."""

    start: Start
    fetch: Fetch
    permit: Permit | None = None


class Admissions:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @staticmethod
    def admit_customer(held: HeldLease) -> Permit:
        """The customer is present: the bank itself is asked, whatever we believe about the consent."""
        return Permit(held, is_attended=True)

    @staticmethod
    def admit_end(held: HeldLease) -> Permit:
        """A call that ends a consent and reads nothing: it counts in no budget."""
        return Permit(held, is_attended=True)

    @retry_conflicts
    async def admit_lookup(
        self, held: HeldLease, user_id: UUID, access_id: str | None, payment_id: UUID
    ) -> Permit | timedelta:
        """A call without the customer that asks about a payment; how long to wait where it may not be made.

        Credentials that were given for one payment alone have no budget but the pauses between its own look-ups. An
        access that was deleted meanwhile has none either.
        """
        permit = Permit(held, is_attended=False)
        if access_id is None:
            return permit
        async with self._database.transaction(user_id) as connection:
            if not await refreshes.lock_for_call(connection, user_id, access_id):
                return permit
            now = await self._clock.read(connection)
            facts = await refreshes.read_call_facts(connection, user_id, access_id, now)
            if facts.pause is not None:
                return PAUSED_LOOKUP
            free_at = find_free_at(facts.calls, now)
            if free_at is not None:
                return free_at - now
            await refreshes.record_call(connection, user_id, access_id, now, payment_id)
        return permit

    @retry_conflicts
    async def start_fetch(self, fetch: Fetch, held: HeldLease, *, can_call: bool) -> StartedFetch:
        """Take a fetch that waits, if it may be carried out now. A call is written down with the same commit."""
        async with self._database.transaction(fetch.user_id) as connection:
            is_there = await refreshes.lock_for_call(connection, fetch.user_id, fetch.access_id)
            current = await fetches.find_fetch(connection, fetch.id)
            if not is_there or current is None or current.state is not FetchState.QUEUED:
                return StartedFetch(Start.NOTHING, fetch)
            start = await self._start(connection, current, held, can_call=can_call)
        permit = Permit(held, current.is_attended) if start is Start.CALL else None
        return StartedFetch(start, current, permit)

    async def find_wait(self, connection: Connection, user_id: UUID, access_id: str) -> timedelta | None:
        """How long until another call without the customer may be made; None when it may be now."""
        now = await self._clock.read(connection)
        free_at = find_free_at(await refreshes.list_calls(connection, user_id, access_id, now), now)
        return None if free_at is None else free_at - now

    async def advance_refresh(self, connection: Connection, user_id: UUID, access_id: str, wait: timedelta) -> None:
        """As soon as the budget allows; then, or at the next slot, the bank is called."""
        now = await self._clock.read(connection)
        await refreshes.advance_refresh(connection, user_id, access_id, now + wait)

    async def note_answer(self, connection: Connection, provider_id: UUID, *, is_up: bool) -> None:
        """Did the provider answer at all? Last in a transaction, since many fetches share this row."""
        if is_up:
            await outages.delete_outage(connection, provider_id)
            return
        now = await self._clock.read(connection)
        outage = await outages.lock_failures(connection, provider_id, Outage(provider_id, 0, None, now))
        noted = note_failure(outage, now)
        if noted == outage:
            return
        await outages.store_outage(connection, noted)
        if noted.down_since is not None:
            log.warning("provider.down", provider=str(provider_id), failures=noted.failures)

    async def note_refusal(self, login: StoredLogin, failure: FailureKind) -> None:
        """Where the bank has refused stored credentials, nobody sends them again before the customer has entered some.

        The access says why, as after a fetch. Credentials that were entered meanwhile were not refused.
        """
        if failure not in REFUSALS:
            return
        try:
            await retry_when_locked(lambda: self._store_refusal(login, Notice(REFUSALS[failure])))
        except RowsLockedError:
            log.warning("credentials.not-paused", access=login.access_id)

    @retry_conflicts
    async def _store_refusal(self, login: StoredLogin, notice: Notice) -> None:
        async with self._database.transaction(login.user_id) as connection:
            await accesses.lock_access(connection, login.user_id, login.access_id)
            secrets = await accesses.find_secrets(connection, login.user_id, login.access_id)
            if secrets is None or (secrets.lease_key, secrets.credentials_digest) != (login.lease_key, login.digest):
                return
            await accesses.store_notices(connection, login.user_id, login.access_id, [notice], [notice])
            await refreshes.pause_equal_credentials(connection, login.lease_key, login.user_id, login.access_id)

    # Parts

    async def _start(self, connection: Connection, fetch: Fetch, held: HeldLease, *, can_call: bool) -> Start:
        now, lease = await self._clock.read(connection), held.lease
        facts = await refreshes.read_call_facts(connection, fetch.user_id, fetch.access_id, now)
        if not (facts.is_callable and can_call):
            await fetches.start_fetch(connection, fetch.id, lease)
            await fetches.finish_fetch(connection, fetch.id, FetchState.FAILED, "gone")
            return Start.NOTHING
        needs_customer = not fetch.is_attended and self._needs_customer(facts)
        is_refused = facts.pause is RefreshPause.CREDENTIALS  # the gateway answers without a call
        is_handed_back = fetch.resume_state is not None  # in the middle of a call that is written down
        is_call = not (fetch.is_attended or needs_customer or is_refused or is_handed_back)
        if not fetch.is_attended and not await self._admit(connection, fetch, facts, now, is_call=is_call):
            return Start.NOTHING
        if is_call:
            is_ours = await fetches.start_call(connection, fetch.id, lease, now)
        else:
            is_ours = await fetches.start_fetch(connection, fetch.id, lease)
        if not is_ours:
            return Start.WAIT
        # Without consent the bank would only ask for SCA: no call is wasted on that.
        return Start.ASK_USER if needs_customer else Start.CALL

    def _needs_customer(self, facts: CallFacts) -> bool:
        return facts.pause is RefreshPause.SCA or is_consent_over(facts.consent_until, self._clock.today())

    async def _admit(
        self, connection: Connection, fetch: Fetch, facts: CallFacts, now: datetime, *, is_call: bool
    ) -> bool:
        """May this fetch go on without the customer? Otherwise it is left out, or comes back later in its window."""
        calls = facts.calls if is_call else []
        if fetch.slot_at is None:
            free_at = find_free_at(calls, now)
            if free_at is not None:
                await fetches.skip_fetch(connection, fetch.id, SkipReason.BUDGET)
                await self.advance_refresh(connection, fetch.user_id, fetch.access_id, free_at - now)
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
