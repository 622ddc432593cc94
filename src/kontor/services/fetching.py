"""Fetching from a bank, in the background: under a lease, step by step, stored in short transactions.

No transaction is open while the bank is called. A first fetch shows its header data as soon as it is known; a refresh
stores everything at its end or nothing at all, so a failed one leaves the stored data as it was.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from uuid import UUID, uuid4

import structlog

from kontor.connectors.base import (
    Connector,
    Context,
    Continue,
    Credentials,
    Done,
    Failed,
    FailureKind,
    Progress,
    State,
    Step,
)
from kontor.connectors.base import Fetch as FetchJob
from kontor.connectors.registry import Registry
from kontor.domain.accesses import Access, AccessStatus
from kontor.domain.providers import Provider
from kontor.services.clock import Clock
from kontor.services.correlation import correlation_id
from kontor.services.fetch_results import FetchResults, LeaseLostError
from kontor.services.providers import Providers
from kontor.services.vault import Vault
from kontor.storage import accesses, fetches, leases, products, queue, transactions, users
from kontor.storage.database import Connection, Database
from kontor.storage.fetches import Fetch
from kontor.storage.leases import HEARTBEAT_SECONDS, Lease

log = structlog.get_logger(__name__)

OVERLAP_DAYS = 30


class Outcome(Enum):
    FINISHED = "finished"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Dialogue:
    """All that is needed to talk to a bank for one fetch."""

    fetch: Fetch
    access: Access
    provider: Provider
    connector: Connector | None
    credentials: Credentials
    memory: State | None
    job: FetchJob
    context: Context


class Fetching:
    def __init__(
        self,
        database: Database,
        providers: Providers,
        registry: Registry,
        vault: Vault,
        clock: Clock,
        results: FetchResults,
    ) -> None:
        self._database = database
        self._providers = providers
        self._registry = registry
        self._vault = vault
        self._clock = clock
        self._results = results
        self._holder = uuid4()

    async def run(self, fetch_id: UUID) -> Outcome:
        """Carry out a fetch, if it is still to be done and its credentials are free."""
        async with self._database.connect() as connection:
            fetch = await fetches.find_fetch(connection, fetch_id)
            if fetch is None or not fetch.state.is_open or fetch.lease_key is None:
                return Outcome.FINISHED
            correlation_id.set(fetch.correlation_id)
            lease = await leases.take_lease(connection, fetch.lease_key, self._holder)
        if lease is None:
            return Outcome.BUSY
        try:
            async with self._heartbeat(lease):
                await self._run_with_lease(fetch, lease)
        except LeaseLostError:
            log.warning("fetch.lease-lost", fetch=str(fetch.id))
        finally:
            async with self._database.connect() as connection:
                await leases.release_lease(connection, lease)
        return Outcome.FINISHED

    async def take_over_abandoned(self) -> int:
        """Fetches whose worker died go back to the queue; after some attempts they end as interrupted."""
        async with self._database.transaction() as connection:
            found = await fetches.list_abandoned(connection)
            for fetch_id, attempts in found:
                if attempts >= fetches.MAX_ATTEMPTS:
                    await fetches.interrupt_fetch(connection, fetch_id)
                    continue
                await fetches.put_back(connection, fetch_id)
                await queue.requeue_fetch(connection, fetch_id)
        if found:
            log.warning("fetch.abandoned", count=len(found))
        return len(found)

    # Parts

    async def _run_with_lease(self, fetch: Fetch, lease: Lease) -> None:
        async with self._database.transaction() as connection:
            if not await fetches.start_fetch(connection, fetch.id, lease):
                return
            dialogue = await self._prepare(connection, fetch)
        if dialogue is None:
            async with self._database.transaction() as connection:
                await fetches.finish_fetch(connection, fetch.id, fetches.FetchState.FAILED, "gone")
            return
        started = time.monotonic()
        step = await self._talk(dialogue, lease)
        log.info(
            "fetch.finished",
            provider=dialogue.provider.name,
            outcome=type(step).__name__,
            seconds=round(time.monotonic() - started, 3),
        )

    async def _prepare(self, connection: Connection, fetch: Fetch) -> Dialogue | None:
        """None when there is nobody left to fetch for."""
        access = await accesses.find_access(connection, fetch.user_id, fetch.access_id)
        secrets = await accesses.find_secrets(connection, fetch.user_id, fetch.access_id)
        is_active = await users.is_active(connection, fetch.user_id)
        if access is None or secrets is None or secrets.credentials is None or not is_active:
            return None
        provider = self._providers.find(access.provider_id)
        if provider is None:
            return None
        unseal = self._vault.unseal
        return Dialogue(
            fetch=fetch,
            access=access,
            provider=provider,
            connector=self._registry.find(provider),
            credentials=await self._vault.unseal_credentials(connection, fetch.user_id, access.id, secrets.credentials),
            memory=None
            if secrets.memory is None
            else await unseal(connection, fetch.user_id, access.id, "memory", secrets.memory),
            job=await self._plan_job(connection, fetch, access),
            context=Context(self._clock.today(), self._vault.name_customer(fetch.user_id)),
        )

    async def _plan_job(self, connection: Connection, fetch: Fetch, access: Access) -> FetchJob:
        """With all history everything is asked for again; else from some weeks before the newest booking on."""
        stored = await products.list_products(connection, fetch.user_id, access.id)
        selected = None
        if access.selected_products is not None:
            selected = tuple(one.product.key for one in stored if one.id in access.selected_products) or None
        since: dict[str, date] = {}
        if not fetch.all_history:
            for one in stored:
                newest = await transactions.find_newest_day(connection, fetch.user_id, one.id)
                if newest is not None:
                    since[one.product.key] = newest - timedelta(days=OVERLAP_DAYS)
        return FetchJob(selected=selected, since=since, all_history=True)

    async def _talk(self, dialogue: Dialogue, lease: Lease) -> Step:
        """Step by step until the bank is done, refuses, or needs the user."""
        if dialogue.connector is None:
            failed = Failed(FailureKind.UNREACHABLE)
            await self._results.store_failure(dialogue.fetch, dialogue.access, failed, lease, seconds=None)
            return failed
        started = time.monotonic()
        step = await self._call(dialogue, None)
        headers = None
        while isinstance(step, Progress):
            headers = step.partial
            if dialogue.access.status is not AccessStatus.COMPLETE:
                await self._results.store_headers(dialogue.fetch, dialogue.access, headers, lease)
                headers = None
            step = await self._call(dialogue, step.state)
        seconds = time.monotonic() - started
        if isinstance(step, Done):
            await self._results.store_done(dialogue.fetch, dialogue.access, headers, step, dialogue.job, lease, seconds)
        elif isinstance(step, Failed):
            await self._results.store_failure(dialogue.fetch, dialogue.access, step, lease, seconds)
        else:
            await self._results.store_sca_needed(dialogue.fetch, dialogue.access, lease)
        return step

    async def _call(self, dialogue: Dialogue, state: State | None) -> Step:
        """One step, in a thread. What a connector did not expect is its defect, and an issue of this access alone."""
        connector = dialogue.connector
        assert connector is not None
        try:
            if state is None:
                return await asyncio.to_thread(
                    connector.begin,
                    dialogue.provider,
                    dialogue.credentials,
                    dialogue.job,
                    dialogue.memory,
                    dialogue.context,
                )
            return await asyncio.to_thread(
                connector.resume, dialogue.provider, dialogue.credentials, state, Continue(), dialogue.context
            )
        except Exception:
            log.exception("connector.failed", connector=connector.kind)
            return Failed(FailureKind.INTERNAL)

    @asynccontextmanager
    async def _heartbeat(self, lease: Lease) -> AsyncIterator[None]:
        """Keep the lease while the block runs; a database that is away for a moment is no reason to give up."""

        async def beat() -> None:
            while True:
                await asyncio.sleep(HEARTBEAT_SECONDS)
                try:
                    async with self._database.connect() as connection:
                        if not await leases.renew_lease(connection, lease):
                            return
                except Exception as error:
                    log.warning("lease.not-renewed", reason=type(error).__name__)

        task = asyncio.create_task(beat())
        try:
            yield
        finally:
            task.cancel()
