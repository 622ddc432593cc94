"""The implementations, and Kontor's worker, as processes; each pinned to the same core, one at a time under load."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.cores import cpu_seconds, pin
from benchmarks.endpoints import Request
from kontor.config import Settings, export_settings

OURS, LIMIT, CONVENTIONAL, CEILING = "Kontor", "limit", "conventional", "ceiling"
WORKER, LARGE_WORKER, REFRESHER = "worker", "large worker", "refresher"
START_SECONDS = 60

COMMANDS = {
    OURS: ("kontor", "serve", "--workers", "1", "--port", "{port}"),
    LIMIT: ("benchmarks.limit", "{port}"),
    CONVENTIONAL: ("benchmarks.conventional", "{port}"),
    CEILING: ("benchmarks.ceiling", "{port}"),
    WORKER: ("kontor", "worker"),
    LARGE_WORKER: ("benchmarks.large_worker",),
    REFRESHER: ("benchmarks.scale.refresh_bank",),
}


@dataclass
class ServerProcess:
    """A server for the time of a `with` block. What it prints goes to a file, Kontor's log lines too."""

    name: str
    settings: Settings
    endpoint: str
    log: Path
    cores: set[int]
    environment: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> "ServerProcess":
        self.port = free_port()
        settings = replace(self.settings, base_url=f"http://127.0.0.1:{self.port}")
        if self.name in (LIMIT, CONVENTIONAL):  # they bind no connections, and so need the role that sees all rows
            settings = replace(settings, database_url=settings.migration_database_url)
        with self.log.open("ab") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *(word.format(port=self.port) for word in COMMANDS[self.name])],
                env=os.environ | export_settings(settings) | {"BENCH_ENDPOINT": self.endpoint} | self.environment,
                stdout=file,
                stderr=file,
                start_new_session=True,
                preexec_fn=pin(self.cores),  # safe: this process has one thread
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait_for(self, request: Request) -> bytes:
        """The body of the answer, as soon as there is one."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return self.ask(request)
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"{self.name} did not start:\n{self.log.read_text()}")

    def ask(self, request: Request, body: bytes | None = None) -> bytes:
        """The answer to one request, which must be a success."""
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}{request.path}", body, make_headers(request, body))
        try:
            with urllib.request.urlopen(asked, timeout=600) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{self.name} answered {error.code}: {error.read()!r}") from None

    @property
    def base(self) -> bytes:
        """The address that its hrefs begin with, which is another one for each server."""
        return f"http://127.0.0.1:{self.port}".encode()

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)


def make_headers(request: Request, body: bytes | None) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {request.token}"}
    return headers if body is None else headers | {"Content-Type": "application/json"}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
