"""Calls of a bank without the customer: four in 24 hours, each written down before it is made, whoever dies."""

import asyncio
import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from refresh_harness import DAY, DEMO_BANK, HOUR, MINUTE, START

from kontor import bootstrap
from kontor.connectors.base import Failed, FailureKind
from kontor.domain.refreshes import BUDGET_PERIOD, Outage, find_next_slot, find_pause, find_slot
from kontor.services.accesses.accesses import AccessRequest

SECOND = timedelta(seconds=1)
UNREACHABLE = Failed(FailureKind.UNREACHABLE)


@pytest.fixture
def harness(refreshing):
    return refreshing


@pytest.fixture
def bank(refresh_bank):
    return refresh_bank


# The budget


async def test_fifth_call_without_the_customer_is_not_made(harness, bank):
    await harness.add()
    for _ in range(4):
        assert await harness.refresh() is None
        harness.clock.at += MINUTE
    bank.calls.clear()
    assert await harness.refresh() == BUDGET_PERIOD - 4 * MINUTE
    assert bank.calls == []
    assert harness.count("fetches", "state in ('QUEUED', 'RUNNING', 'SKIPPED')") == 0
    assert harness.calls() == [START + MINUTE * number for number in range(4)]
    assert await harness.refresh(is_attended=True) is None, "the customer is there"
    assert bank.calls == ["begin", "resume"]
    assert len(harness.calls()) == 4
    harness.clock.at = START + BUDGET_PERIOD
    assert await harness.refresh() is None
    assert len(harness.calls()) == 5


async def test_slots_and_callers_share_one_budget(harness, bank):
    await harness.add()
    for _ in range(3):
        await harness.refresh()
    first = await harness.refresh_at_slot()
    second = await harness.refresh_at_slot()
    assert harness.states() == ["DONE", "budget"]
    assert len(harness.calls()) == 4
    assert await harness.refresh() == START + BUDGET_PERIOD - harness.clock.at
    await harness.live(START + 2 * DAY)
    assert [slot for slot, _, _ in harness.slots()][:2] == [first, second]
    assert set(harness.states()[4:]) == {"DONE"}
    calls = harness.calls()
    assert all(fifth - call > DAY for call, fifth in zip(calls, calls[4:], strict=False))


async def test_callers_and_schedulers_at_once_do_not_exceed_the_budget(harness, bank, refresh_settings):
    await harness.add()
    for _ in range(3):
        await harness.refresh()
    harness.go_to_slot()
    async with bootstrap.open_services(refresh_settings, "kontor tests, second") as other:
        second = harness.beside(other)
        await asyncio.gather(*[caller.refresh() for caller in (harness, second) * 3], harness.look(), second.look())
        await harness.run_queued()
    assert len(harness.calls()) == 4
    assert harness.count("fetches", "state in ('QUEUED', 'RUNNING')") == 0


async def test_two_starts_of_one_fetch_are_one_call(harness, bank, refresh_settings):
    await harness.add("a")
    harness.go_to_slot()
    await harness.look()
    bank.calls.clear()
    async with bootstrap.open_services(refresh_settings, "kontor tests, second") as other:
        await asyncio.gather(harness.run_queued(), harness.beside(other).run_queued())
    assert bank.calls == ["begin", "resume"]
    assert len(harness.calls()) == 1


async def test_new_credentials_are_stored_and_tried_as_soon_as_the_budget_allows(harness, bank):
    await harness.add()
    for _ in range(3):
        await harness.refresh()
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    for _ in range(3):
        await harness.refresh()
    assert len(harness.calls()) == 4, "what was refused is not sent again"
    assert harness.access() == (None, "CREDENTIALS")
    bank.refusal = None
    bank.pins.clear()
    wait = await harness.post("a", await harness.request(pin="new"), is_attended=False)
    assert wait == BUDGET_PERIOD
    assert bank.pins == []
    assert harness.access() == (find_next_slot(harness.user_id, "a", START), None)
    await harness.live(START + BUDGET_PERIOD + 6 * HOUR)
    assert bank.pins[0] == "new"
    assert harness.calls()[4] - START < BUDGET_PERIOD + 6 * HOUR
    assert harness.states()[-1] == "DONE"


async def test_customer_who_comes_while_a_refresh_waits_takes_it_over(harness, bank):
    """Nobody calls twice, and the call does not count."""
    await harness.add()
    slot = harness.go_to_slot()
    await harness.look()
    bank.calls.clear()
    call = harness.services.accesses.add_accesses(
        harness.principal, {"a": AccessRequest()}, refresh=True, is_attended=True
    )
    posted = asyncio.create_task(call)
    for _ in range(2000):
        if harness.count("fetches", "state = 'QUEUED' and is_attended"):
            break
        await asyncio.sleep(0.01)
    assert harness.jobs()["fetch", "queued"] == 2, "as urgent as any that somebody waits for"
    await harness.run_queued()
    assert await posted is None
    assert bank.calls == ["begin", "resume"]
    assert bank.jobs[-1].since == {}, "asked for everything"
    assert harness.slots() == [(slot, "DONE", None)]
    assert harness.calls() == []
    assert harness.jobs()["refresh", "queued"] == 0


