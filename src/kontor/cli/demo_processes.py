"""The API and the worker of the demo, as processes of their own that end with it."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from typing import Protocol

from kontor.cli.output import say
from kontor.config import Settings, export_settings
from kontor.domain.errors import ConflictError

READY_SECONDS = 180  # on a machine that is very busy; an idle one needs less than ten
STOP_SECONDS = 40


class StopCheck(Protocol):
    def check(self) -> None: ...


class Children:
    def __init__(self, settings: Settings, port: int) -> None:
        quiet = replace(settings, log_level="warning") if "KONTOR_LOG_LEVEL" not in os.environ else settings
        child = replace(quiet, log_format="text", parent_pid=os.getpid())
        self._environment = os.environ | export_settings(child)
        self._commands = {"API": ["serve", "--port", str(port)], "worker": ["worker"]}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, address: str, stopping: StopCheck) -> None:
        """The API first: a caller waits for it, and loading both at once would make both slow."""
        self._start_one("API")
        self._wait_until_ready(address, stopping)
        self._start_one("worker")

    def _start_one(self, name: str) -> None:
        # A session of its own: Ctrl-C in the terminal reaches us alone, and we stop the children in order.
        self._running[name] = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "kontor", *self._commands[name]],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _wait_until_ready(self, address: str, stopping: StopCheck) -> None:
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end:
            stopping.check()
            if self._running["API"].poll() is not None:
                raise ConflictError("The API did not start.")
            try:
                with urllib.request.urlopen(f"{address}/health/ready", timeout=1):  # noqa: S310
                    return
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.02)
        raise ConflictError(f"The API did not answer within {READY_SECONDS} seconds.")

    def watch(self, stopping: StopCheck) -> None:
        """Until told to stop; a child that ends by itself is started again."""
        while True:
            stopping.check()
            for name, process in list(self._running.items()):
                if process.poll() is not None:
                    say(f"The {name} ended (exit code {process.returncode}); starting it again.")
                    time.sleep(1)
                    stopping.check()
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
