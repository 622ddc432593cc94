"""The clock of the business: today's date for banks and analyses, which a demo may move."""

from datetime import UTC, date, datetime

from kontor.domain.clocks import BusinessClock


class Clock:
    def __init__(self, start: date | None = None) -> None:
        self._business = BusinessClock(start, real_now=datetime.now(UTC))

    def today(self) -> date:
        return self._business.today(datetime.now(UTC))

    def now(self) -> datetime:
        return self._business.now(datetime.now(UTC))
