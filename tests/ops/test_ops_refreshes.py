"""Background refresh as operators see it: what is due, late, running, failing and paused, counted and listed."""

import asyncio
import gc

import pytest
from operating import ago, now

from kontor.services.runtime.single_flight_cache import MAX_ENTRIES, MIN_TTL_SECONDS, TTL_FACTOR, SingleFlightCache

STATES = ("due", "late", "running", "failing", "paused")


@pytest.fixture
def busy(operator):
    """At each tenant: two due and one of them late in the schedule, two queued and one of them late, and so on."""
    for tenant in ("north", "south"):
        operator.add_access(tenant, next_refresh_at=ago(minutes=-1))
        operator.add_access(tenant, next_refresh_at=ago(minutes=14))
        operator.add_access(tenant, next_refresh_at=ago(minutes=16))
        operator.add_fetch(operator.add_access(tenant), "QUEUED", requested_at=ago(minutes=14), slot_at=ago(minutes=14))
        operator.add_fetch(operator.add_access(tenant), "QUEUED", requested_at=ago(minutes=16), slot_at=ago(minutes=16))
        operator.add_fetch(operator.add_access(tenant), "RUNNING", started_at=now(), slot_at=ago(minutes=1), attempts=1)
        operator.add_fetch(operator.add_access(tenant), "FAILED", failure="UNREACHABLE", started_at=ago(minutes=3))
        operator.add_fetch(operator.add_access(tenant), "INTERRUPTED", slot_at=ago(hours=1))
        operator.add_fetch(operator.add_access(tenant), "DONE", slot_at=ago(hours=1))
        operator.add_fetch(operator.add_access(tenant, refresh_pause="SCA"), "WAITING")
        operator.add_access(tenant, refresh_pause="CREDENTIALS")
        operator.add_access(tenant, refresh_pause="CREDENTIALS")
    operator.add_fetch(operator.add_access(), "DONE", finished_at=ago(hours=25))
    return operator


async def test_the_summary_counts_each_state_for_all_and_for_one_tenant(busy):
    whole, own = await busy.read("refreshes/summary"), await busy.read("refreshes/summary", "north")
    assert {name: whole[name] for name in STATES} == {
        "due": 8, "late": 4, "running": 2, "failing": 4, "paused": {"SCA": 2, "CREDENTIALS": 4},
    }  # fmt: skip
    assert {name: own[name] for name in STATES} == {
        "due": 4, "late": 2, "running": 1, "failing": 2, "paused": {"SCA": 1, "CREDENTIALS": 2},
    }  # fmt: skip
    assert whole["lastDay"] == {"done": 2, "failed": 2, "interrupted": 2, "skipped": 0, "waiting": 2}
    assert own["lastDay"] == {"done": 1, "failed": 1, "interrupted": 1, "skipped": 0, "waiting": 1}
    again = await busy.read("refreshes/summary", tenant="north")
    assert {name: again[name] for name in STATES} == {name: own[name] for name in STATES}


async def test_nothing_is_counted_where_nothing_is(operator):
    summary = await operator.read("refreshes/summary")
    assert {name: summary[name] for name in STATES[:4]} == dict.fromkeys(STATES[:4], 0)
    assert "oldestDueAt" not in summary
    for state in STATES:
        assert await operator.read("refreshes", state=state) == []


@pytest.mark.parametrize("state", STATES)
async def test_every_count_has_its_rows_whatever_the_size_of_the_page(busy, state):
    summary = await busy.read("refreshes/summary")
    expected = sum(summary[state].values()) if state == "paused" else summary[state]
    whole = await busy.read("refreshes", state=state)
    assert len(whole) == expected
    assert len({(refresh["userReference"], refresh["access"]) for refresh in whole}) == expected
    for limit in (1, 2, 3, expected):
        assert await busy.read_all("refreshes", state=state, limit=limit) == whole
    own = await busy.read_all("refreshes", "north", state=state, limit=2)
    assert len(own) * 2 == expected
    assert {refresh["tenant"] for refresh in own} == {"north"}


