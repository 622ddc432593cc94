"""A service of its own for generated requests: database, server, worker, and customers with data of the demo bank."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from fuzzing.requests.requests import World
from kontor.bootstrap import attach_embedded, migrate_database, open_services
from kontor.cli.demo_tenants import ensure_demo_tenants
from kontor.config import export_settings, read_settings
from kontor.storage.embedded import EmbeddedPostgres
from kontor_client import Kontor

TENANT = "demo"
DEMO_BANK = "00000000-0000-0000-0000-000000000000"
LOGINS = ("student", "rente")
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
        self._settings = replace(attach_embedded(base, database.start()), compute_processes=1, demo_slow_seconds=1)
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
            [sys.executable, "-m", "kontor", *arguments],
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

    async def make_world(self) -> World:
        """Objects and logins that requests can name. Made anew for each batch, since requests delete things."""
        async with open_services(self._settings, "kontor fuzzing") as services:
            facts = await ensure_demo_tenants(services, self.base_url, None)
            _, operator = await services.operators.create_operator(f"o-{secrets.token_hex(4)}", 1)
        tenant = facts["tenants"][0]
        app, admin, user = tenant["userClient"], tenant["adminClient"], tenant["user"]
        with (
            Kontor.login(self.base_url, app["username"], app["password"], user["username"], user["password"]) as kontor,
            Kontor.login_client(self.base_url, admin["username"], admin["password"]) as manager,
        ):
            known = _fill(kontor, manager)
            logins = {
                "userToken": [str(kontor.session.token)],
                "clientToken": [str(manager.session.token)],
                "operatorToken": [operator.reveal()],
                "apiKey": [tenant["apiKey"]],
                "clientLogin": [f"{login['username']}:{login['password']}" for login in (app, admin)],
            }
        known |= {"username": [user["username"]], "password": [user["password"]], "grant_type": ["password"]}
        return World(logins, known)


def _fill(kontor: Kontor, manager: Kontor) -> dict[str, list[str]]:
    accesses, products, transactions = [], [], []
    for login in LOGINS:
        access = kontor.add_access(DEMO_BANK, {"userid": login, "pin": "demo"})
        access = kontor.wait_until_complete(access.id, timeout_seconds=FETCH_SECONDS)
        accesses.append(access.id)
        for product in access.products:
            products.append(str(product.id))
            path = f"/customer/v2/bankzugaenge/{access.id}/{product.id}/kontoumsaetze"
            listed = json.loads(kontor.request("GET", path).content)
            rows = listed if isinstance(listed, list) else next(iter(listed.values()), [])
            transactions += [row["id"] for row in rows[:5] if isinstance(row, dict) and "id" in row]
    users = [
        manager.request(
            "POST",
            f"/auth/mgmt/v1/tenants/{TENANT}/users",
            json={"username": f"v-{secrets.token_hex(6)}", "password": "a long passphrase"},
        )
        .headers["location"]
        .rpartition("/")[2]
        for _ in range(3)
    ]
    return {
        "access-id": accesses,
        "product-id": products,
        "transaction-id": transactions,
        "user-reference": users,
        "userReference": users,
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
