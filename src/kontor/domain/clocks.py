"""The business date. It can be moved for demos and tests; tokens, sessions and logs keep the real time."""

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

BERLIN = ZoneInfo("Europe/Berlin")


@lru_cache(maxsize=4096)
def find_banking_day(at: datetime) -> date:
    """The day in Berlin. Bookings of one day mostly have the same time."""
    return at.astimezone(BERLIN).date()


class BusinessClock:
    """Runs at the speed of the real clock, shifted by whole days so that it starts at `start`."""

    def __init__(self, start: date | None = None, *, real_now: datetime) -> None:
        real_day = real_now.astimezone(BERLIN).date()
        self._shift = timedelta(0) if start is None else start - real_day

    def today(self, real_now: datetime) -> date:
        return (real_now.astimezone(BERLIN) + self._shift).date()

    def now(self, real_now: datetime) -> datetime:
        return real_now.astimezone(UTC) + self._shift


@dataclass(frozen=True, slots=True)
class FastClock:
    """Starts at `start` when the real clock shows `real_start`, and runs `factor` times as fast. For simulations."""

    start: datetime
    factor: float
    real_start: datetime

    def today(self, real_now: datetime) -> date:
        return self.now(real_now).astimezone(BERLIN).date()

    def now(self, real_now: datetime) -> datetime:
        return self.start + (real_now - self.real_start) * self.factor


def read_fast_clock(text: str) -> FastClock:
    """From "<instant>@<factor>@<epoch seconds>". Raises ValueError for anything else."""
    start_text, factor_text, real_text = text.split("@")
    start, factor, real = datetime.fromisoformat(start_text), float(factor_text), float(real_text)
    if start.tzinfo is None or not math.isfinite(factor) or factor <= 0 or not 0 <= real < 2**35:
        raise ValueError(text)
    return FastClock(start.astimezone(UTC), factor, datetime.fromtimestamp(real, UTC))
