"""The gateway to banks: nothing else in Kontor calls a connector.

Whoever calls a bank needs a permit (`admission.py`), and with it the lease of the credentials. What a dialogue needs is
gathered in a short transaction; none is open during a call. A call ends at its deadline, which the connector and its
HTTP client know; the lease and the provider's entry stay taken until it has really ended.
"""

import asyncio
import time
from collections.abc import Callable
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
    Progress,
    State,
    Step,
    Tan,
)
from kontor.connectors.echoes import hide_secrets
from kontor.connectors.registry import Registry
from kontor.connectors.revocations import Revoke
from kontor.domain.accesses import Access, AccessStatus
from kontor.domain.providers import Provider
from kontor.domain.refreshes import RefreshPause
from kontor.domain.routing import choose_bank_channel
from kontor.domain.secrets import Secret
from kontor.services.banks.admission import REFUSALS, Admissions, Permit, StoredLogin
from kontor.services.banks.leasing import HeldLease
from kontor.services.banks.providers import Providers
from kontor.services.runtime import DaemonThreads, start_in
from kontor.services.security import UserEncryption
from kontor.storage import accesses, users
from kontor.storage import bank_channels as bank_channel_rows
from kontor.storage.database import Database
from kontor.storage.permissions import Revocation
from kontor.storage.retries import retry_conflicts

log = structlog.get_logger(__name__)


