"""Users with services of their own, and a demo bank that can be watched and held up."""

import asyncio
import base64
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID, uuid4

from psycopg import AsyncConnection

from kontor import bootstrap
from kontor.connectors.base import (
    Context,
)
from kontor.connectors.demo import DemoConnector
from kontor.connectors.registry import Registry
from kontor.domain.accesses import NoticeKind
from kontor.domain.principals import Principal
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.domain.secrets import Secret
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.identity.users import NewUser
from kontor.services.sca.consents import ConsentOptions
from kontor.services.sca.steps import make_answer
from kontor.storage.demo_bank import DemoBankMemory

DEMO_BANK = UUID(int=0)
OPTIONS = ConsentOptions("8.8.8.8", "https://example.com/back")
WAIT_SECONDS = 60


class WatchedBank(DemoConnector):
    """The demo bank, with a list of all that was asked of it, and a door that can be closed."""

    def __init__(self, memory):
        super().__init__(memory, 0)
        self.asked: list[object] = []
        self.door = threading.Event()
        self.door.set()
        self.script = None

    def begin(self, provider, credentials, job, memory, context: Context):
        self.asked.append("begin")
        if self.script is not None:
            return self.script(None)
        return super().begin(provider, credentials, job, memory, context)

    def resume(self, provider, credentials, state, answer, context: Context):
        self.asked.append(answer)
        assert self.door.wait(WAIT_SECONDS)
        if self.script is not None and state.get("stage") != "headers":
            return self.script(answer)
        return super().resume(provider, credentials, state, answer, context)

    def count(self, kind: type) -> int:
        return sum(isinstance(call, kind) for call in self.asked)

    async def reached(self, kind: type, count: int = 1) -> None:
        for _ in range(WAIT_SECONDS * 50):
            if self.count(kind) >= count:
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the bank was not asked")


class ConsentingUser:
    """A user with services of its own that reach a watched bank."""

    def __init__(self, services, bank, principal, owner_url):
        self.services, self.bank, self.principal = services, bank, principal
        self.consents, self.owner_url = services.consents, owner_url

    async def store(
        self, login: str, access_id: str | None = None, pin: str = "demo", *, is_synced: bool = True
    ) -> str:
        access_id = access_id or str(uuid4())
        credentials = {}
        for field, text in (("userid", f"{login}+{uuid4().hex}"), ("pin", pin)):
            encrypted = await self.services.encryption.encrypt(self.principal, text.encode())
            credentials[field] = base64.b64encode(encrypted).decode()
        request = AccessRequest(DEMO_BANK, credentials, is_synced)
        await self.services.accesses.store_access(self.principal, access_id, request)
        return access_id

    async def start(self, access_id: str, **facts) -> UUID:
        view = await self.consents.start_consent(self.principal, access_id, None, replace(OPTIONS, **facts))
        return view.dialogue.id

    async def begin(self, login: str, **facts) -> UUID:
        return await self.start(await self.store(login), **facts)

    async def answer(self, consent: UUID, kind: AnswerKind, value: str = ""):
        return await self.consents.answer(self.principal, consent, kind, make_answer(kind, value))

    async def read(self, consent: UUID):
        return (await self.consents.read_consent(self.principal, consent)).dialogue

    async def state(self, consent: UUID) -> ScaState:
        return (await self.read(consent)).position.state

    async def execute(self, text: str, *values):
        """As the owner of the tables, who sees everybody's rows."""
        async with await AsyncConnection.connect(self.owner_url.reveal(), autocommit=True) as connection:
            cursor = await connection.execute(text, list(values))
            return await cursor.fetchall() if cursor.description else None

    async def issues(self, access_id: str) -> list[NoticeKind]:
        view = await self.services.accesses.read_access(self.principal, access_id)
        return [issue.kind for issue in view.access.issues]


async def new_principal(services, shared):
    new = NewUser(f"user-{uuid4().hex}", Secret("a password"))
    user = await services.users.create_user_by_operator(shared.name, new)
    return Principal(user.tenant_id, shared.name, True, uuid4(), "app", frozenset(), user.id, user.pseudonym)


@asynccontextmanager
async def open_consenting_user(settings, principal, monkeypatch):
    assert settings.database_url is not None
    bank = WatchedBank(DemoBankMemory(settings.database_url, f"{settings.base_url}/demobank/confirm"))
    monkeypatch.setattr(bootstrap, "make_registry", lambda _: Registry([bank]))
    async with bootstrap.open_services(replace(settings, pool_size=6), "kontor tests, consents") as own:
        yield ConsentingUser(own, bank, principal, settings.migration_database_url)
        bank.door.set()


async def outcomes(*calls):
    """Results, or the kinds of errors."""
    found = await asyncio.gather(*calls, return_exceptions=True)
    return [type(result) if isinstance(result, BaseException) else result.dialogue.position.state for result in found]