# Workers that die


def forget_heartbeats(harness):
    harness.owner.execute("update credential_leases set until = now() - interval '1 second'")


async def die_in_call(harness, bank):
    """Run what waits, and lose the worker while the bank is asked."""
    reached, stay = threading.Event(), threading.Event()

    def hang():
        reached.set()
        assert stay.wait(60)

    bank.on_begin = hang
    running = asyncio.create_task(harness.run_queued())
    assert await asyncio.to_thread(reached.wait, 60)
    forget_heartbeats(harness)
    bank.on_begin = lambda: None
    return running, stay


async def test_refresh_whose_worker_died_in_the_call_is_interrupted_and_counts(harness, bank):
    await harness.add()
    slot = harness.go_to_slot()
    await harness.look()
    bank.calls.clear()
    late, stay = await die_in_call(harness, bank)
    assert await harness.services.fetching.take_over_abandoned() == 1
    assert harness.slots() == [(slot, "INTERRUPTED", None)]
    assert await harness.services.fetching.take_over_abandoned() == 0
    assert await harness.run_queued() == 0, "it is not repeated"
    stay.set()
    await late
    assert harness.slots() == [(slot, "INTERRUPTED", None)], "the late worker stores nothing"
    assert harness.calls() == [slot]
    assert await list_issues(harness) == [], "a worker that is replaced is nobody's error"
    await harness.refresh_at_slot()
    assert harness.states() == ["INTERRUPTED", "DONE"]
    assert len(harness.calls()) == 2


async def list_issues(harness):
    return [
        str(issue.kind) for issue in (await harness.services.accesses.read_access(harness.principal, "a")).access.issues
    ]


async def test_a_refresh_that_is_interrupted_at_two_slots_in_a_row_is_told(harness, bank):
    await harness.add()
    for told in ([], ["INTERNAL"]):
        harness.go_to_slot()
        await harness.look()
        late, stay = await die_in_call(harness, bank)
        assert await harness.services.fetching.take_over_abandoned() == 1
        stay.set()
        await late
        assert await list_issues(harness) == told
    await harness.refresh_at_slot()
    assert await list_issues(harness) == []


@pytest.mark.parametrize(
    "lost", ["delete from pgqueuer where payload = %s", "update pgqueuer set status = 'failed' where payload = %s"]
)
async def test_refresh_whose_worker_died_before_the_call_is_put_back(harness, bank, lost):
    await harness.add()
    slot = harness.go_to_slot()
    await harness.look()
    [(fetch_id,)] = harness.owner.execute("select id from fetches where state = 'QUEUED'").fetchall()
    harness.owner.execute(lost, [fetch_id.bytes])
    harness.owner.execute("update fetches set requested_at = now() - interval '1 minute' where id = %s", [fetch_id])
    assert await harness.services.fetching.take_over_abandoned() == 1
    assert harness.jobs() == {("refresh", "queued"): 1, ("fetch", "queued"): harness.jobs()["fetch", "queued"]}
    await harness.run_queued()
    assert harness.slots() == [(slot, "DONE", None)]
    assert harness.calls() == [slot]


async def test_fetch_that_somebody_asked_for_is_tried_again_within_the_budget(harness, bank):
    """Each attempt counts; when no call is left, there is no further one."""
    await harness.add()
    for _ in range(2):
        await harness.refresh()
    posted = asyncio.create_task(
        harness.services.accesses.add_accesses(
            harness.principal, {"a": AccessRequest()}, refresh=True, is_attended=False
        )
    )
    for _ in range(2000):
        if harness.count("fetches", "state = 'QUEUED'"):
            break
        await asyncio.sleep(0.01)
    running = []
    for number in (3, 4):
        running.append(await die_in_call(harness, bank))
        assert len(harness.calls()) == number
        harness.clock.at += MINUTE
        assert await harness.services.fetching.take_over_abandoned() == 1
    await harness.run_queued()
    assert len(harness.calls()) == 4
    assert harness.count("fetches", "state = 'SKIPPED' and failure = 'budget'") == 1
    await posted
    for late, stay in running:
        stay.set()
        await late


async def test_fetch_that_cannot_be_prepared_ends_and_is_not_queued_for_ever(harness, bank):
    await harness.add()
    slot = harness.go_to_slot()
    await harness.look()
    harness.owner.execute("update accesses set credentials = 'nobody can open this'")
    bank.calls.clear()
    with pytest.raises(Exception):  # noqa: B017 (whatever opening raises; the queue holds such a job)
        await harness.run_queued()
    assert bank.calls == []
    await harness.services.fetching.take_over_abandoned()
    assert harness.slots() == [(slot, "INTERRUPTED", None)]
    assert harness.calls() == []


# Providers that are down


def outage_of(harness):
    row = harness.owner.execute(
        "select provider_id, failures, down_since, next_try_at from provider_outages where provider_id = %s",
        [DEMO_BANK],
    ).fetchone()
    return None if row is None else Outage(*row)


