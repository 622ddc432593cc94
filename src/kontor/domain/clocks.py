"""The business date. It can be moved for demos and tests; tokens, sessions and logs keep the real time."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

BERLIN = ZoneInfo("Europe/Berlin")


class BusinessClock:
    """Runs at the speed of the real clock, shifted by whole days so that it starts at `start`."""

    def __init__(self, start: date | None = None, *, real_now: datetime) -> None:
        real_day = real_now.astimezone(BERLIN).date()
        self._shift = timedelta(0) if start is None else start - real_day

    def today(self, real_now: datetime) -> date:
        return (real_now.astimezone(BERLIN) + self._shift).date()

    def now(self, real_now: datetime) -> datetime:
        return real_now.astimezone(UTC) + self._shift
