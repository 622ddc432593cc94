"""The clock of a simulation: Kontor's own fast clock, by the setting that all processes of the simulation share."""

import time
from datetime import UTC, datetime

from kontor.domain.clocks import read_fast_clock


class SimulatedClock:
    """`setting` is what Kontor's processes are told."""

    def __init__(self, setting: str) -> None:
        self.setting = setting
        self._clock = read_fast_clock(setting)

    @classmethod
    def start_now(cls, start: datetime, factor: float) -> "SimulatedClock":
        return cls(f"{start.isoformat()}@{factor!r}@{time.time()!r}")

    @property
    def start(self) -> datetime:
        return self._clock.start

    @property
    def factor(self) -> float:
        return self._clock.factor

    def now(self) -> datetime:
        return self.at(datetime.now(UTC))

    def at(self, real: datetime) -> datetime:
        return self._clock.now(real)

    def seconds_until(self, moment: datetime) -> float:
        """Real seconds."""
        return max(0.0, (moment - self.now()).total_seconds() / self.factor)
