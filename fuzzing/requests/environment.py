"""A service of its own for generated requests: database, server, worker, and customers with data of the demo bank.

Passwords are hashed cheaply, as in tests: one request in thirty is a login or sets a password.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from fuzzing.requests.requests import World, Worlds
from fuzzing.runs import ROOT
from kontor.bootstrap import attach_embedded, migrate_database, open_services
from kontor.cli.demo_tenants import ensure_demo_tenants
from kontor.config import export_settings, read_settings
from kontor.storage.embedded import EmbeddedPostgres
from kontor_client import Kontor

TENANT = "demo"
DEMO_BANK = "00000000-0000-0000-0000-000000000000"
CUSTOMERS = 3  # with few bookings
FEW_BOOKINGS = ("test_student", "test_products")
FULL_HISTORY = ("student", "rente")
# `kontor` with cheap hashing. -P: modules of the tests must not take the place of others.
KONTOR = (sys.executable, "-P", str(ROOT / "tests/cheap_passwords.py"))
PASSPHRASE = "a long passphrase"
WAIT_SECONDS = 120
FETCH_SECONDS = 600


class FuzzedService:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self.port = _find_free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "FuzzedService":
        database = EmbeddedPostgres(self._folder / "database")
        self._stack.callback(shutil.rmtree, database.home, ignore_errors=True)
        self._stack.callback(database.stop)
        base = read_settings(
            {}, data=self._folder / "database", base_url=self.base_url, log_level="warning", demo=True, demo_bank=True
        )
        self._settings = replace(attach_embedded(base, database.start()), compute_processes=2, demo_slow_seconds=1)
        migrate_database(self._settings)
        self._start("worker")
        self._start("serve", "--port", str(self.port), "--workers", "1")
        self._wait()
        self.document: dict[str, Any] = httpx.get(f"{self.base_url}/openapi.json").json()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start(self, *arguments: str) -> None:
        log = self._stack.enter_context((self._folder / f"{arguments[0]}.log").open("ab"))
        process = subprocess.Popen(
            [*KONTOR, *arguments],
            env=os.environ | export_settings(self._settings),
            stdout=log,
            stderr=log,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.terminate)

    def _wait(self) -> None:
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            try:
                if httpx.get(f"{self.base_url}/health/ready", timeout=2).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise RuntimeError((self._folder / "serve.log").read_text()[-2000:])

    @property
    def log(self) -> str:
        return (self._folder / "serve.log").read_text(errors="replace")

    async def make_worlds(self, earlier: Worlds | None = None) -> Worlds:
        """Each with a user of its own. One of `earlier` is kept while it is intact."""
        async with open_services(self._settings, "kontor fuzzing") as services:
            facts = await ensure_demo_tenants(services, self.base_url, None)
            _, operator = await services.operators.create_operator(f"o-{secrets.token_hex(4)}", 1)
        tenant = facts["tenants"][0]
        admin, app = tenant["adminClient"], tenant["userClient"]
        with Kontor.login_client(self.base_url, admin["username"], admin["password"]) as manager:
            logins = {
                "clientToken": [str(manager.session.token)],
                "operatorToken": [operator.reveal()],
                "apiKey": [tenant["apiKey"]],
                "clientLogin": [f"{login['username']}:{login['password']}" for login in (app, admin)],
            }
            before = (*earlier.few, earlier.full) if earlier else (None,) * (CUSTOMERS + 1)
            few = [self._make_world(world, manager, app, logins, FEW_BOOKINGS) for world in before[:-1]]
            return Worlds(few, self._make_world(before[-1], manager, app, logins, FULL_HISTORY))

    def _make_world(
        self,
        earlier: World | None,
        manager: Kontor,
        app: dict[str, str],
        logins: dict[str, list[str]],
        people: Sequence[str],
    ) -> World:
        """A user with accesses, other objects and logins, all of which requests can name."""
        if earlier is not None and self.is_intact(earlier):
            return replace(earlier, logins=earlier.logins | logins)
        username, users = f"f-{secrets.token_hex(6)}", [_add_user(manager) for _ in range(3)]
        _add_user(manager, username)
        with Kontor.login(self.base_url, app["username"], app["password"], username, PASSPHRASE) as kontor:
            known = _fill(kontor, people)
            user_token = str(kontor.session.token)
        known |= {"user-reference": users, "userReference": users}
        known |= {"username": [username], "password": [PASSPHRASE], "grant_type": ["password"]}
        return World(logins | {"userToken": [user_token]}, known)

    def is_intact(self, world: World) -> bool:
        """Are the user's token and all accesses there? Requests may have ended them."""
        token = world.logins["userToken"][0]
        listed = httpx.get(
            f"{self.base_url}/customer/v2/bankzugaenge",
            headers={"Authorization": f"Bearer {token}"},
            timeout=FETCH_SECONDS,
        )
        return listed.status_code == 200 and all(access in listed.text for access in world.known["access-id"])


def _add_user(manager: Kontor, username: str | None = None) -> str:
    """Its reference."""
    body = {"username": username or f"v-{secrets.token_hex(6)}", "password": PASSPHRASE}
    answer = manager.request("POST", f"/auth/mgmt/v1/tenants/{TENANT}/users", json=body)
    return str(answer.headers["location"]).rpartition("/")[2]


def _fill(kontor: Kontor, people: Sequence[str]) -> dict[str, list[str]]:
    accesses, products, transactions = [], [], []
    for person in people:
        access = kontor.add_access(DEMO_BANK, {"userid": person, "pin": "demo"})
        access = kontor.wait_until_complete(access.id, timeout_seconds=FETCH_SECONDS)
        accesses.append(access.id)
        for product in access.products:
            products.append(str(product.id))
            path = f"/customer/v2/bankzugaenge/{access.id}/{product.id}/kontoumsaetze"
            listed = json.loads(kontor.request("GET", path).content)
            rows = listed if isinstance(listed, list) else next(iter(listed.values()), [])
            transactions += [row["id"] for row in rows[:5] if isinstance(row, dict) and "id" in row]
    return {
        "access-id": accesses,
        "product-id": products,
        "transaction-id": transactions,
        "tenant-name": [TENANT],
        "client-name": ["app"],
        "role-name": ["customer"],
        "provider-id": [DEMO_BANK],
        "providerId": [DEMO_BANK],
    }


def _find_free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
