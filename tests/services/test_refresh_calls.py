"""Calls of a bank without the customer: four in 24 hours, each written down before it is made, whoever dies."""

import asyncio
import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from refresh_stage import DAY, DEMO_BANK, HOUR, MINUTE, START

from kontor import bootstrap
from kontor.connectors.base import Failed, FailureKind
from kontor.domain.refreshes import BUDGET_PERIOD, Outage, find_next_slot, find_pause, find_slot
from kontor.services.accesses.accesses import AccessRequest

SECOND = timedelta(seconds=1)
UNREACHABLE = Failed(FailureKind.UNREACHABLE)


@pytest.fixture
def stage(refreshing):
    return refreshing


@pytest.fixture
def bank(refresh_bank):
    return refresh_bank


# The budget


async def test_fifth_call_without_the_customer_is_not_made(stage, bank):
    await stage.add()
    for _ in range(4):
        assert await stage.refresh() is None
        stage.clock.at += MINUTE
    bank.calls.clear()
    assert await stage.refresh() == BUDGET_PERIOD - 4 * MINUTE
    assert bank.calls == []
    assert stage.count("fetches", "state in ('QUEUED', 'RUNNING', 'SKIPPED')") == 0
    assert stage.calls() == [START + MINUTE * number for number in range(4)]
    assert await stage.refresh(is_attended=True) is None, "the customer is there"
    assert bank.calls == ["begin", "resume"]
    assert len(stage.calls()) == 4
    stage.clock.at = START + BUDGET_PERIOD
    assert await stage.refresh() is None
    assert len(stage.calls()) == 5


async def test_slots_and_callers_share_one_budget(stage, bank):
    await stage.add()
    for _ in range(3):
        await stage.refresh()
    first = await stage.refresh_at_slot()
    second = await stage.refresh_at_slot()
    assert stage.states() == ["DONE", "budget"]
    assert len(stage.calls()) == 4
    assert await stage.refresh() == START + BUDGET_PERIOD - stage.clock.at
    await stage.live(START + 2 * DAY)
    assert [slot for slot, _, _ in stage.slots()][:2] == [first, second]
    assert set(stage.states()[4:]) == {"DONE"}
    calls = stage.calls()
    assert all(fifth - one > DAY for one, fifth in zip(calls, calls[4:], strict=False))


async def test_callers_and_schedulers_at_once_do_not_exceed_the_budget(stage, bank, refresh_settings):
    await stage.add()
    for _ in range(3):
        await stage.refresh()
    stage.go_to_slot()
    async with bootstrap.open_services(refresh_settings, "kontor tests, second") as other:
        second = stage.beside(other)
        await asyncio.gather(*[one.refresh() for one in (stage, second) * 3], stage.look(), second.look())
        await stage.run_queued()
    assert len(stage.calls()) == 4
    assert stage.count("fetches", "state in ('QUEUED', 'RUNNING')") == 0


async def test_two_starts_of_one_fetch_are_one_call(stage, bank, refresh_settings):
    await stage.add("a")
    stage.go_to_slot()
    await stage.look()
    bank.calls.clear()
    async with bootstrap.open_services(refresh_settings, "kontor tests, second") as other:
        await asyncio.gather(stage.run_queued(), stage.beside(other).run_queued())
    assert bank.calls == ["begin", "resume"]
    assert len(stage.calls()) == 1


async def test_new_credentials_are_stored_and_tried_as_soon_as_the_budget_allows(stage, bank):
    await stage.add()
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    for _ in range(4):
        await stage.refresh()
    assert stage.access() == (None, "CREDENTIALS")
    bank.refusal = None
    bank.pins.clear()
    wait = await stage.post("a", await stage.request(pin="new"), is_attended=False)
    assert wait == BUDGET_PERIOD
    assert bank.pins == []
    assert stage.access() == (find_next_slot(stage.user_id, "a", START), None)
    await stage.live(START + BUDGET_PERIOD + 6 * HOUR)
    assert bank.pins[0] == "new"
    assert stage.calls()[4] - START < BUDGET_PERIOD + 6 * HOUR
    assert stage.states()[-1] == "DONE"


async def test_customer_who_comes_while_a_refresh_waits_takes_it_over(stage, bank):
    """Nobody calls twice, and the call does not count."""
    await stage.add()
    slot = stage.go_to_slot()
    await stage.look()
    bank.calls.clear()
    call = stage.services.accesses.add_accesses(stage.principal, {"a": AccessRequest()}, refresh=True, is_attended=True)
    posted = asyncio.create_task(call)
    for _ in range(2000):
        if stage.count("fetches", "state = 'QUEUED' and is_attended"):
            break
        await asyncio.sleep(0.01)
    assert stage.jobs()["fetch", "queued"] == 2, "as urgent as any that somebody waits for"
    await stage.run_queued()
    assert await posted is None
    assert bank.calls == ["begin", "resume"]
    assert bank.jobs[-1].since == {}, "asked for everything"
    assert stage.slots() == [(slot, "DONE", None)]
    assert stage.calls() == []
    assert stage.jobs()["refresh", "queued"] == 0


