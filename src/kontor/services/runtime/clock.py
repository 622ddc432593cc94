"""The clock of the business: date and time for banks, analyses and refreshes, which a demo may move."""

from datetime import UTC, date, datetime

from kontor.domain.clocks import BusinessClock, read_fast_clock
from kontor.storage.database import Connection, read_time


class Clock:
    """Real time unless it is moved to begin at a day, or to run faster (`fast`, for simulations)."""

    def __init__(self, start: date | None = None, fast: str | None = None) -> None:
        moved = BusinessClock(start, real_now=datetime.now(UTC))
        self._business = moved if fast is None else read_fast_clock(fast)

    def today(self) -> date:
        return self._business.today(datetime.now(UTC))

    async def read(self, connection: Connection) -> datetime:
        """By the database's clock: for what processes decide together, such as how often a bank is called."""
        return self._business.now(await read_time(connection))

    def now(self) -> datetime:
        return self._business.now(datetime.now(UTC))