async def add_several(harness, count):
    for number in range(count):
        await harness.add(f"a{number}", login=f"login{number}")
        # All slots at the same moment, which a test of luck alone would not give.
        harness.owner.execute("update accesses set next_refresh_at = %s", [START + HOUR])
    harness.clock.at = START + HOUR


async def test_provider_that_fails_three_times_is_left_alone_but_for_one_try_at_a_time(harness, bank):
    await add_several(harness, 8)
    bank.refusal = UNREACHABLE
    for number in range(3):
        await harness.refresh(f"a{number}", is_attended=True)
    outage = outage_of(harness)
    assert outage is not None
    assert outage.down_since == harness.clock.at
    assert outage.next_try_at == harness.clock.at + find_pause(DEMO_BANK, 3)
    bank.calls.clear()
    assert await harness.look() == 8
    assert await harness.run_queued() == 0
    waiting = {f"a{number}": harness.access(f"a{number}")[0] for number in range(8)}
    for access_id, at in waiting.items():  # a slot that ends before the next try is skipped: the next one begins
        assert at >= outage.next_try_at or at == find_slot(harness.user_id, access_id, at)
    assert len(set(waiting.values())) == 8
    for tries in range(1, 5):
        due = [row[0] for row in harness.owner.execute("select next_refresh_at from accesses").fetchall()]
        harness.clock.at = max(outage.next_try_at, *due)
        await harness.look()
        await harness.run_queued()
        assert bank.calls == ["begin"] * tries, "one finds out, the others wait"
        outage = outage_of(harness)
        assert outage is not None
        assert outage.failures == 3 + tries
    statistics = await harness.services.providers.read_statistics(DEMO_BANK)
    assert statistics.down_since == START + HOUR
    assert statistics.next_try_at == outage.next_try_at
    bank.refusal = None
    await harness.live(harness.clock.at + HOUR)
    assert outage_of(harness) is None
    assert (await harness.services.providers.read_statistics(DEMO_BANK)).down_since is None


async def test_many_that_wait_in_the_queue_when_a_provider_goes_down_come_back_later(harness, bank):
    await add_several(harness, 8)
    await harness.look()
    assert harness.count("fetches", "state = 'QUEUED'") == 8
    bank.refusal = UNREACHABLE
    bank.calls.clear()
    await harness.run_queued()
    assert bank.calls == ["begin"] * 3
    assert harness.count("fetches", "state = 'FAILED'") == 3
    assert harness.count("fetches", "state = 'QUEUED'") == 0
    assert harness.count("unattended_calls") == 3
    bank.refusal = None
    await harness.live(START + 12 * HOUR)
    ended = {number: harness.states(f"a{number}") for number in range(8)}
    assert all("DONE" in states for states in ended.values())


async def test_slot_at_a_provider_that_stays_down_is_skipped_at_the_end_of_its_window(harness, bank):
    await harness.add()
    slot = harness.go_to_slot()
    far = harness.clock.at + 30 * DAY
    harness.owner.execute("insert into provider_outages values (%s, 9, %s, %s)", [DEMO_BANK, slot, far])
    bank.calls.clear()
    await harness.look()
    assert harness.slots() == [(slot, "SKIPPED", "provider")]
    assert harness.access()[0] == slot + 6 * HOUR
    assert bank.calls == []


async def test_customer_who_is_there_is_not_held_back_by_an_outage(harness, bank):
    await harness.add()
    outage = [DEMO_BANK, harness.clock.at, harness.clock.at + DAY]
    harness.owner.execute("insert into provider_outages values (%s, 9, %s, %s)", outage)
    bank.calls.clear()
    await harness.refresh(is_attended=True)
    assert bank.calls == ["begin", "resume"]
    assert outage_of(harness) is None, "and so everybody knows that it is back"


async def test_wrong_pin_proves_that_the_provider_answers(harness, bank):
    await harness.add("a")
    bank.refusal = UNREACHABLE
    for _ in range(2):
        await harness.refresh("a", is_attended=True)
    assert outage_of(harness).failures == 2
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    await harness.refresh("a", is_attended=True)
    assert outage_of(harness) is None


async def test_failures_noted_at_the_same_time_all_count(harness, bank):
    other = uuid4()

    async def fail():
        async with harness.services.database.transaction() as connection:
            await harness.services.fetching._gateway.admissions.note_answer(connection, other, is_up=False)

    await asyncio.gather(*[fail() for _ in range(6)])
    [row] = harness.owner.execute("select failures, down_since from provider_outages").fetchall()
    assert row == (3, START), "further ones do not lengthen the pause"


async def test_old_calls_are_forgotten_by_housekeeping(harness, bank):
    await harness.add()
    await harness.refresh()
    harness.clock.at += 6 * DAY
    await harness.services.housekeeping.clean()
    assert len(harness.calls()) == 1
    harness.clock.at += 2 * DAY
    await harness.services.housekeeping.clean()
    assert harness.calls() == []
