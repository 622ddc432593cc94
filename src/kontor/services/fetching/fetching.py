"""Fetching from a bank, in the background: under a lease, step by step, stored in short transactions.

No transaction is open while the bank is called. A first fetch shows its header data as soon as it is known; a refresh
stores everything at its end or nothing at all, so a failed one leaves the stored data as it was.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from enum import Enum
from uuid import UUID

import structlog

from kontor.connectors.base import Context, Continue, Done, Failed, FailureKind, Progress, Step
from kontor.connectors.base import Fetch as FetchJob
from kontor.domain.accesses import Access, AccessStatus
from kontor.domain.clocks import BERLIN
from kontor.domain.errors import BusyError, DeadlineExceededError, TooLargeError
from kontor.services.banks import BankDialogue, BankGateway, HeldLease, Leasing, Prepared, Start
from kontor.services.fetching.account_statements import find_wanted_statements
from kontor.services.fetching.results import FetchContinuation, FetchResults, FinishedFetch, LeaseLostError
from kontor.services.runtime import Clock, correlation_id
from kontor.services.security import UserEncryption
from kontor.storage import fetches, queue, transactions
from kontor.storage.database import Database
from kontor.storage.fetches import Fetch
from kontor.storage.leases import Lease

log = structlog.get_logger(__name__)

OVERLAP_DAYS = 30
PROVIDER_REFRESHES = 8  # of one worker at a time: a bank that does not answer takes no places from the others


class Outcome(Enum):
    """What is not finished is to be run again later, by whichever worker.

    `CROWDED`: this worker has enough refreshes of the same provider. `HANDED_BACK`: it stops, and another one goes on.
    """

    FINISHED = "finished"
    BUSY = "the credentials are in use"
    CROWDED = "the provider is busy"
    HANDED_BACK = "the worker stops"


class ProviderLimitError(Exception):
    """As many refreshes of this provider are at work as a worker takes."""


class Fetching:
    def __init__(
        self,
        database: Database,
        gateway: BankGateway,
        user_encryption: UserEncryption,
        clock: Clock,
        results: FetchResults,
    ) -> None:
        self._database = database
        self._gateway = gateway
        self._user_encryption = user_encryption
        self._clock = clock
        self._results = results
        self._leasing = Leasing(database)
        self._is_stopping = False
        self._refreshes: Counter[UUID] = Counter()  # at work, by provider

    def stop(self) -> None:
        """No fetch begins any more, and those at work are handed back when the bank has answered the present step.

        One that is cancelled before that is not repeated without the customer, who would be counted two calls.
        """
        self._is_stopping = True

    async def run(self, fetch_id: UUID) -> Outcome:
        """Carry out a fetch, if it is still to be done and its credentials are free."""
        if self._is_stopping:
            return Outcome.HANDED_BACK
        async with self._database.connect() as connection:
            found = await fetches.take_fetch(connection, fetch_id, self._leasing.holder)
        if found is None:
            return Outcome.FINISHED
        fetch, lease = found
        if not fetch.state.is_open or fetch.lease_key is None:
            return Outcome.FINISHED
        correlation_id.set(fetch.correlation_id)
        if lease is None:
            return Outcome.BUSY
        try:
            async with self._leasing.keep(lease) as held:
                step = await self._run_with_lease(fetch, held)
                held.is_released = isinstance(step, Done)
        except LeaseLostError:
            log.warning("fetch.lease-lost", fetch=str(fetch.id))
        except BusyError:
            return Outcome.BUSY
        except ProviderLimitError:
            return Outcome.CROWDED
        else:
            return Outcome.HANDED_BACK if isinstance(step, Progress) else Outcome.FINISHED
        return Outcome.FINISHED

    async def take_over_abandoned(self) -> int:
        """Fetches whose worker died go back to the queue; after some attempts they end as interrupted.

        One of background refresh is never repeated once the bank may have been called: the call counts.
        """
        async with self._database.transaction() as connection:
            found = await fetches.list_abandoned(connection)
            if not found:
                return 0
            given_up = [
                fetch
                for fetch in found
                if fetch.is_called and (fetch.is_for_slot or fetch.attempts >= fetches.MAX_ATTEMPTS)
            ]
            again = [fetch for fetch in found if fetch not in given_up]
            await fetches.interrupt_fetches(connection, [fetch.id for fetch in given_up])
            await queue.remove_fetch_jobs(connection, [fetch.id for fetch in given_up])
            await fetches.put_back(connection, [fetch.id for fetch in again])
            asked_for = [fetch.id for fetch in again if not fetch.is_for_slot]
            await queue.requeue_fetches(connection, asked_for, [fetch.id for fetch in again if fetch.is_for_slot])
        for fetch in given_up:  # apart, since others lock the access first and then its fetch
            # A worker that was stopped or died during a refresh is nobody's error: the next slot makes up for it.
            if not fetch.is_for_slot or fetch.is_repeated:
                await self._results.note_interrupted(fetch.user_id, fetch.access_id)
        log.warning("fetch.abandoned", count=len(found), interrupted=len(given_up))
        return len(found)

    # Parts

    async def _run_with_lease(self, fetch: Fetch, held: HeldLease) -> Step | None:
        """How it ended: after `Done` the lease is released, after `Progress` the fetch is handed back.

        None where the bank was not called.
        """
        lease = held.lease
        context = Context(self._clock.today(), self._user_encryption.name_customer(fetch.user_id))
        try:
            prepared = await self._gateway.prepare(fetch.user_id, fetch.access_id, context)
            job = FetchJob() if prepared is None else await self._plan_job(fetch, prepared.access)
        except Exception:
            # As an attempt, which cannot be made for ever.
            async with self._database.connect(fetch.user_id) as connection:
                await fetches.start_fetch(connection, fetch.id, lease)
            raise
        with self._take_place(fetch, prepared):
            return await self._run_prepared(fetch, prepared, job, held)

    @contextmanager
    def _take_place(self, fetch: Fetch, prepared: Prepared | None) -> Iterator[None]:
        """Of those that a worker has for refreshes of one provider. What somebody asked for needs none."""
        if prepared is None or fetch.slot_at is None or fetch.is_attended:
            yield
            return
        provider_id = prepared.provider.id
        if self._refreshes[provider_id] >= PROVIDER_REFRESHES:
            raise ProviderLimitError
        self._refreshes[provider_id] += 1
        try:
            yield
        finally:
            self._refreshes[provider_id] -= 1

    async def _run_prepared(
        self, fetch: Fetch, prepared: Prepared | None, job: FetchJob, held: HeldLease
    ) -> Step | None:
        lease = held.lease
        # Everything is at hand, so that the bank is called in the moment that is written down.
        started = await self._gateway.admissions.start_fetch(fetch, held, can_call=prepared is not None)
        fetch = started.fetch
        if started.start is Start.WAIT:
            raise BusyError("Another operation is using these credentials.")
        if prepared is not None and started.start is Start.ASK_USER:
            await self._results.store_sca_needed(fetch, prepared.access, lease, was_called=False)
        if prepared is None or started.permit is None:
            return None
        if fetch.all_history:
            job = replace(job, since={})
        began = time.monotonic()
        bank = self._gateway.open(prepared, started.permit, stores_refusals=False)
        try:
            step = await self._talk(fetch, prepared, bank, job, lease)
        except asyncio.CancelledError:
            if self._is_stopping and not fetch.is_attended and fetch.slot_at is None:
                await self._results.interrupt(fetch, lease)
            raise
        log.info(
            "fetch.finished",
            provider=prepared.provider.name,
            outcome=type(step).__name__,
            seconds=round(time.monotonic() - began, 3),
        )
        return step

    async def _plan_job(self, fetch: Fetch, access: Access) -> FetchJob:
        """With all history everything is asked for again; else from some weeks before the newest booking on.

        A file may have brought newer bookings than the bank has told: what lies between is still to be fetched.
        """
        since: dict[str, date] = {}
        async with self._database.connect(fetch.user_id) as connection:
            stored = await transactions.list_newest_days(connection, fetch.user_id, access.id)
            statements = await find_wanted_statements(connection, fetch.user_id, access)
        if not fetch.all_history:
            overlap = timedelta(days=OVERLAP_DAYS)
            fetched_on = access.updated_at.astimezone(BERLIN).date()
            since = {key: min(newest, fetched_on) - overlap for _, key, newest in stored if newest is not None}
        selected = None
        if access.selected_products is not None:
            keys = {product_id: key for product_id, key, _ in stored}
            if keys and all(product_id in keys for product_id in access.selected_products):
                selected = tuple(keys[product_id] for product_id in access.selected_products)
        return FetchJob(selected=selected, since=since, history=access.history, statements=statements)

    async def _talk(self, fetch: Fetch, prepared: Prepared, bank: BankDialogue, job: FetchJob, lease: Lease) -> Step:
        """Step by step until the bank is done, refuses, or needs the user; or until this worker is to stop."""
        access = prepared.access
        started = time.monotonic()
        headers = None
        if fetch.resume_state is None:
            step = await bank.begin(job)
        else:
            rest = await self._results.open_continuation(fetch)
            headers = rest.headers
            job = replace(job, since=rest.since)
            step = await bank.resume(rest.state, Continue())
        while isinstance(step, Progress):
            headers = step.partial
            if access.status is not AccessStatus.COMPLETE:
                await self._results.store_headers(fetch, headers, lease)
                headers = None
            else:
                await self._results.check_wanted(fetch, lease)
            if self._is_stopping:
                await self._results.hand_back(fetch, lease, FetchContinuation(step.state, headers, dict(job.since)))
                return step
            step = await bank.resume(step.state, Continue())
        seconds = time.monotonic() - started
        if isinstance(step, Done):
            try:
                await self._results.store_done(FinishedFetch(fetch, lease, headers, step, job.since, seconds))
            except (DeadlineExceededError, TooLargeError) as error:
                # The bank would send the same again: another attempt would only be another call.
                log.warning("fetch.compute-failed", fetch=str(fetch.id), reason=str(error))
                step = Failed(FailureKind.INTERNAL, str(error))
        if isinstance(step, Done):
            return step
        if isinstance(step, Failed):
            await self._results.store_failure(fetch, access, step, lease, seconds if step.was_called else None)
        else:
            await self._results.store_sca_needed(fetch, access, lease, was_called=True)
        return step
