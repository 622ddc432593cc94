"""Background refresh in this process: a clock that a test moves, a bank that does as told, the real database."""

import asyncio
import base64
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg

from kontor.domain.clocks import BERLIN
from kontor.domain.principals import Principal
from kontor.domain.refreshes import find_slot
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_tenant
from kontor.services.identity.users import NewUser

DEMO_BANK = UUID(int=0)
START = datetime(2026, 10, 23, 9, 17, tzinfo=UTC)  # two days later the clocks change
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


class HandClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        return self.at

    async def read(self, connection: object) -> datetime:
        return self.at

    def today(self) -> date:
        return self.at.astimezone(BERLIN).date()


class RefreshHarness:
    """Services without a worker: a test looks at what is due and runs each fetch itself."""

    def __init__(
        self, services: Services, principal: Principal, owner: psycopg.Connection[Any], clock: HandClock
    ) -> None:
        self.services, self.principal, self.owner, self.clock = services, principal, owner, clock

    @property
    def user_id(self) -> UUID:
        assert self.principal.user_id is not None
        return self.principal.user_id

    def beside(self, services: Services) -> "RefreshHarness":
        """The same with another process's services."""
        return RefreshHarness(services, self.principal, self.owner, self.clock)

    # Callers

    async def request(self, login: str = "anna", pin: str = "demo", **facts: Any) -> AccessRequest:
        encrypt = self.services.encryption.encrypt
        sealed = {
            key: base64.b64encode(await encrypt(self.principal, text.encode())).decode()
            for key, text in (("userid", login), ("pin", pin))
        }
        return AccessRequest(DEMO_BANK, sealed, **facts)

    async def post(
        self, access_id: str, request: AccessRequest, *, refresh: bool = False, is_attended: bool = True
    ) -> timedelta | None:
        """The call as the API makes it, with a worker that runs what it asks for."""
        call = asyncio.create_task(
            self.services.accesses.add_accesses(
                self.principal, {access_id: request}, refresh=refresh, is_attended=is_attended
            )
        )
        while not call.done():
            await self.run_queued()
            await asyncio.sleep(0.005)
        return await call

    async def add(self, access_id: str = "a", **facts: Any) -> None:
        await self.post(access_id, await self.request(**facts))

    async def refresh(self, access_id: str = "a", *, is_attended: bool = False) -> timedelta | None:
        return await self.post(access_id, AccessRequest(), refresh=True, is_attended=is_attended)

    # Workers

    async def look(self) -> int:
        return await self.services.refreshing.schedule_due()

    async def run_queued(self) -> int:
        rows = self.owner.execute("select id from fetches where state = 'QUEUED' order by requested_at").fetchall()
        for (fetch_id,) in rows:
            await self.services.fetching.run(fetch_id)
        return len(rows)

    async def live(self, until: datetime) -> None:
        """Time passes, and a worker does what is to be done, each time a second late."""
        while self.clock.at < until:
            row = self.owner.execute("select min(next_refresh_at) from accesses").fetchone()
            due = row[0] if row is not None and row[0] is not None else until
            self.clock.at = min(until, max(self.clock.at, due) + timedelta(seconds=1))
            await self.look()
            await self.run_queued()

    def go_to_slot(self, access_id: str = "a") -> datetime:
        """Move the clock to the next slot of an access; returns it."""
        self.clock.at = find_slot(self.user_id, access_id, self.clock.at) + 6 * HOUR
        return self.clock.at

    async def refresh_at_slot(self, access_id: str = "a") -> datetime:
        """Wait for the next slot, and as long as the budget asks for."""
        slot = self.go_to_slot(access_id)
        due = self.access(access_id)[0]
        self.clock.at = max(slot, due or slot)
        await self.look()
        await self.run_queued()
        return slot

    # What is stored

    def access(self, access_id: str = "a", user_id: UUID | None = None) -> tuple[datetime | None, str | None]:
        """(when somebody looks next, why nobody does)"""
        row = self.owner.execute(
            "select next_refresh_at, refresh_pause from accesses where user_id = %s and id = %s",
            [user_id or self.user_id, access_id],
        ).fetchone()
        assert row is not None
        return row

    def slots(self, access_id: str = "a") -> list[tuple[datetime, str, str | None]]:
        return self.owner.execute(
            "select slot_at, state, failure from fetches where user_id = %s and access_id = %s"
            " and slot_at is not null order by slot_at",
            [self.user_id, access_id],
        ).fetchall()

    def states(self, access_id: str = "a") -> list[str]:
        """How each slot ended: state, or why it was skipped."""
        return [failure if state == "SKIPPED" and failure else state for _, state, failure in self.slots(access_id)]

    def calls(self, access_id: str = "a") -> list[datetime]:
        rows = self.owner.execute(
            "select called_at from unattended_calls where user_id = %s and access_id = %s order by 1",
            [self.user_id, access_id],
        ).fetchall()
        return [row[0] for row in rows]

    def jobs(self) -> Counter[tuple[str, str]]:
        rows = self.owner.execute("select entrypoint, status::text from pgqueuer").fetchall()
        return Counter((row[0], row[1]) for row in rows)

    def count(self, table: str, condition: str = "true") -> int:
        row = self.owner.execute(f"select count(*) from {table} where {condition}").fetchone()
        assert row is not None
        return int(row[0])


async def make_user(services: Services, owner: psycopg.Connection[Any]) -> Principal:
    row = owner.execute("select id from tenants where name = 't'").fetchone()
    if row is None:  # one for the whole file: its keys take a second
        administration = services.tenant_administration
        await administration.create_tenant(new_tenant("t", is_regulated=True, scopes=ALL_SCOPES))
        await administration.create_client("t", "app", ClientKind.USER, MANAGEMENT_SCOPES)
        row = owner.execute("select id from tenants where name = 't'").fetchone()
    assert row is not None
    user = await services.users.create_user_by_operator("t", NewUser(f"user-{uuid4().hex[:12]}", Secret("password")))
    client = owner.execute("select id from clients where tenant_id = %s", [row[0]]).fetchone()
    assert client is not None
    return Principal(row[0], "t", True, client[0], "app", frozenset(ALL_SCOPES), user.id, user.pseudonym)