# Workers that die


def forget_heartbeats(stage):
    stage.owner.execute("update credential_leases set until = now() - interval '1 second'")


async def die_in_call(stage, bank):
    """Run what waits, and lose the worker while the bank is asked."""
    reached, stay = threading.Event(), threading.Event()

    def hang():
        reached.set()
        assert stay.wait(60)

    bank.on_begin = hang
    running = asyncio.create_task(stage.run_queued())
    assert await asyncio.to_thread(reached.wait, 60)
    forget_heartbeats(stage)
    bank.on_begin = lambda: None
    return running, stay


async def test_refresh_whose_worker_died_in_the_call_is_interrupted_and_counts(stage, bank):
    await stage.add()
    slot = stage.go_to_slot()
    await stage.look()
    bank.calls.clear()
    late, stay = await die_in_call(stage, bank)
    assert await stage.services.fetching.take_over_abandoned() == 1
    assert stage.slots() == [(slot, "INTERRUPTED", None)]
    assert await stage.services.fetching.take_over_abandoned() == 0
    assert await stage.run_queued() == 0, "it is not repeated"
    stay.set()
    await late
    assert stage.slots() == [(slot, "INTERRUPTED", None)], "the late worker stores nothing"
    assert stage.calls() == [slot]
    assert await list_issues(stage) == [], "a worker that is replaced is nobody's error"
    await stage.refresh_at_slot()
    assert stage.states() == ["INTERRUPTED", "DONE"]
    assert len(stage.calls()) == 2


async def list_issues(stage):
    return [str(one.kind) for one in (await stage.services.accesses.read_access(stage.principal, "a")).access.issues]


async def test_a_refresh_that_is_interrupted_at_two_slots_in_a_row_is_told(stage, bank):
    await stage.add()
    for told in ([], ["INTERNAL"]):
        stage.go_to_slot()
        await stage.look()
        late, stay = await die_in_call(stage, bank)
        assert await stage.services.fetching.take_over_abandoned() == 1
        stay.set()
        await late
        assert await list_issues(stage) == told
    await stage.refresh_at_slot()
    assert await list_issues(stage) == []


@pytest.mark.parametrize(
    "lost", ["delete from pgqueuer where payload = %s", "update pgqueuer set status = 'failed' where payload = %s"]
)
async def test_refresh_whose_worker_died_before_the_call_is_put_back(stage, bank, lost):
    await stage.add()
    slot = stage.go_to_slot()
    await stage.look()
    [(fetch_id,)] = stage.owner.execute("select id from fetches where state = 'QUEUED'").fetchall()
    stage.owner.execute(lost, [fetch_id.bytes])
    stage.owner.execute("update fetches set requested_at = now() - interval '1 minute' where id = %s", [fetch_id])
    assert await stage.services.fetching.take_over_abandoned() == 1
    assert stage.jobs() == {("refresh", "queued"): 1, ("fetch", "queued"): stage.jobs()["fetch", "queued"]}
    await stage.run_queued()
    assert stage.slots() == [(slot, "DONE", None)]
    assert stage.calls() == [slot]


async def test_fetch_that_somebody_asked_for_is_tried_again_within_the_budget(stage, bank):
    """Each attempt counts; when no call is left, there is no further one."""
    await stage.add()
    for _ in range(2):
        await stage.refresh()
    posted = asyncio.create_task(
        stage.services.accesses.add_accesses(stage.principal, {"a": AccessRequest()}, refresh=True, is_attended=False)
    )
    for _ in range(2000):
        if stage.count("fetches", "state = 'QUEUED'"):
            break
        await asyncio.sleep(0.01)
    running = []
    for number in (3, 4):
        running.append(await die_in_call(stage, bank))
        assert len(stage.calls()) == number
        stage.clock.at += MINUTE
        assert await stage.services.fetching.take_over_abandoned() == 1
    await stage.run_queued()
    assert len(stage.calls()) == 4
    assert stage.count("fetches", "state = 'SKIPPED' and failure = 'budget'") == 1
    await posted
    for late, stay in running:
        stay.set()
        await late


async def test_fetch_that_cannot_be_prepared_ends_and_is_not_queued_for_ever(stage, bank):
    await stage.add()
    slot = stage.go_to_slot()
    await stage.look()
    stage.owner.execute("update accesses set credentials = 'nobody can open this'")
    bank.calls.clear()
    with pytest.raises(Exception):  # noqa: B017 (whatever opening raises; the queue holds such a job)
        await stage.run_queued()
    assert bank.calls == []
    await stage.services.fetching.take_over_abandoned()
    assert stage.slots() == [(slot, "INTERRUPTED", None)]
    assert stage.calls() == []


# Providers that are down


def outage_of(stage):
    row = stage.owner.execute(
        "select provider_id, failures, down_since, next_try_at from provider_outages where provider_id = %s",
        [DEMO_BANK],
    ).fetchone()
    return None if row is None else Outage(*row)


