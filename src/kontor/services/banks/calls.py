"""Calling a bank: what a dialogue needs is gathered in a short transaction, the call itself has none open."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

import structlog

from kontor.connectors.base import (
    Answer,
    Connector,
    Context,
    Credentials,
    Done,
    Failed,
    FailureKind,
    Job,
    LookUp,
    State,
    Step,
)
from kontor.connectors.registry import Registry
from kontor.domain.accesses import Access, AccessStatus
from kontor.domain.providers import Provider
from kontor.domain.routing import choose_bank_channel
from kontor.services.banks.providers import Providers
from kontor.services.runtime import run_in
from kontor.services.security import Vault
from kontor.storage import accesses, users
from kontor.storage import bank_channels as bank_channel_rows
from kontor.storage.database import Database

log = structlog.get_logger(__name__)


_UNREACHED = (FailureKind.UNREACHABLE, FailureKind.INTERNAL)
BANK_THREADS = 64  # banks that one process can wait for at a time
BANK_CHANNEL_KEY = "way"  # the stored key, in states of banks with several channels


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is needed to talk to a bank for one access. `connector` is None where none is enabled for it.

    `bank_channels` are the connectors that reach the bank, and `connector` the one to begin with.
    """

    access: Access
    provider: Provider
    connector: Connector | None
    credentials: Credentials
    connector_state: State | None
    context: Context
    bank_channels: tuple[str, ...] = ()

    @property
    def has_choice(self) -> bool:
        return len(self.bank_channels) > 1


class BankCalls:
    def __init__(
        self, database: Database, providers: Providers, registry: Registry, vault: Vault, step_seconds: float
    ) -> None:
        self._database = database
        self._providers = providers
        self._registry = registry
        self._vault = vault
        self._step_seconds = step_seconds
        self._threads = ThreadPoolExecutor(BANK_THREADS, "bank")

    async def prepare(self, user_id: UUID, access_id: str, context: Context) -> Prepared | None:
        """None when there is nobody left to call for: no access, no credentials, no active user."""
        async with self._database.connect() as connection:
            found = await accesses.find_callable(connection, user_id, access_id)
            if found is None:
                return None
            access, secrets = found
            assert secrets.credentials is not None, "that is what makes it callable"
            credentials, connector_state = await self._vault.open_access(
                connection, user_id, access_id, secrets.credentials, secrets.connector_state
            )
        provider = self._providers.find(access.provider_id)
        if provider is None:
            return None
        return await self._choose(access, provider, credentials, connector_state, context)

    async def prepare_unstored(
        self, user_id: UUID, provider_id: UUID, credentials: Credentials, context: Context
    ) -> Prepared | None:
        """With credentials that belong to no stored access: they live no longer than what they were given for."""
        async with self._database.connect() as connection:
            is_active = await users.is_active(connection, user_id)
        provider = self._providers.find(provider_id)
        if provider is None or not is_active:
            return None
        access = Access("", provider_id, AccessStatus.STARTED, False, datetime.now(UTC))
        return await self._choose(access, provider, credentials, None, context)

    async def _choose(
        self,
        access: Access,
        provider: Provider,
        credentials: Credentials,
        connector_state: State | None,
        context: Context,
    ) -> Prepared:
        """Of several channels one that works. State that was kept on another channel is of no use on it."""
        bank_channels = tuple(self._registry.list_bank_channels(provider))
        if len(bank_channels) < 2:
            return Prepared(access, provider, self._registry.find(provider), credentials, connector_state, context)
        async with self._database.connect() as connection:
            health = await bank_channel_rows.list_health(connection, provider.id)
        before = None if connector_state is None else connector_state.get(BANK_CHANNEL_KEY)
        # Another way needs a consent of its own: nobody is there to give it, so the old way is waited for.
        is_kept = before in bank_channels and context.customer_ip is None
        bank_channel = before if before is not None and is_kept else choose_bank_channel(bank_channels, before, health)
        if bank_channel != before:
            log.info("bank.channel", provider=provider.name, bank_channel=bank_channel, before=before)
            connector_state = None
        return Prepared(
            access,
            provider,
            self._registry.find(provider, bank_channel),
            credentials,
            connector_state,
            context,
            bank_channels,
        )

    async def begin(self, prepared: Prepared, job: Job) -> Step:
        connector = self._find_connector(prepared, (job.state or {}) if isinstance(job, LookUp) else {})
        if connector is None:
            return Failed(FailureKind.UNREACHABLE)
        step = await self._call(
            connector,
            connector.begin,
            prepared.provider,
            prepared.credentials,
            job,
            prepared.connector_state,
            prepared.context,
        )
        return await self._keep_bank_channel(prepared, connector, step)

    async def resume(self, prepared: Prepared, state: State, answer: Answer) -> Step:
        connector = self._find_connector(prepared, state)
        if connector is None:
            return Failed(FailureKind.UNREACHABLE)
        step = await self._call(
            connector, connector.resume, prepared.provider, prepared.credentials, state, answer, prepared.context
        )
        return await self._keep_bank_channel(prepared, connector, step)

    def _find_connector(self, prepared: Prepared, state: State) -> Connector | None:
        """Of the channel on which the dialogue began."""
        if prepared.has_choice and BANK_CHANNEL_KEY in state:
            return self._registry.find(prepared.provider, state[BANK_CHANNEL_KEY])
        return prepared.connector

    async def _keep_bank_channel(self, prepared: Prepared, connector: Connector, step: Step) -> Step:
        """Note how the way did, and which one it was, with whatever the dialogue goes on from."""
        if not prepared.has_choice:
            return step
        is_success = not (isinstance(step, Failed) and step.kind in _UNREACHED)
        async with self._database.connect() as connection:
            await bank_channel_rows.record_outcome(
                connection, prepared.provider.id, connector.kind, is_success=is_success
            )
        if isinstance(step, Failed):
            return step if step.state is None else replace(step, state=step.state | {BANK_CHANNEL_KEY: connector.kind})
        if isinstance(step, Done):
            return (
                step
                if step.connector_state is None
                else replace(step, connector_state=step.connector_state | {BANK_CHANNEL_KEY: connector.kind})
            )
        return replace(step, state=step.state | {BANK_CHANNEL_KEY: connector.kind})

    async def _call(self, connector: Connector, step: Callable[..., Step], *arguments: object) -> Step:
        """In a thread, within the time limit. What a connector did not expect is an issue of this access alone."""
        try:
            async with asyncio.timeout(self._step_seconds):
                return await run_in(self._threads, step, *arguments)
        except TimeoutError:
            log.warning("connector.too-slow", connector=connector.kind)
            return Failed(FailureKind.UNREACHABLE)
        except Exception:
            log.exception("connector.failed", connector=connector.kind)
            return Failed(FailureKind.INTERNAL)
