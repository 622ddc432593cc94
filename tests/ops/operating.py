"""An operator's client: calls of the API with each kind of token, and rows put behind the scenes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg

from kontor.config import Settings
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.tokens import ClientLogin, TokenRequest
from kontor.services.identity.users import NewUser

BANK = UUID(int=0)
OTHER_BANK = UUID(int=7)


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class OperatorClient:
    """An operator's client: calls of the API with each kind of token, and rows put behind the scenes."""

    settings: Settings
    services: Services
    http: httpx.AsyncClient
    owner: psycopg.Connection
    tenants: dict[str, UUID] = field(default_factory=dict)
    users: dict[str, UUID] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    async def call(self, token: str, path: str, method: str = "GET", **query: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens.get(token, token)}"}
        address = path if path.startswith("http") else f"/ops/v1/{path}"
        return await self.http.request(method, address, params=query or None, headers=headers)

    async def read(self, path: str, token: str = "operator", **query: Any) -> Any:
        answer = await self.call(token, path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def read_all(self, path: str, token: str = "operator", **query: Any) -> list[Any]:
        """Every page, by following the links."""
        found: list[Any] = []
        address: str | None = path
        while address is not None:
            answer = await self.call(token, address, **query)
            assert answer.status_code == 200, answer.text
            found += answer.json()
            query = {}
            link = answer.links.get("next")
            address = None if link is None else link["url"]
        return found

    def add_user(self, tenant: str = "north") -> UUID:
        """A user that owns rows, and nothing more."""
        user_id = uuid4()
        self.owner.execute(
            "insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
            " select %s, tenant_id, %s, '', %s, data_key, wrapping_key_id from users where id = %s",
            [user_id, f"row {user_id}", uuid4(), self.users[tenant]],
        )
        return user_id

    def add_access(self, tenant: str = "north", user_id: UUID | None = None, **facts: Any) -> tuple[UUID, str]:
        row = {
            "user_id": user_id or self.add_user(tenant),
            "id": f"a-{uuid4().hex[:8]}",
            "provider_id": BANK,
            "status": "COMPLETE",
            "is_synced": True,
        } | facts
        self._insert("accesses", row)
        return row["user_id"], row["id"]

    def add_fetch(self, access: tuple[UUID, str], state: str, **facts: Any) -> UUID:
        row = {
            "id": uuid4(),
            "user_id": access[0],
            "access_id": access[1],
            "state": state,
            "is_attended": False,
            "correlation_id": "test",
            "finished_at": None if state in ("QUEUED", "RUNNING") else now(),
        } | facts
        self._insert("fetches", row)
        return row["id"]

    def _insert(self, table: str, row: dict[str, Any]) -> None:
        names, places = ", ".join(row), ", ".join(f"%({name})s" for name in row)
        self.owner.execute(f"insert into {table} ({names}) values ({places})", row)

    def clear(self) -> None:
        self.owner.execute("delete from users where username like 'row %'")
        for table in ("pgqueuer", "pgqueuer_log", "workers", "provider_outcomes", "provider_outages", "webhooks"):
            self.owner.execute(f"delete from {table}")


def ago(**span: float) -> datetime:
    return now() - timedelta(**span)


async def make_tenant(operator: OperatorClient, name: str) -> None:
    administration = operator.services.tenant_administration
    tenant = new_tenant(name, is_regulated=True, scopes=ALL_SCOPES)
    await administration.create_tenant(tenant)
    _, admin = await administration.create_client(name, "admin", ClientKind.ADMIN, MANAGEMENT_SCOPES)
    _, app = await administration.create_client(name, "app", ClientKind.USER, USER_SCOPES)
    await administration.create_role(name, "app", new_role("customer", USER_SCOPES, is_default=True))
    user = await operator.services.users.create_user_by_operator(name, NewUser("anna", Secret("annas password")))
    operator.tenants[name], operator.users[name] = tenant.id, user.id

    async def issue(client: str, secret: str, **facts: Any) -> str:
        login = ClientLogin(f"{name}/{client}", Secret(secret), "test")
        grant = facts.pop("grant", "client_credentials")
        return (await operator.services.tokens.issue_token(login, TokenRequest(grant, **facts))).token.reveal()

    operator.tokens[name] = await issue("admin", admin)
    for scope in MANAGEMENT_SCOPES:
        operator.tokens[f"{name} {scope}"] = await issue("admin", admin, scope=scope)
    operator.tokens[f"{name} user"] = await issue(
        "app", app, grant="password", username="anna", password=Secret("annas password")
    )


@asynccontextmanager
async def running(app: Any) -> AsyncIterator[None]:
    """The ASGI lifespan of an application."""
    incoming: asyncio.Queue[Any] = asyncio.Queue()
    outgoing: asyncio.Queue[Any] = asyncio.Queue()
    task = asyncio.ensure_future(
        app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, incoming.get, outgoing.put)
    )
    await incoming.put({"type": "lifespan.startup"})
    assert (await outgoing.get())["type"] == "lifespan.startup.complete"
    yield
    await incoming.put({"type": "lifespan.shutdown"})
    assert (await outgoing.get())["type"] == "lifespan.shutdown.complete"
    await task
