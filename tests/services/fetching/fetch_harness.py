"""Fetching in this process: services without a worker, and a bank that does as told."""

import asyncio
import base64
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import ClassVar
from uuid import UUID

from kontor import bootstrap
from kontor.services.accesses.requests import AccessRequest

DEMO_BANK = UUID(int=0)
DATA = ("products", "transactions", "positions")


class FetchHarness:
    """Services without a worker; a test runs each fetch itself. `principal` is a user without accesses."""

    def __init__(self, services, principal, owner):
        self.services, self.principal, self.owner = services, principal, owner

    @property
    def user_id(self):
        return self.principal.user_id

    async def request(self, login="anna", pin="demo", **facts):
        encrypt = self.services.encryption.encrypt
        sealed = {
            key: base64.b64encode(await encrypt(self.principal, text.encode())).decode()
            for key, text in (("userid", login), ("pin", pin))
        }
        return AccessRequest(DEMO_BANK, sealed, **facts)

    def post(self, requests, *, refresh=False):
        """The call as the API makes it; it waits until a fetch is run."""
        call = self.services.accesses.add_accesses(self.principal, requests, refresh=refresh, is_attended=True)
        return asyncio.create_task(call)

    async def add(self, access_id="a", **facts):
        posted = self.post({access_id: await self.request(**facts)})
        outcome = await self.services.fetching.run(await self.queued(access_id))
        await posted
        return outcome

    async def refresh(self, access_id="a", request=None):
        posted = self.post({access_id: request or AccessRequest()}, refresh=True)
        await self.services.fetching.run(await self.queued(access_id))
        await posted

    async def queued(self, access_id="a"):
        query = "select id from fetches where user_id = %s and access_id = %s and state = 'QUEUED'"
        for _ in range(2000):
            if row := self.owner.execute(query, [self.user_id, access_id]).fetchone():
                return row[0]
            await asyncio.sleep(0.005)
        raise AssertionError("no fetch was asked for")

    async def view(self, access_id="a"):
        return await self.services.accesses.read_access(self.principal, access_id)

    async def notices(self, access_id="a"):
        access = (await self.view(access_id)).access
        return [str(message.kind) for message in access.messages], [str(issue.kind) for issue in access.issues]

    def rows(self, table, columns="*"):
        return self.owner.execute(
            f"select {columns} from {table} where user_id = %s order by 1, 2", [self.user_id]
        ).fetchall()

    def data(self):
        """Everything stored about products, as text."""
        return {table: self.rows(table, f"{table}::text, 1") for table in DATA}


@asynccontextmanager
async def second_worker(own, harness):
    """Another process's services on the same database, with the same bank."""
    async with bootstrap.open_services(replace(own, pool_size=4), "kontor tests, second") as services:
        yield FetchHarness(services, harness.principal, harness.owner)


def forget_heartbeat(harness):
    """As if the worker that holds the leases had been silent for too long."""
    harness.owner.execute("update credential_leases set until = now() - interval '1 second'")


class Gate:
    """Lets the bank wait in the middle of a call."""

    closed: ClassVar[list["Gate"]] = []

    def __init__(self):
        self.closed.append(self)
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self):
        self.reached.set()
        assert self.open.wait(60)

    async def wait(self):
        assert await asyncio.to_thread(self.reached.wait, 60)