async def test_rows_tell_what_an_operator_needs(busy):
    [running] = await busy.read("refreshes", "north", state="running")
    assert {"slot", "startedAt", "dueAt", "provider", "attempts", "attended"} <= set(running)
    assert (running["state"], running["attended"], running["attempts"]) == ("RUNNING", False, 1)
    failed = await busy.read("refreshes", "north", state="failing")
    assert {refresh["state"] for refresh in failed} == {"FAILED", "INTERRUPTED"}
    assert {refresh.get("failure") for refresh in failed} == {"UNREACHABLE", None}
    assert all("finishedAt" in refresh for refresh in failed)
    paused = await busy.read("refreshes", "north", state="paused")
    assert [refresh["pause"] for refresh in paused] == ["SCA", "CREDENTIALS", "CREDENTIALS"]
    late = await busy.read("refreshes", "north", state="late")
    assert [refresh["state"] for refresh in late] == ["SCHEDULED", "QUEUED"]


async def test_a_state_must_be_named_and_known(operator):
    assert (await operator.call("operator", "refreshes")).status_code == 400
    assert (await operator.call("operator", "refreshes", state="fine")).status_code == 400


# Is all well?


async def test_all_is_well_while_a_worker_lives_and_nothing_is_wrong(operator):
    from uuid import uuid4

    assert (await operator.read("health"))["well"] is False  # nobody works
    await operator.services.workers.beat(uuid4())
    health = await operator.read("health")
    assert health["well"] is True
    assert [check["name"] for check in health["checks"]] == [
        "database", "workers", "refreshes", "accesses", "deliveries", "providers", "jobs",
    ]  # fmt: skip
    assert (await operator.read("health", "north"))["well"] is True


async def test_what_is_wrong_is_named_and_a_tenant_hears_only_of_its_own(operator):
    from uuid import uuid4

    dead = uuid4()
    await operator.services.workers.beat(uuid4())
    await operator.services.workers.beat(dead)
    operator.owner.execute("update workers set seen_at = now() - interval '1 minute' where id = %s", [dead])
    operator.add_access("south", next_refresh_at=ago(minutes=16))
    operator.owner.execute("insert into provider_outages values (%s, 3, now(), now())", [uuid4()])
    operator.owner.execute("insert into pgqueuer (priority, status, entrypoint) values (0, 'failed', 'fetch')")

    async def find_wrong(token):
        return [check["name"] for check in (await operator.read("health", token))["checks"] if not check["well"]]

    assert await find_wrong("operator") == ["workers", "refreshes", "providers", "jobs"]
    assert await find_wrong("south") == ["refreshes"]
    assert await find_wrong("north") == []


async def find_check(operator, token, name="accesses"):
    return next(check for check in (await operator.read("health", token))["checks"] if check["name"] == name)


@pytest.mark.parametrize("failure", ["UNREACHABLE", "LOCKED", "WRONG_CREDENTIALS"])
async def test_an_unreachable_bank_and_a_refused_login_are_no_good_health(operator, failure):
    operator.add_fetch(operator.add_access("north"), "DONE")
    assert (await find_check(operator, "north"))["well"] is True
    operator.add_fetch(operator.add_access("north"), "FAILED", failure=failure)
    for token in ("operator", "north"):
        check = await find_check(operator, token)
        assert (check["well"], check["detail"]) == (False, "1 of 2 failed at the last fetch, 0 with a refused login")
        assert (await operator.read("health", token))["well"] is False
    assert (await find_check(operator, "south"))["well"] is True


async def test_a_refused_login_counts_as_long_as_it_stays_refused_and_once(operator):
    old = operator.add_access("north", refresh_pause="CREDENTIALS")
    operator.add_fetch(old, "FAILED", failure="LOCKED", finished_at=ago(days=3))
    assert (await find_check(operator, "north"))["well"] is False
    for _ in range(199):
        operator.add_access("north")
    new = operator.add_access("north", refresh_pause="CREDENTIALS")
    operator.add_fetch(new, "FAILED", failure="LOCKED")
    check = await find_check(operator, "north")
    assert check["detail"] == "1 of 201 failed at the last fetch, 2 with a refused login"
    assert check["well"] is True, "two of 201 accesses are less than one in a hundred"
    operator.add_fetch(operator.add_access("north"), "FAILED", failure="UNREACHABLE")
    assert (await find_check(operator, "north"))["well"] is False


