"""A worker that stops or dies: without the customer the bank is called once, and no webhook event reports it."""

import asyncio
import threading

import pytest

from kontor import bootstrap
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.fetching import Outcome


@pytest.fixture
def harness(refreshing):
    return refreshing


@pytest.fixture
def bank(refresh_bank):
    return refresh_bank


@pytest.fixture
async def next_harness(harness, refresh_settings):
    """The worker that comes after."""
    async with bootstrap.open_services(refresh_settings, "kontor tests, next") as services:
        yield harness.beside(services)


@pytest.fixture
def events(harness, next_harness, monkeypatch):
    found = []

    async def publish(connection, *events):
        found.extend(str(event.kind) for event in events)

    for each in (harness, next_harness):
        monkeypatch.setattr(each.services.fetching._results._events, "publish", publish)
    return found


def ask(harness, *, is_attended):
    return asyncio.create_task(
        harness.services.accesses.add_accesses(
            harness.principal, {"a": AccessRequest()}, refresh=True, is_attended=is_attended
        )
    )


async def find_queued(harness):
    for _ in range(2000):
        if row := harness.owner.execute("select id from fetches where state = 'QUEUED'").fetchone():
            return row[0]
        await asyncio.sleep(0.01)
    raise AssertionError("no fetch was asked for")


async def list_issues(harness):
    access = (await harness.services.accesses.read_access(harness.principal, "a")).access
    return [str(issue.kind) for issue in access.issues]


@pytest.mark.parametrize("is_attended", [False, True])
async def test_a_worker_that_stops_hands_a_fetch_back_and_the_next_one_goes_on_with_the_dialogue(
    harness, next_harness, bank, events, is_attended
):
    await harness.add()
    events.clear()
    posted = ask(harness, is_attended=is_attended)
    fetch_id = await find_queued(harness)
    bank.calls.clear()
    bank.on_begin = harness.services.fetching.stop
    assert await harness.services.fetching.run(fetch_id) is Outcome.HANDED_BACK
    assert bank.calls == ["begin"]
    assert harness.count("fetches", "state = 'QUEUED'") == 1
    assert harness.count("credential_leases") == 0
    assert await next_harness.services.fetching.run(fetch_id) is Outcome.FINISHED
    await posted
    assert bank.calls == ["begin", "resume"]
    assert len(harness.calls()) == (0 if is_attended else 1)
    assert harness.count("fetches", "state = 'DONE'") == 2
    assert (events, await list_issues(harness)) == ([], [])


async def test_a_refresh_of_a_slot_is_handed_back_with_the_day_from_which_the_bank_was_asked(
    harness, next_harness, bank, events
):
    await harness.add()
    slot = harness.go_to_slot()
    await harness.look()
    bank.calls.clear()
    bank.on_begin = harness.services.fetching.stop
    await harness.run_queued()
    finished = []
    store_done = next_harness.services.fetching._results.store_done

    async def store(fetch):
        finished.append(fetch)
        await store_done(fetch)

    next_harness.services.fetching._results.store_done = store
    await next_harness.run_queued()
    assert bank.calls == ["begin", "resume"]
    assert bank.jobs[-1].since
    assert finished[0].since == bank.jobs[-1].since
    assert harness.slots() == [(slot, "DONE", None)]
    assert harness.calls() == [slot]


async def test_a_worker_that_stops_begins_no_fetch(harness, bank):
    await harness.add()
    harness.go_to_slot()
    await harness.look()
    bank.calls.clear()
    harness.services.fetching.stop()
    assert await harness.services.fetching.run(await find_queued(harness)) is Outcome.HANDED_BACK
    assert bank.calls == []
    assert (harness.calls(), harness.count("fetches", "state = 'QUEUED'")) == ([], 1)


async def test_a_fetch_without_the_customer_that_is_cut_off_in_a_call_is_not_repeated(
    harness, next_harness, bank, events
):
    await harness.add()
    events.clear()
    posted = ask(harness, is_attended=False)
    fetch_id = await find_queued(harness)
    bank.calls.clear()
    reached, stay = threading.Event(), threading.Event()

    def hang():
        reached.set()
        assert stay.wait(60)

    bank.on_begin = hang
    running = asyncio.create_task(harness.services.fetching.run(fetch_id))
    assert await asyncio.to_thread(reached.wait, 60)
    harness.services.fetching.stop()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await posted
    harness.owner.execute("update credential_leases set until = now() - interval '1 second'")
    assert await next_harness.services.fetching.take_over_abandoned() == 0
    assert await next_harness.run_queued() == 0
    stay.set()
    assert bank.calls == ["begin"]
    assert len(harness.calls()) == 1
    assert harness.count("fetches", "state = 'INTERRUPTED'") == 1
    assert events == []
    assert await list_issues(harness) == ["INTERNAL"], "who asked for it can see it"
    bank.on_begin = lambda: None
    await next_harness.refresh_at_slot()
    assert await list_issues(harness) == []
