"""What goes wrong during a simulation: workers are killed at random moments, the database restarts."""

import random
import threading
import time
from collections.abc import Callable

from simulation.clocks import SimulatedClock
from simulation.workers import WorkerForkServer


class Killer:
    """Kills a random worker every few simulated minutes, and starts a new one in its place."""

    def __init__(self, workers: WorkerForkServer, clock: SimulatedClock, minutes: tuple[float, float]) -> None:
        self._workers, self._clock, self._minutes = workers, clock, minutes
        self._random = random.Random(5)  # faults, not secrets
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.killed = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self._random.uniform(*self._minutes) * 60 / self._clock.factor):
            self._workers.kill(self._random.choice(list(self._workers.pids)))
            self.killed += 1
            self._workers.start_worker()


def restart_at(moments: list[float], restart: Callable[[], None]) -> threading.Thread:
    """Restart the database at these real moments (`time.monotonic`)."""

    def run() -> None:
        for moment in moments:
            time.sleep(max(0.0, moment - time.monotonic()))
            restart()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