async def test_an_access_is_failing_until_a_fetch_succeeds_however_long_its_bank_is_down(operator):
    access = operator.add_access(next_refresh_at=ago(hours=-1))
    operator.add_fetch(access, "FAILED", failure="UNREACHABLE", finished_at=ago(days=2))
    operator.add_fetch(access, "SKIPPED", failure="provider")
    [shown] = await operator.read("accesses", refresh="failing")
    assert (shown["id"], shown["failing"], shown["refresh"]) == (access[1], True, "scheduled")
    operator.add_fetch(access, "DONE")
    assert await operator.read("accesses", refresh="failing") == []


# Figures are cached


async def test_figures_are_cached_for_ten_seconds_and_longer_where_counting_takes_long():
    clock, counted = [0.0], []

    async def count(key):
        counted.append(key)
        clock[0] += 2.0 if key == "slow" else 0.0
        return len(counted)

    cache = SingleFlightCache(count, lambda: clock[0])
    assert [await cache.read("fast"), await cache.read("fast"), await cache.read("slow")] == [1, 1, 2]
    clock[0] = 2 + MIN_TTL_SECONDS
    assert await cache.read("fast") == 3
    assert await cache.read("slow") == 2
    clock[0] = 2 + 2 * TTL_FACTOR
    assert await cache.read("slow") == 4


async def test_who_asks_while_somebody_counts_waits_for_that_count():
    counted = []

    async def count(key):
        counted.append(key)
        await asyncio.sleep(0.01)
        return len(counted)

    cache = SingleFlightCache(count)
    assert await asyncio.gather(*(cache.read(None) for _ in range(20))) == [1] * 20


async def test_the_cache_holds_no_lock_for_a_key_that_nobody_reads():
    async def count(key):
        return key

    cache = SingleFlightCache(count)
    before = count_locks()
    for key in range(3 * MAX_ENTRIES):
        await cache.read(key)
    assert count_locks() - before < MAX_ENTRIES


def count_locks():
    gc.collect()
    return sum(isinstance(found, asyncio.Lock) for found in gc.get_objects())


async def test_what_ended_long_ago_is_counted_once_and_leaves_after_a_day(operator, monkeypatch):
    from datetime import timedelta

    from kontor.services.operations import refresh_outcomes as ops_outcomes
    from kontor.services.operations.refresh_outcomes import OutcomeTally

    monkeypatch.setattr(ops_outcomes, "SETTLED", timedelta(minutes=2))
    moment = now()
    for hours in (1, 2, 23):
        operator.add_fetch(operator.add_access(), "DONE", finished_at=moment - timedelta(hours=hours))
    operator.add_fetch(operator.add_access("south"), "FAILED", finished_at=moment)
    tally = OutcomeTally(operator.services.database)
    assert await tally.count(None, moment) == {"DONE": 3, "FAILED": 1}
    assert await tally.count(operator.tenants["south"], moment) == {"FAILED": 1}
    operator.clear()
    operator.add_fetch(operator.add_access(), "SKIPPED", finished_at=moment)
    assert await tally.count(None, moment) == {"DONE": 3, "SKIPPED": 1}, "only what is recent is looked at again"
    later = moment + timedelta(hours=2)
    operator.add_fetch(operator.add_access(), "DONE", finished_at=later)
    assert await tally.count(None, later) == {"DONE": 3, "SKIPPED": 1}, "23 hours ago are 25 now"
    assert await OutcomeTally(operator.services.database).count(None, later) == {"DONE": 1, "SKIPPED": 1}


async def test_failing_accesses_are_counted_up_to_a_limit(operator, monkeypatch):
    from kontor.storage import ops_refreshes

    monkeypatch.setattr(ops_refreshes, "MAX_FAILING", 2)
    for _ in range(3):
        operator.add_fetch(operator.add_access(), "FAILED")
    assert (await operator.read("refreshes/summary"))["failing"] == 2
