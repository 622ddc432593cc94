"""A machine whose clock jumps: what must not depend on it does not, and stored bookings stay as they are."""

import asyncio
import re
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from fetch_harness import FetchHarness, Gate

import kontor
from kontor import bootstrap
from kontor.services.banks.admission import Admissions
from kontor.services.runtime import clock

JUMPS = (date(2027, 12, 24), date(2025, 1, 1), date(2026, 11, 3), date(2026, 2, 28))
# Where the wall clock of the machine is the right one: tokens, and what is signed for a while, say when they end.
WALL_CLOCK = {
    "assistants/handles.py",
    "connectors/enablebanking/tokens.py",
    "connectors/xs2a/oauth.py",
    "console/sessions.py",
    "demobank/enablebanking/applications.py",
    "services/identity/authorizations.py",
}


@pytest.mark.parametrize("jump", JUMPS, ids=str)
async def test_a_clock_that_jumps_and_comes_back_neither_loses_nor_doubles_bookings(own, harness, bank, jump):
    await harness.add()
    before = harness.rows("transactions", "id, amount")
    assert before
    async with bootstrap.open_services(replace(own, pool_size=4, today=jump), "kontor tests, jumped") as services:
        moved = FetchHarness(services, harness.principal, harness.owner)
        await moved.refresh()
        assert harness.rows("transactions", "id, amount") == before
    await harness.refresh()
    assert harness.rows("transactions", "id, amount") == before
    assert await harness.notices() == ([], [])


async def test_leases_and_jobs_go_by_the_clock_of_the_database(own, harness, bank):
    """A process whose clock is a year ahead takes nothing away from one that works."""
    async with bootstrap.open_services(
        replace(own, pool_size=4, today=date(2027, 12, 24)), "kontor tests, ahead"
    ) as services:
        gate = bank.on_begin = Gate()
        posted = harness.post({"a": await harness.request()})
        running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
        await gate.wait()
        assert await services.fetching.take_over_abandoned() == 0
        gate.open.set()
        await running
        await posted
    assert harness.rows("fetches", "state, attempts") == [("DONE", 1)]


def test_no_time_limit_is_measured_by_the_wall_clock():
    """Deadlines and pauses are measured by clocks that do not jump."""
    [folder] = kontor.__path__
    files = {path for path in Path(folder).rglob("*.py") if re.search(r"\btime\.time\(", path.read_text())}
    assert {str(path.relative_to(folder)) for path in files} == WALL_CLOCK


async def test_a_machine_whose_clock_is_wrong_counts_calls_of_a_bank_as_all_others_do(own, harness, monkeypatch):
    """By the machine's clock the four calls of the last minutes would be two days old, or to come in two days."""
    await harness.add()
    user_id = harness.principal.user_id
    harness.owner.execute(
        "insert into unattended_calls (user_id, access_id, called_at, fetch_id)"
        " select %s, 'a', now() - make_interval(mins => n), gen_random_uuid() from generate_series(1, 4) n",
        [user_id],
    )
    for days in (2, -2):

        class WrongDatetime(datetime):
            @classmethod
            def now(cls, tz=None, shift=timedelta(days=days)):
                return datetime.now(tz) + shift

        monkeypatch.setattr(clock, "datetime", WrongDatetime)
        admissions = Admissions(harness.services.database, clock.Clock())
        async with harness.services.database.connect(user_id) as connection:
            wait = await admissions.find_wait(connection, user_id, "a")
        assert wait is not None
        assert timedelta(hours=23) < wait < timedelta(hours=24)
