"""The parent of the API processes. It replaces those that die, however often they die.

Granian ends the whole server ("Worker crash loop detected") when one of its processes dies twice within seconds, and
has no option to change that. So its loop is replaced here. The loop is not part of Granian's public interface; the
lock files pin the version, and tests/cli/test_cli_crashes.py fails when a new version works in another way.
"""

import os
import signal
import time
from dataclasses import dataclass
from typing import Any

import structlog
from granian.server import Server

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.05
LIVED_SECONDS = 10.0  # a process that ran for so long had started well
BACKOFF_SECONDS = (0.0, 0.25, 0.5, 1.0, 2.0, 3.0)  # before the successor of one that had not, by number of failures


@dataclass(slots=True)
class Restart:
    """When a process is to be started again, and how often in a row it has died young."""

    failures: int = 0
    due_at: float | None = None

    def plan(self, lived_seconds: float, now: float) -> float:
        """Returns how long to wait."""
        self.failures = 0 if lived_seconds >= LIVED_SECONDS else self.failures
        wait = BACKOFF_SECONDS[min(self.failures, len(BACKOFF_SECONDS) - 1)]
        self.failures += 1
        self.due_at = now + wait
        return wait


class Supervisor(Server):  # type: ignore[misc, valid-type]  # Granian chooses the class at import
    def serve(self, *arguments: Any, **options: Any) -> None:
        self._restarts = [Restart() for _ in range(self.workers)]
        # A forked process inherits handlers that do nothing there: until it sets its own, a signal must simply end it.
        os.register_at_fork(after_in_child=_reset_signals)
        super().serve(*arguments, **options)

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        # It looks again and again, since waiting for an event that a signal handler sets can deadlock.
        while not self.interrupt_signal:
            while self.interrupt_children:
                self._note_death(self.interrupt_children.pop(0))
            for index, restart in enumerate(self._restarts):
                if restart.due_at is not None and restart.due_at <= time.monotonic():
                    self._start_successor(index, spawn_target, target_loader)
            if self.reload_signal:
                self._reload(spawn_target, target_loader)
            time.sleep(POLL_SECONDS)

    def _note_death(self, index: int) -> None:
        process = self.wrks[index]
        if process.is_alive():  # a reload has replaced it already
            return
        now = time.monotonic()
        lived = now - process.birth
        wait = self._restarts[index].plan(lived, now)
        log.error(
            "process.died",
            process=index + 1,
            exit_code=process.inner.exitcode,
            lived_seconds=round(lived, 1),
            restart_in_seconds=wait,
        )

    def _start_successor(self, index: int, spawn_target: Any, target_loader: Any) -> None:
        restart = self._restarts[index]
        restart.due_at = None
        try:
            successor = self._spawn_worker(idx=index, target=spawn_target, callback_loader=target_loader)
            successor.start()
        except OSError as error:  # no memory, or too many processes
            wait = restart.plan(0, time.monotonic())
            log.error("process.not-started", process=index + 1, reason=str(error), restart_in_seconds=wait)
            return
        self.wrks[index] = successor


def _reset_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