_UNREACHED = (FailureKind.UNREACHABLE, FailureKind.INTERNAL)
_REFUSED_NOTICES = {notice: failure for failure, notice in REFUSALS.items()}
BANK_THREADS = 64  # calls that one process can wait for at a time
PROVIDER_CALLS = 16  # of them at one provider
ATTENDED_WAIT_SECONDS, UNATTENDED_WAIT_SECONDS = 30, 5  # for one of them to end
GRACE_SECONDS = 2  # for a connector to end by itself at the deadline
KEEP_SECONDS = 10  # to store a connector state during a call
BANK_CHANNEL_KEY = "way"  # the stored key, in states of banks with several channels


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is needed to talk to a bank for one access. `connector` is None where none is enabled for it.

    `bank_channels` are the connectors that reach the bank, and `connector` the one to begin with. `refusal`: the bank
    has refused these credentials, and the customer has entered none since. `stored_login` is None where the credentials
    belong to no access.
    """

    access: Access
    provider: Provider
    connector: Connector | None
    credentials: Credentials
    connector_state: State | None
    context: Context
    bank_channels: tuple[str, ...] = ()
    refusal: FailureKind | None = None
    stored_login: StoredLogin | None = None

    @property
    def has_choice(self) -> bool:
        return len(self.bank_channels) > 1


class BankDialogue:
    """A dialogue that was admitted: each of its steps is one call of the bank."""

    def __init__(self, gateway: "BankGateway", prepared: Prepared, permit: Permit, *, stores_refusals: bool) -> None:
        self._gateway = gateway
        self._prepared = prepared
        self._permit = permit
        self._stores_refusals = stores_refusals

    async def begin(self, job: Job) -> Step:
        state = (job.state or {}) if isinstance(job, LookUp) else {}
        prepared = self._prepared

        def call(connector: Connector, context: Context) -> Step:
            return connector.begin(prepared.provider, prepared.credentials, job, prepared.connector_state, context)

        return await self._call(state, type(job).__name__, call)

    async def resume(self, state: State, answer: Answer) -> Step:
        prepared = self._prepared

        def call(connector: Connector, context: Context) -> Step:
            return connector.resume(prepared.provider, prepared.credentials, state, answer, context)

        return await self._call(state, type(answer).__name__, call, answer)

    async def _call(
        self, state: State, name: str, call: Callable[[Connector, Context], Step], answer: Answer | None = None
    ) -> Step:
        step = await self._gateway.call(self._prepared, self._permit, state, name, call, answer)
        login = self._prepared.stored_login
        if self._stores_refusals and login is not None and isinstance(step, Failed) and step.was_called:
            await self._gateway.admissions.note_refusal(login, step.kind)
        return step


class BankGateway:
    def __init__(
        self,
        database: Database,
        providers: Providers,
        registry: Registry,
        user_encryption: UserEncryption,
        admissions: Admissions,
        step_seconds: float,
    ) -> None:
        self._database = database
        self._providers = providers
        self._registry = registry
        self._user_encryption = user_encryption
        self._step_seconds = step_seconds
        self._threads = DaemonThreads(BANK_THREADS, "bank")
        self._entries: dict[UUID, asyncio.Semaphore] = {}
        self.admissions = admissions

    # Opening a dialogue

    def open(self, prepared: Prepared, permit: Permit, *, stores_refusals: bool = True) -> BankDialogue:
        """`stores_refusals` is false for fetches, which store refused credentials with their result."""
        return BankDialogue(self, prepared, permit, stores_refusals=stores_refusals)

    async def open_attended(
        self, held: HeldLease, user_id: UUID, access_id: str, context: Context, *, stores_refusals: bool = True
    ) -> BankDialogue | None:
        """With the customer, and the credentials of an access. None as in `prepare`."""
        prepared = await self.prepare(user_id, access_id, context)
        if prepared is None:
            return None
        return self.open(prepared, self.admissions.admit_customer(held), stores_refusals=stores_refusals)

    async def open_unstored(
        self, held: HeldLease, user_id: UUID, provider_id: UUID, credentials: Credentials, context: Context
    ) -> BankDialogue | None:
        """With the customer, and credentials that belong to no stored access. None as in `prepare`."""
        prepared = await self.prepare_unstored(user_id, provider_id, credentials, context)
        return None if prepared is None else self.open(prepared, self.admissions.admit_customer(held))

    async def prepare(self, user_id: UUID, access_id: str, context: Context) -> Prepared | None:
        """None when there is nobody left to call for: no access, no credentials, no active user."""
        async with self._database.connect(user_id) as connection:
            found = await accesses.find_callable(connection, user_id, access_id, context.today)
            if found is None:
                return None
            access, secrets, pause = found
            assert secrets.credentials is not None, "that is what makes it callable"
            credentials, connector_state = await self._user_encryption.open_access(
                connection, user_id, access_id, secrets.credentials, secrets.connector_state
            )
        provider = self._providers.find(access.provider_id)
        if provider is None:
            return None
        prepared = await self._choose(access, provider, credentials, connector_state, context)
        assert secrets.lease_key is not None
        login = StoredLogin(user_id, access_id, secrets.lease_key, secrets.credentials_digest)
        refusal = _find_refusal(access) if pause is RefreshPause.CREDENTIALS else None
        return replace(prepared, stored_login=login, refusal=refusal)

    async def revoke_at_bank(
        self, held: HeldLease, revocation: Revocation, opened: tuple[Credentials, State], context: Context
    ) -> bool:
        """Whether the bank has confirmed that the consent of a deleted access is over."""
        provider = self._providers.find(revocation.provider_id)
        if provider is None:
            return False
        access = Access(revocation.access_id, provider.id, AccessStatus.STARTED, False, datetime.now(UTC))
        prepared = await self._choose(access, provider, *opened, context)
        step = await self.open(prepared, self.admissions.admit_end(held)).begin(Revoke())
        return isinstance(step, Done)

    async def prepare_unstored(
        self, user_id: UUID, provider_id: UUID, credentials: Credentials, context: Context
    ) -> Prepared | None:
        """With credentials that belong to no stored access: they live no longer than what they were given for."""
        async with self._database.connect(user_id) as connection:
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

    # Calling

    async def call(
        self,
        prepared: Prepared,
        permit: Permit,
        state: State,
        name: str,
        step: Callable[[Connector, Context], Step],
        answer: Answer | None = None,
    ) -> Step:
        """One step, for `BankDialogue`. Credentials that the bank has refused are not sent again."""
        connector = self._find_connector(prepared, state)
        if connector is None:
            return Failed(FailureKind.UNREACHABLE, was_called=False)
        if prepared.refusal is not None:
            return Failed(prepared.refusal, was_called=False)
        started = time.monotonic()
        result = hide_secrets(await self._call(connector, prepared, permit, step), _list_secrets(prepared, answer))
        log.info(
            "bank.call",
            provider=prepared.provider.name,
            connector=connector.kind,
            step=name,
            is_attended=permit.is_attended,
            outcome=type(result).__name__,
            seconds=round(time.monotonic() - started, 3),
        )
        if isinstance(result, Progress):
            await self._providers.note_headers(
                prepared.provider.id, connector.kind, result.partial, is_confirmed=prepared.access.is_confirmed
            )
        return await self._keep_bank_channel(prepared, connector, result)

    def _find_connector(self, prepared: Prepared, state: State) -> Connector | None:
        """Of the channel on which the dialogue began."""
        if prepared.has_choice and BANK_CHANNEL_KEY in state:
            return self._registry.find(prepared.provider, state[BANK_CHANNEL_KEY])
        return prepared.connector

    async def _keep_bank_channel(self, prepared: Prepared, connector: Connector, step: Step) -> Step:
        """Note how the channel did, and which one it was, with whatever the dialogue goes on from."""
        if not prepared.has_choice or (isinstance(step, Failed) and not step.was_called):
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

    async def _call(
        self, connector: Connector, prepared: Prepared, permit: Permit, step: Callable[[Connector, Context], Step]
    ) -> Step:
        """In a thread, until the deadline. What a connector did not expect is an issue of this access alone."""
        entry = self._entries.setdefault(prepared.provider.id, asyncio.Semaphore(PROVIDER_CALLS))
        try:
            async with asyncio.timeout(ATTENDED_WAIT_SECONDS if permit.is_attended else UNATTENDED_WAIT_SECONDS):
                await entry.acquire()
        except TimeoutError:
            log.warning("bank.calls-exhausted", provider=prepared.provider.name, connector=connector.kind)
            return Failed(FailureKind.UNREACHABLE, was_called=False)
        deadline = time.monotonic() + self._step_seconds
        context = replace(_limit(prepared.context, deadline), keep=self._make_keeper(prepared, connector))
        call = start_in(self._threads, step, connector, context)
        running = asyncio.wrap_future(call)
        running.add_done_callback(lambda _: entry.release())
        permit.held.track(running)
        await asyncio.wait({running}, timeout=self._step_seconds + GRACE_SECONDS)
        if not running.done():
            has_begun = not call.cancel()
            log.warning("connector.too-slow", connector=connector.kind, has_begun=has_begun)
            running.add_done_callback(_note_late_end)
            return Failed(FailureKind.UNREACHABLE, was_called=has_begun)
        try:
            return running.result()
        except Exception:
            log.exception("connector.failed", connector=connector.kind)
            return Failed(FailureKind.INTERNAL)

    def _make_keeper(self, prepared: Prepared, connector: Connector) -> Callable[[State], None]:
        """Asked in the connector's thread; this loop stores the state, in a transaction of its own."""
        login = prepared.stored_login
        if login is None:
            return prepared.context.keep
        loop = asyncio.get_running_loop()

        def keep(state: State) -> None:
            kept = state | {BANK_CHANNEL_KEY: connector.kind} if prepared.has_choice else state
            storing = asyncio.run_coroutine_threadsafe(self._keep_state(login, kept), loop)
            try:
                storing.result(KEEP_SECONDS)
            except Exception as error:
                storing.cancel()
                log.warning("bank.state-not-kept", provider=prepared.provider.name, reason=type(error).__name__)

        return keep

    @retry_conflicts
    async def _keep_state(self, login: StoredLogin, state: State) -> None:
        async with self._database.transaction(login.user_id) as connection:
            sealed = await self._user_encryption.seal(connection, login.user_id, login.access_id, "memory", state)
            await accesses.store_dialogue_state(
                connection, login.user_id, login.access_id, login.lease_key, sealed, None
            )


def _limit(context: Context, deadline: float) -> Context:
    """With the deadline, after which no order leaves."""
    may_send = context.may_send
    deadline = min(context.deadline, deadline)
    return replace(context, deadline=deadline, may_send=lambda: time.monotonic() < deadline and may_send())


def _list_secrets(prepared: Prepared, answer: Answer | None) -> list[Secret]:
    """What the customer entered for this step."""
    hidden = {field.key for field in prepared.provider.login_fields if field.is_secret}
    secrets = [secret for key, secret in prepared.credentials.items() if key in hidden]
    return [*secrets, answer.value] if isinstance(answer, Tan) else secrets


def _note_late_end(call: "asyncio.Future[Step]") -> None:
    if not call.cancelled():
        call.exception()  # nobody waits for it
    log.info("connector.ended-late")


def _find_refusal(access: Access) -> FailureKind:
    """As the access says it."""
    for notice in access.messages:
        if notice.kind in _REFUSED_NOTICES:
            return _REFUSED_NOTICES[notice.kind]
    return FailureKind.WRONG_CREDENTIALS
