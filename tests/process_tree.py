"""Processes under test: starting them, looking for them, waiting for them."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx

from kontor.bootstrap import attach_embedded, migrate_database
from kontor.config import Settings, export_settings, read_settings
from kontor.storage.embedded import EmbeddedPostgres
from plain_http import plain_client
from timeouts import WAIT_TIMEOUT_SECONDS

KONTOR = [sys.executable, "-m", "kontor"]


def clean_environment(**more: str) -> dict[str, str]:
    """This environment without any setting of Kontor."""
    return {key: value for key, value in os.environ.items() if not key.startswith("KONTOR_")} | more


@dataclass
class Running:
    """A process in a session of its own, with all that it prints."""

    arguments: list[str]
    output: Path
    environment: dict[str, str] = field(default_factory=clean_environment)
    command: list[str] = field(default_factory=lambda: KONTOR)

    def __post_init__(self) -> None:
        with self.output.open("ab") as file:
            self.process = subprocess.Popen(
                [*self.command, *self.arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def printed(self) -> str:
        return self.output.read_text()

    def wait_for(self, text: str, seconds: float = WAIT_TIMEOUT_SECONDS) -> None:
        self._wait(lambda: text in self.printed, f"{text!r} in the output", seconds)

    def wait_until_ready(self, base_url: str, seconds: float = WAIT_TIMEOUT_SECONDS) -> None:
        self._wait(lambda: status_of(f"{base_url}/health/ready") == 200, f"{base_url} ready", seconds)

    def _wait(self, is_there: Callable[[], bool], what: str, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not is_there():
            assert self.process.poll() is None, f"ended with {self.process.returncode}:\n{self.printed}"
            assert time.monotonic() < end, f"no {what}:\n{self.printed}"
            time.sleep(0.02)

    def end(
        self, number: int = signal.SIGTERM, *, is_group: bool = False, seconds: float = WAIT_TIMEOUT_SECONDS
    ) -> int:
        """Send a signal and return the exit code."""
        os.killpg(self.pid, number) if is_group else os.kill(self.pid, number)
        return self.process.wait(seconds)

    def discard(self) -> None:
        """For the end of a test that may have failed half-way."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(WAIT_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def status_of(url: str) -> int | None:
    try:
        with plain_client(timeout=10) as client:
            return client.get(url).status_code
    except httpx.TransportError:
        return None


def wait_until(is_true: Callable[[], object], what: str, seconds: float = WAIT_TIMEOUT_SECONDS) -> None:
    """The limit is generous: on a busy machine it only ends a test that would never end."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, f"not within {seconds} seconds: {what}"
        time.sleep(0.05)


def command_line(pid: int) -> list[str]:
    try:
        return [part.decode() for part in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    except (FileNotFoundError, ProcessLookupError):
        return []


def environment_of(pid: int) -> dict[str, str]:
    parts = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return dict(part.decode().partition("=")[::2] for part in parts if part)


def find_processes(text: str) -> list[int]:
    """All that have `text` in their command line or among their settings."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            told = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if state != "Z" and text.encode() in told:
            found.append(int(entry.name))
    return found


def children_of(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def is_alive(pid: int) -> bool:
    return bool(command_line(pid) and command_line(pid) != [""])


def is_port_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def find_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def own_database(data: Path) -> Iterator[tuple[EmbeddedPostgres, Settings]]:
    """A database of one's own, migrated, to be stopped and killed at will."""
    server = EmbeddedPostgres(data)
    try:
        base = read_settings({}, data=server.data, base_url=f"http://127.0.0.1:{find_port()}", demo_bank=True)
        ready = attach_embedded(replace(base, compute_processes=1, compute_preload=False), server.start())
        migrate_database(ready)
        yield server, ready
    finally:
        server.stop()
        shutil.rmtree(server.home)


@contextmanager
def running_kontor(settings: Settings, arguments: list[str], output: Path) -> Iterator[Running]:
    running = Running(arguments, output, clean_environment(**export_settings(settings)))
    try:
        yield running
    finally:
        running.discard()


@contextmanager
def running_servers(
    settings: Settings, folder: Path, *workers: int, preloads: bool = False
) -> Iterator[list[tuple[str, Running]]]:
    """`kontor serve`, once for each number of workers; yields (address, process), all ready.

    Compute processes start at their first task unless the test is about them: loading takes 4 s of processor time.
    """
    servers: list[tuple[str, Running]] = []
    try:
        for number, count in enumerate(workers):
            port = find_port()
            own = replace(settings, base_url=f"http://127.0.0.1:{port}", compute_preload=preloads)
            arguments = ["serve", "--port", str(port), "--workers", str(count)]
            output = folder / f"server-{number}.log"
            servers.append((own.base_url, Running(arguments, output, clean_environment(**export_settings(own)))))
        for address, process in servers:
            process.wait_until_ready(address)
        yield servers
    finally:
        for _, process in servers:
            process.discard()
