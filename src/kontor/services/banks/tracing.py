"""Traces: a fetch with the customer, of which nothing is stored but an audit entry, recorded for the developers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from kontor.connectors.base import Answer, Context, Continue, Done, Failed, Fetch, Progress, Step, Tan
from kontor.connectors.traces import Recorder, UnmaskedError
from kontor.domain.errors import InvalidError, NotAllowedNowError, NotFoundError
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret
from kontor.services.banks.gateway import BankGateway
from kontor.services.banks.leasing import Leasing
from kontor.services.banks.providers import Providers, find_missing_fields
from kontor.services.runtime import Clock
from kontor.services.security import OPERATOR, UserEncryption, auditing
from kontor.storage.database import Database

Ask = Callable[[Step], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class TracedDialogue:
    """`trace` is the file's content. `end` is as the bank sent it, and not to be shown."""

    trace: bytes
    exchanges: int
    end: Step


@dataclass(frozen=True, slots=True)
class TracedUser:
    id: UUID
    pseudonym: UUID
    tenant_id: UUID


class BankTracing:
    def __init__(
        self,
        database: Database,
        gateway: BankGateway,
        providers: Providers,
        user_encryption: UserEncryption,
        clock: Clock,
    ) -> None:
        self._database = database
        self._gateway = gateway
        self._providers = providers
        self._user_encryption = user_encryption
        self._clock = clock
        self._leasing = Leasing(database)

    def find_provider(self, name: str) -> Provider:
        """By its id or its bank code, among those that can be reached."""
        try:
            named = self._providers.find(UUID(name))
            found: tuple[Provider, ...] = () if named is None else (named,)
        except ValueError:
            found = self._providers.search(None, name)
        reachable = [provider for provider in found if self._providers.can_connect(provider)]
        if not reachable:
            raise NotFoundError(f"No provider {name} can be reached from here.")
        if len(reachable) > 1:
            ids = ", ".join(str(provider.id) for provider in reachable)
            raise InvalidError(f"several providers have this bank code, name one of {ids}", "provider")
        return reachable[0]

    async def trace(
        self,
        user: TracedUser,
        provider: Provider,
        credentials: dict[str, Secret],
        ask: Ask,
        customer_ip: str,
        callback_url: str,
    ) -> TracedDialogue:
        """Fetch everything. `ask` gets the customer's answer to what the bank wants to know."""
        if missing := find_missing_fields(provider, credentials):
            raise InvalidError(f"incomplete or malformed: {', '.join(missing)}", "credentials")
        async with self._database.transaction() as connection:
            subject = f"user {user.pseudonym} provider {provider.id}"
            await auditing.record(connection, user.tenant_id, OPERATOR, "bank.trace", subject)
        today = self._clock.today()
        recorder = Recorder(provider, today, credentials.values())
        customer = self._user_encryption.name_customer(user.id)
        context = Context(today, customer, customer_ip, callback_url, may_send=lambda: False, record=recorder.record)
        async with self._leasing.hold(self._user_encryption.digest_login(provider, credentials, user.id)) as held:
            bank = await self._gateway.open_unstored(held, user.id, provider.id, credentials, context)
            if bank is None:
                raise NotAllowedNowError("The user is not active.")
            step = await bank.begin(Fetch())
            while not isinstance(step, Done | Failed):
                answer = Continue() if isinstance(step, Progress) else await ask(step)
                recorder.note_answer(step, answer, [answer.value] if isinstance(answer, Tan) else ())
                step = await bank.resume(step.state, answer)
        if not recorder.exchange_count:
            raise NotAllowedNowError("No message was sent: there is nothing to record.")
        try:
            return TracedDialogue(recorder.make_trace(step), recorder.exchange_count, step)
        except UnmaskedError as error:
            raise NotAllowedNowError(f"Nothing was written: {error}.") from None
