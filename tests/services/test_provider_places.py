"""Refreshes of a bank that does not answer take so many places of a worker and no more."""

import asyncio
import threading
from dataclasses import replace
from uuid import UUID

import pytest

from kontor.services.fetching import Outcome
from kontor.services.fetching.fetching import PROVIDER_REFRESHES

OTHER_BANK = UUID(int=77)


@pytest.fixture
def harness(refreshing):
    return refreshing


@pytest.fixture
def bank(refresh_bank):
    return refresh_bank


@pytest.fixture
def stuck():
    """The bank does not answer before this is set."""
    event = threading.Event()
    yield event
    event.set()


def list_queued(harness):
    rows = harness.owner.execute("select access_id, id from fetches where state = 'QUEUED'").fetchall()
    return dict(rows)


async def test_a_bank_that_hangs_leaves_places_for_refreshes_of_other_banks(harness, bank, stuck, monkeypatch):
    fetching, providers = harness.services.fetching, harness.services.fetching._gateway._providers
    find = providers.find
    monkeypatch.setattr(
        providers, "find", lambda key: replace(find(UUID(int=0)), id=key) if key == OTHER_BANK else find(key)
    )
    count = PROVIDER_REFRESHES + 2
    for number in range(count):
        await harness.add(f"a{number}", login=f"login{number}")
    harness.owner.execute("update accesses set provider_id = %s where id = 'a0'", [OTHER_BANK])
    harness.owner.execute("update accesses set next_refresh_at = %s", [harness.clock.at])
    assert await harness.look() == count
    queued = list_queued(harness)
    bank.calls.clear()
    bank.on_begin = lambda: stuck.wait(60)
    running = [asyncio.create_task(fetching.run(queued[f"a{number}"])) for number in range(1, PROVIDER_REFRESHES + 1)]
    for _ in range(6000):
        if len(bank.calls) == PROVIDER_REFRESHES:
            break
        await asyncio.sleep(0.01)
    bank.on_begin = lambda: None

    last = queued[f"a{count - 1}"]
    assert await fetching.run(last) is Outcome.CROWDED
    assert len(bank.calls) == PROVIDER_REFRESHES
    assert len(harness.calls(f"a{count - 1}")) == 0, "nothing is written down of a call that is not made"
    assert await fetching.run(queued["a0"]) is Outcome.FINISHED, "another bank"
    assert harness.states("a0") == ["DONE"]

    stuck.set()
    assert set(await asyncio.gather(*running)) == {Outcome.FINISHED}
    assert await fetching.run(last) is Outcome.FINISHED
    assert harness.states(f"a{count - 1}") == ["DONE"]


async def test_what_somebody_asks_for_needs_no_place_of_the_refreshes(harness, bank, monkeypatch):
    monkeypatch.setattr("kontor.services.fetching.fetching.PROVIDER_REFRESHES", 0)
    await harness.add()
    bank.calls.clear()
    await harness.refresh(is_attended=False)
    assert bank.calls == ["begin", "resume"]
