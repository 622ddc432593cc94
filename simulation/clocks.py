"""The clock of a simulation: it starts at a chosen moment and runs faster than the real one."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class FastClock:
    """All processes of a simulation share one. `setting` is what Kontor's own processes are told."""

    start: datetime
    factor: float
    real_start: float

    @classmethod
    def start_now(cls, start: datetime, factor: float) -> "FastClock":
        return cls(start, factor, time.time())

    @property
    def setting(self) -> str:
        return f"{self.start.isoformat()}@{self.factor!r}@{self.real_start!r}"

    @classmethod
    def read(cls, setting: str) -> "FastClock":
        start, factor, real_start = setting.split("@")
        return cls(datetime.fromisoformat(start), float(factor), float(real_start))

    def now(self) -> datetime:
        return self.at(time.time())

    def at(self, real: float) -> datetime:
        return self.start.astimezone(UTC) + timedelta(seconds=(real - self.real_start) * self.factor)

    def seconds_until(self, moment: datetime) -> float:
        """Real seconds."""
        return max(0.0, (moment - self.now()).total_seconds() / self.factor)
