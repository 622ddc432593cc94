"""What can be told while the days pass: how far it is, how fast, and what is late."""

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

import psycopg

from simulation.clocks import SimulatedClock
from simulation.environment import SimulationEnvironment
from simulation.faults import Killer

PAUSE_SECONDS = 30.0
LATE_MINUTES = 60  # after the moment an access was to be looked at


class Progress:
    def __init__(
        self, clock: SimulatedClock, environment: SimulationEnvironment, killer: Killer, say: Callable[[str], None]
    ) -> None:
        self._clock, self._environment, self._killer, self._say = clock, environment, killer, say
        self._done, self._at = 0, time.monotonic()

    def wait_until(self, moment: datetime) -> None:
        while (seconds := self._clock.seconds_until(moment)) > 0:
            time.sleep(min(seconds, PAUSE_SECONDS))
            with suppress(psycopg.Error):  # the database is just being restarted
                self._tell()

    def _tell(self) -> None:
        now = self._clock.now()
        done, missed, late = self._environment.query(
            "select count(*) filter (where started_at is not null), count(*) filter (where failure = 'missed'),"
            " (select count(*) from accesses where next_refresh_at < %s::timestamptz - make_interval(mins => %s))"
            " from fetches where finished_at is not null",
            now,
            LATE_MINUTES,
        )[0]
        rate = (done - self._done) / (time.monotonic() - self._at)
        self._done, self._at = done, time.monotonic()
        day = (now - self._clock.start).total_seconds() / 86400
        self._say(
            f"day {day:.2f}: {done:,} refreshes, {rate:.1f}/s; {late:,} late, {missed:,} missed,"
            f" {self._killer.killed:,} workers killed"
        )
