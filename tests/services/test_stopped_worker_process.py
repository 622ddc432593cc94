"""`kontor worker`, stopped by SIGTERM in the middle of a fetch: the next one goes on, and the bank is called once."""

import asyncio
from dataclasses import replace

import psycopg
import pytest
from refresh_harness import HandClock, RefreshHarness, make_user

import given_clusters
from kontor import bootstrap
from processes import beside, running_worker

SLOW_SECONDS = 4


@pytest.fixture
def own(settings):
    given_clusters.skip_where_given("other tests' jobs are in its queue")
    with beside(settings, demo_slow_seconds=SLOW_SECONDS) as own:
        yield own


async def wait_for_state(harness, state):
    for _ in range(6000):
        if harness.count("fetches", f"state = '{state}'"):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"the fetch is not {state}")


async def test_sigterm_hands_a_fetch_back_to_the_queue_and_the_next_worker_ends_it(own, tmp_path):
    logs = tmp_path / "first.log", tmp_path / "second.log"
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
        async with bootstrap.open_services(replace(own, pool_size=4), "kontor tests, stopping") as services:
            harness = RefreshHarness(services, await make_user(services, owner), owner, HandClock())
            request = await harness.request("test_slow")
            posted = asyncio.create_task(
                services.accesses.add_accesses(harness.principal, {"a": request}, refresh=False, is_attended=False)
            )
            with running_worker(own, logs[0]) as process:
                await wait_for_state(harness, "RUNNING")
                process.terminate()
                assert await asyncio.to_thread(process.wait, 60) == 0
            assert harness.count("fetches", "state = 'QUEUED' and resume_state is not null") == 1
            assert harness.jobs() == {("fetch", "queued"): 1}
            with running_worker(own, logs[1]):
                await wait_for_state(harness, "DONE")
            await posted
            assert len(harness.calls()) == 1
    assert "worker.jobs-cut-off" not in logs[0].read_text()
