"""`kontor demo`: everything in one process tree, ready to be tried."""

import fcntl
import json
import os
import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from kontor.cli.output import errors, say
from kontor.cli.processes import AllowLoopback, refuse_used_port
from kontor.config import Settings, read_settings, refuse_unknown_variables
from kontor.domain.errors import ConflictError

if TYPE_CHECKING:
    from kontor.storage.embedded import EmbeddedPostgres

HOST = "127.0.0.1"
LOCK_TIMEOUT_SECONDS = 1
ORPHAN_PATIENCE_SECONDS = 10


def demo(
    *,
    port: Annotated[int, Parameter(help="Port of the API.")] = 8080,
    data: Annotated[Path | None, Parameter(help="Folder for the database and demo.json.")] = None,
    today: Annotated[date | None, Parameter(help="Run at another date.", show_default=False)] = None,
    allow_loopback: AllowLoopback = False,
) -> int:
    """Start everything, with two tenants to try: PostgreSQL, the API and a worker. Ctrl-C stops it all."""
    from kontor.storage.embedded import EmbeddedPostgres

    refuse_unknown_variables()
    # Behind a proxy the address is another one than that of the port.
    base_url = None if os.environ.get("KONTOR_BASE_URL") else _name_port(port)
    settings = read_settings(
        data=data,
        base_url=base_url,
        today=today,
        demo=True,
        demo_bank=True,
        allow_loopback=allow_loopback or None,
    )
    settings = replace(settings, data=settings.data.resolve(), database_url=None)
    stopping = Stopping()
    with _only_one(settings.data):
        server = EmbeddedPostgres(settings.data)
        # After a crash the last API may need a moment to notice that it is alone.
        refuse_used_port(HOST, port, ORPHAN_PATIENCE_SECONDS if server.is_running() else 0)
        try:
            _run(server, settings, port, stopping)
        except StopRequested:
            pass
        finally:
            server.stop()
    say(f"Stopped; the data stays in {settings.data}")
    return 0


def _name_port(port: int) -> str:
    return f"http://{HOST}:{port}"


def _run(server: "EmbeddedPostgres", settings: Settings, port: int, stopping: "Stopping") -> None:
    from kontor.bootstrap import attach_embedded, migrate_database
    from kontor.cli.demo_console import add_console
    from kontor.cli.demo_processes import Children
    from kontor.storage.embedded_watch import restart_when_killed

    say("[bold]Kontor[/bold] is starting", is_styled=True)
    steps = Steps(stopping)
    is_first = not server.cluster.exists()
    with steps.step("PostgreSQL (first start)" if is_first else "PostgreSQL"):
        ready = attach_embedded(settings, server.start())
    with steps.step("Migrations"):
        migrate_database(ready)
    with steps.step("Demo tenants"):
        facts, console = _prepare_tenants(ready)
    children = Children(add_console(ready, console), port)
    try:
        with steps.step("API and worker"):
            children.start(_name_port(port), stopping)
        with steps.step("Sample user"):
            _prepare_sample(ready, console)
        _show_welcome(settings.base_url, facts, console, settings.data)
        with restart_when_killed(server):
            children.watch(stopping)
    except StopRequested:
        say("\nStopping …")
        raise
    finally:
        children.stop()


class StopRequested(Exception):  # noqa: N818 (not an error)
    """The user wants an end."""


class Stopping:
    """Notices Ctrl-C, SIGTERM and a terminal that is closed. Nothing is interrupted: each step ends in order."""

    def __init__(self) -> None:
        self._is_set = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._set)

    def _set(self, *_: object) -> None:
        self._is_set = True

    def check(self) -> None:
        if self._is_set:
            raise StopRequested


class Steps:
    """Progress in the words of a person: what was done, and how long it took."""

    def __init__(self, stopping: Stopping) -> None:
        self._stopping = stopping

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._stopping.check()
        started = time.monotonic()
        yield
        seconds = time.monotonic() - started
        say(f"  [green]✓[/green] {name} [dim]{seconds:.1f} s[/dim]", is_styled=True)
        self._stopping.check()


@contextmanager
def _only_one(data: Path) -> Iterator[None]:
    """One demo per data folder. The lock goes with the process, also after kill -9."""
    data.mkdir(parents=True, exist_ok=True)
    with (data / "demo.lock").open("w") as file:
        end = time.monotonic() + LOCK_TIMEOUT_SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise ConflictError(f"Another demo is running on {data}.") from None
                time.sleep(0.1)
        yield


def _prepare_tenants(settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    """The demo tenants with `demo.json`, all that a caller needs, and `console.json`, what the console needs.

    What is there already is kept.
    """
    import asyncio

    from kontor.bootstrap import open_services
    from kontor.cli.demo_console import ensure_console
    from kontor.cli.demo_tenants import ensure_demo_tenants

    tenants_file, console_file = settings.data / "demo.json", settings.data / "console.json"

    async def ensure() -> tuple[dict[str, Any], dict[str, Any]]:
        async with open_services(settings, "kontor demo") as services:
            tenants = await ensure_demo_tenants(services, settings.base_url, _read_known(tenants_file))
            return tenants, await ensure_console(services, settings.base_url, _read_known(console_file))

    tenants, console = asyncio.run(ensure())
    _write_private(tenants_file, tenants)
    _write_private(console_file, console)
    return tenants, console


def _read_known(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def _write_private(path: Path, facts: dict[str, Any]) -> None:
    unfinished = path.with_suffix(f".{secrets.token_hex(4)}")
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump(facts, file, indent=2)
    unfinished.replace(path)


def _prepare_sample(settings: Settings, console: dict[str, Any]) -> None:
    import asyncio

    from kontor.bootstrap import open_services
    from kontor.cli.demo_console import prepare_sample
    from kontor.services.runtime import Clock

    async def add() -> None:
        async with open_services(settings, "kontor demo") as services:
            await prepare_sample(services, console, Clock(settings.today, settings.clock).today())

    asyncio.run(add())


def _show_welcome(base_url: str, facts: dict[str, Any], console: dict[str, Any], data: Path) -> None:
    tenant = facts["tenants"][0]
    client, user = tenant["userClient"], tenant["user"]
    bold, plain = ("[bold]", "[/bold]") if errors.is_terminal else ("", "")
    say(f"\n{bold}Kontor runs at {base_url}{plain}\n", is_styled=True)
    say(f"  Console             {console['url']}")
    say(f"  API documentation   {base_url}/docs")
    say(f"  All logins          {data / 'demo.json'}\n")
    say("Get a token (paste this into another terminal):\n")
    say(
        f"  curl -s -u '{client['username']}:{client['password']}' {base_url}/auth/oauth2/token \\\n"
        f"    -d grant_type=password -d username={user['username']} -d password='{user['password']}'\n"
    )
    say("[dim]Ctrl-C stops everything.[/dim]", is_styled=True)
