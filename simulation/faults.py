"""What goes wrong during a simulation: workers are killed at random moments, the database restarts."""

import random
import threading
import time
from collections.abc import Callable

from simulation.clocks import SimulatedClock
from simulation.workers import Nursery


class Killer:
    """Kills a random worker every few simulated minutes, and lets a new one be born in its place."""

    def __init__(self, nursery: Nursery, clock: SimulatedClock, minutes: tuple[float, float]) -> None:
        self._nursery, self._clock, self._minutes = nursery, clock, minutes
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
            self._nursery.kill(self._random.choice(list(self._nursery.lives)))
            self.killed += 1
            self._nursery.bear()


def restart_at(moments: list[float], restart: Callable[[], None]) -> threading.Thread:
    """Restart the database at these real moments (`time.monotonic`)."""

    def run() -> None:
        for moment in moments:
            time.sleep(max(0.0, moment - time.monotonic()))
            restart()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