async def add_several(stage, count):
    for number in range(count):
        await stage.add(f"a{number}", login=f"login{number}")
        # All slots at the same moment, which a test of luck alone would not give.
        stage.owner.execute("update accesses set next_refresh_at = %s", [START + HOUR])
    stage.clock.at = START + HOUR


async def test_provider_that_fails_three_times_is_left_alone_but_for_one_try_at_a_time(stage, bank):
    await add_several(stage, 8)
    bank.refusal = UNREACHABLE
    for number in range(3):
        await stage.refresh(f"a{number}", is_attended=True)
    outage = outage_of(stage)
    assert outage is not None
    assert outage.down_since == stage.clock.at
    assert outage.next_try_at == stage.clock.at + find_pause(DEMO_BANK, 3)
    bank.calls.clear()
    assert await stage.look() == 8
    assert await stage.run_queued() == 0
    waiting = {f"a{number}": stage.access(f"a{number}")[0] for number in range(8)}
    for access_id, at in waiting.items():  # a slot that ends before the next try is skipped: the next one begins
        assert at >= outage.next_try_at or at == find_slot(stage.user_id, access_id, at)
    assert len(set(waiting.values())) == 8
    for tries in range(1, 5):
        due = [row[0] for row in stage.owner.execute("select next_refresh_at from accesses").fetchall()]
        stage.clock.at = max(outage.next_try_at, *due)
        await stage.look()
        await stage.run_queued()
        assert bank.calls == ["begin"] * tries, "one finds out, the others wait"
        outage = outage_of(stage)
        assert outage is not None
        assert outage.failures == 3 + tries
    statistics = await stage.services.providers.read_statistics(DEMO_BANK)
    assert statistics.down_since == START + HOUR
    assert statistics.next_try_at == outage.next_try_at
    bank.refusal = None
    await stage.live(stage.clock.at + HOUR)
    assert outage_of(stage) is None
    assert (await stage.services.providers.read_statistics(DEMO_BANK)).down_since is None


async def test_many_that_wait_in_the_queue_when_a_provider_goes_down_come_back_later(stage, bank):
    await add_several(stage, 8)
    await stage.look()
    assert stage.count("fetches", "state = 'QUEUED'") == 8
    bank.refusal = UNREACHABLE
    bank.calls.clear()
    await stage.run_queued()
    assert bank.calls == ["begin"] * 3
    assert stage.count("fetches", "state = 'FAILED'") == 3
    assert stage.count("fetches", "state = 'QUEUED'") == 0
    assert stage.count("unattended_calls") == 3
    bank.refusal = None
    await stage.live(START + 3 * HOUR)
    ended = {number: stage.states(f"a{number}") for number in range(8)}
    assert sum(states[:1] == ["DONE"] for states in ended.values()) >= 5
    assert all(states for states in ended.values())


async def test_slot_at_a_provider_that_stays_down_is_skipped_at_the_end_of_its_window(stage, bank):
    await stage.add()
    slot = stage.go_to_slot()
    far = stage.clock.at + 30 * DAY
    stage.owner.execute("insert into provider_outages values (%s, 9, %s, %s)", [DEMO_BANK, slot, far])
    bank.calls.clear()
    await stage.look()
    assert stage.slots() == [(slot, "SKIPPED", "provider")]
    assert stage.access()[0] == slot + 6 * HOUR
    assert bank.calls == []


async def test_customer_who_is_there_is_not_held_back_by_an_outage(stage, bank):
    await stage.add()
    outage = [DEMO_BANK, stage.clock.at, stage.clock.at + DAY]
    stage.owner.execute("insert into provider_outages values (%s, 9, %s, %s)", outage)
    bank.calls.clear()
    await stage.refresh(is_attended=True)
    assert bank.calls == ["begin", "resume"]
    assert outage_of(stage) is None, "and so everybody knows that it is back"


async def test_wrong_pin_proves_that_the_provider_answers(stage, bank):
    await stage.add("a")
    bank.refusal = UNREACHABLE
    for _ in range(2):
        await stage.refresh("a", is_attended=True)
    assert outage_of(stage).failures == 2
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    await stage.refresh("a", is_attended=True)
    assert outage_of(stage) is None


async def test_failures_noted_at_the_same_time_all_count(stage, bank):
    other = uuid4()

    async def fail():
        async with stage.services.database.transaction() as connection:
            await stage.services.refreshing.note_answer(connection, other, is_up=False)

    await asyncio.gather(*[fail() for _ in range(6)])
    [row] = stage.owner.execute("select failures, down_since from provider_outages").fetchall()
    assert row == (3, START), "further ones do not lengthen the pause"


async def test_old_calls_are_forgotten_by_housekeeping(stage, bank):
    await stage.add()
    await stage.refresh()
    stage.clock.at += 6 * DAY
    await stage.services.housekeeping.clean()
    assert len(stage.calls()) == 1
    stage.clock.at += 2 * DAY
    await stage.services.housekeeping.clean()
    assert stage.calls() == []
