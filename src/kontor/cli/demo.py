"""`kontor demo`: everything in one process tree, ready to be tried."""

import fcntl
import json
import os
import secrets
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from kontor.cli.output import errors
from kontor.config import Settings, export_settings, read_settings
from kontor.domain.errors import ConflictError

STOP_SECONDS = 40


def add_commands(app: App) -> None:
    app.command(demo)


def demo(
    *,
    port: Annotated[int, Parameter(help="Port of the API.")] = 8080,
    data: Annotated[Path | None, Parameter(help="Folder for the database and demo.json.")] = None,
    today: Annotated[date | None, Parameter(help="Run at another date.")] = None,
) -> int:
    """Start everything, with two tenants to try: PostgreSQL, the API and a worker. Ctrl-C stops it all."""
    from kontor.bootstrap import attach_embedded, migrate_database
    from kontor.storage.embedded import EmbeddedPostgres

    base_url = f"http://127.0.0.1:{port}"
    settings = read_settings(data=data, base_url=base_url, today=today, demo=True)
    settings = replace(settings, data=settings.data.resolve(), database_url=None)
    stopping = _notice_signals()
    with _only_one(settings.data), _step("PostgreSQL") as step:
        server = EmbeddedPostgres(settings.data)
        step.note("first start" if not server.cluster.exists() else "")
        try:
            ready = attach_embedded(settings, server.start())
            step.next("Migrations")
            migrate_database(ready)
            step.next("Demo tenants")
            facts = _prepare_tenants(ready)
            step.next("API and worker")
            children = Children(ready, port)
            try:
                children.start()
                children.wait_until_ready(base_url, stopping)
                step.done()
                _show_welcome(base_url, facts, settings.data)
                children.watch(stopping)
            finally:
                errors.print("\nStopping …")
                children.stop()
        finally:
            server.stop()
    errors.print("Stopped; the data stays in " + str(settings.data))
    return 0


class Children:
    """The API and the worker, as processes of their own."""

    def __init__(self, settings: Settings, port: int) -> None:
        quiet = replace(settings, log_level="warning") if "KONTOR_LOG_LEVEL" not in os.environ else settings
        self._environment = os.environ | export_settings(replace(quiet, log_format="text"))
        self._commands = {"API": ["serve", "--port", str(port)], "worker": ["worker"]}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        for name in self._commands:
            self._start_one(name)

    def _start_one(self, name: str) -> None:
        # A session of its own: Ctrl-C in the terminal reaches us alone, and we stop the children in order.
        self._running[name] = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "kontor", *self._commands[name]], env=self._environment, start_new_session=True
        )

    def wait_until_ready(self, base_url: str, stopping: "Stopping") -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end and not stopping:
            if self._running["API"].poll() is not None:
                raise ConflictError(f"The API did not start. Is the port of {base_url} in use?")
            try:
                with urllib.request.urlopen(f"{base_url}/health/ready", timeout=1):  # noqa: S310
                    return
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.02)
        if not stopping:
            raise ConflictError("The API did not answer within a minute.")

    def watch(self, stopping: "Stopping") -> None:
        """Until told to stop; a child that ends by itself is started again."""
        while not stopping:
            for name, process in list(self._running.items()):
                if process.poll() is not None:
                    errors.print(
                        f"[yellow]The {name} ended (exit code {process.returncode}); starting it again.[/yellow]"
                    )
                    time.sleep(1)
                    self._start_one(name)
            time.sleep(0.1)

    def stop(self) -> None:
        for process in self._running.values():
            if process.poll() is None:
                process.terminate()
        end = time.monotonic() + STOP_SECONDS
        for process in self._running.values():
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Stopping:
    """Becomes true when the user wants an end."""

    def __init__(self) -> None:
        self._is_set = False

    def set(self, *_: object) -> None:
        self._is_set = True

    def __bool__(self) -> bool:
        return self._is_set


def _notice_signals() -> Stopping:
    stopping = Stopping()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stopping.set)
    return stopping


@contextmanager
def _only_one(data: Path) -> Iterator[None]:
    """One demo per data folder. The lock goes with the process, also after kill -9."""
    data.mkdir(parents=True, exist_ok=True)
    with (data / "demo.lock").open("w") as file:
        end = time.monotonic() + 5
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise ConflictError(f"Another demo is running on {data}.") from None
                time.sleep(0.1)
        yield


class _Step:
    """Progress in the words of a person: what is being done, and how long it took."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._note = ""
        self._started = time.monotonic()

    def note(self, text: str) -> None:
        self._note = f" ({text})" if text else ""

    def next(self, name: str) -> None:
        self.done()
        self._name, self._note, self._started = name, "", time.monotonic()

    def done(self) -> None:
        if self._name:
            seconds = time.monotonic() - self._started
            errors.print(f"  [green]✓[/green] {self._name}{self._note} [dim]{seconds:.1f} s[/dim]")
        self._name = ""


@contextmanager
def _step(name: str) -> Iterator[_Step]:
    errors.print("[bold]Kontor[/bold] is starting")
    yield _Step(name)


def _prepare_tenants(settings: Settings) -> dict[str, Any]:
    """The demo tenants, and `demo.json` with all that a caller needs. What is there already is kept."""
    import asyncio

    from kontor.bootstrap import open_services
    from kontor.cli.demo_tenants import ensure_demo_tenants

    path = settings.data / "demo.json"
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        known = {}

    async def ensure() -> dict[str, Any]:
        async with open_services(settings, "kontor demo") as services:
            return await ensure_demo_tenants(services, settings.base_url, known)

    facts = asyncio.run(ensure())
    unfinished = path.with_suffix(f".{secrets.token_hex(4)}")
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump(facts, file, indent=2)
    unfinished.replace(path)
    return facts


def _show_welcome(base_url: str, facts: dict[str, Any], data: Path) -> None:
    tenant = facts["tenants"][0]
    client, user = tenant["userClient"], tenant["user"]
    errors.print(f"""
[bold]Kontor runs at {base_url}[/bold]

  API documentation   {base_url}/docs
  All logins          {data / "demo.json"}

Get a token (paste this into another terminal):
""")
    errors.print(
        f"  curl -s -u '{client['username']}:{client['password']}' {base_url}/auth/oauth2/token \\\n"
        f"    -d grant_type=password -d username={user['username']} -d password='{user['password']}'",
        markup=False,
        soft_wrap=True,
    )
    errors.print("\n[dim]Ctrl-C stops everything.[/dim]")
