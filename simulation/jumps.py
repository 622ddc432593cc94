"""Machines whose clocks are wrong: each worker's jumps forth and back, while the database's is right."""

import os
import random
from datetime import datetime, timedelta, tzinfo
from types import ModuleType

# Of simulated time. Half of the time a clock is right.
JUMPS = (
    timedelta(0),
    timedelta(0),
    timedelta(0),
    timedelta(0),
    timedelta(hours=7),
    timedelta(hours=-7),
    timedelta(days=2),
    timedelta(days=-40),
)
SECONDS = 5  # real ones, between two jumps


def find_jump(process: int, real_seconds: float) -> timedelta:
    """Where the clock of a process stands at a moment, as against the right one."""
    return random.Random(f"{process} {int(real_seconds / SECONDS)}").choice(JUMPS)


def let_clock_jump(module: ModuleType, factor: float) -> None:
    """Whoever asks this module's `datetime` for the time gets that of a machine whose clock jumps."""

    class JumpingDatetime(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            right = datetime.now(tz)
            return right + find_jump(os.getpid(), right.timestamp()) / factor

    module.datetime = JumpingDatetime  # type: ignore[attr-defined]
