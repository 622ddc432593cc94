"""When accesses are refreshed in the background: every slot of every access gets exactly one outcome."""

import asyncio
from datetime import timedelta
from itertools import pairwise
from uuid import uuid4

import psycopg
import pytest
from refresh_harness import DAY, HOUR, MINUTE, START

from kontor import bootstrap
from kontor.domain.refreshes import find_next_slot, find_slot
from kontor.services.accesses import refreshing as refreshing_module
from kontor.storage import refreshes

SECOND = timedelta(seconds=1)


@pytest.fixture
def harness(refreshing):
    return refreshing


@pytest.fixture
def bank(refresh_bank):
    return refresh_bank


def add_accesses(harness, count, due_at):
    """Accesses that are due, without asking any bank."""
    harness.owner.execute(
        "insert into accesses (user_id, id, provider_id, is_synced, status, credentials, lease_key, next_refresh_at,"
        " scheduled_since) select %s, 'x' || n, %s, true, 'COMPLETE', 'sealed', n::text::bytea, %s, %s"
        " from generate_series(1, %s) n",
        [harness.user_id, uuid4(), due_at, due_at - DAY, count],
    )
    # The slots so far were seen to.
    for (access_id,) in harness.owner.execute("select id from accesses where id like 'x%'").fetchall():
        slot = find_slot(harness.user_id, access_id, harness.clock.at) - 6 * HOUR
        harness.owner.execute(
            "insert into fetches (id, user_id, access_id, state, is_attended, correlation_id, slot_at, finished_at)"
            " values (%s, %s, %s, 'DONE', false, '', %s, now())",
            [uuid4(), harness.user_id, access_id, slot],
        )


# The plain way


async def test_new_access_is_refreshed_from_its_next_slot_on(harness, bank):
    await harness.add()
    slot = find_next_slot(harness.user_id, "a", START)
    assert harness.access() == (slot, None)
    harness.clock.at = slot - SECOND
    assert await harness.look() == 0
    harness.clock.at = slot
    assert await harness.look() == 1
    assert await harness.look() == 0
    assert harness.slots() == [(slot, "QUEUED", None)]
    assert harness.jobs()["refresh", "queued"] == 1
    assert harness.access()[0] == slot + 6 * HOUR
    bank.calls.clear()
    await harness.run_queued()
    assert harness.slots() == [(slot, "DONE", None)]
    assert harness.calls() == [slot]
    assert bank.calls == ["begin", "resume"]
    assert set(bank.jobs[-1].since) == {"giro", "spar"}, "only what may be new is asked for"


async def test_a_week_has_28_slots_although_the_clocks_change(harness, bank):
    await harness.add("a")
    await harness.add("b", login="berta")
    bank.calls.clear()
    await harness.live(START + 7 * DAY)
    for access_id in ("a", "b"):
        slots = harness.slots(access_id)
        assert len(slots) == 28
        assert {state for _, state, _ in slots} == {"DONE"}
        assert {later[0] - earlier[0] for earlier, later in pairwise(slots)} == {6 * HOUR}
        calls = harness.calls(access_id)
        assert len(calls) == 28
        assert all(fifth - first > DAY for first, fifth in zip(calls, calls[4:], strict=False))
        assert all(call - slot[0] < 10 * MINUTE for call, slot in zip(calls, slots, strict=True))
    assert bank.calls.count("begin") == 56


async def test_refresh_that_brings_nothing_new_changes_nothing_but_the_times(harness, bank):
    await harness.add()
    query = "select ctid, xmin, * from {} where user_id = %s order by 3, 4, 5"

    def read(table):
        return harness.owner.execute(query.format(table), [harness.user_id]).fetchall()

    tables = ("transactions", "transaction_tags", "positions", "tagging_states")
    before = {table: read(table) for table in tables}
    assert all(before.values())
    await harness.refresh_at_slot()
    assert harness.states() == ["DONE"]
    assert {table: read(table) for table in tables} == before


# Several at once


async def test_two_schedulers_at_once_share_what_is_due_and_schedule_nothing_twice(
    harness, refresh_settings, monkeypatch
):
    add_accesses(harness, 150, harness.clock.at)
    monkeypatch.setattr(refreshing_module, "BATCH", 7)
    async with bootstrap.open_services(refresh_settings, "kontor tests, second") as other:
        found = await asyncio.gather(*[scheduler.look() for scheduler in (harness, harness.beside(other)) * 2])
    assert sum(found) == 150
    assert harness.count("fetches", "state = 'QUEUED'") == 150
    assert harness.jobs()["refresh", "queued"] == 150
    assert harness.count("accesses", "next_refresh_at <= '2026-10-23 09:17Z'") == 0


async def test_queue_is_not_flooded_and_what_is_late_stays_due(harness, monkeypatch):
    """After an outage of ours thousands are due at once: whoever waits for a fetch must not stand behind them."""
    add_accesses(harness, 30, harness.clock.at)
    monkeypatch.setattr(refreshing_module, "MAX_QUEUED", 12)
    assert await harness.look() == 12
    assert await harness.look() == 0
    finish = "update fetches set state = 'DONE', finished_at = now() where id in ({})"
    harness.owner.execute(finish.format("select id from fetches where state = 'QUEUED' order by id limit 5"))
    assert await harness.look() == 5
    assert harness.count("fetches", "state = 'QUEUED'") == 12
    while harness.count("accesses", "next_refresh_at <= '2026-10-23 09:17Z'"):
        harness.owner.execute(finish.format("select id from fetches where state = 'QUEUED'"))
        await harness.look()
        assert harness.count("fetches", "finished_at is null") <= 12


async def test_access_that_somebody_holds_is_left_for_the_next_look(harness, refresh_settings):
    await harness.add("a")
    await harness.add("b", login="berta")
    harness.clock.at = START + 6 * HOUR
    with psycopg.connect(refresh_settings.migration_database_url.reveal()) as other:
        other.execute("select 1 from accesses where id = 'a' for update")
        assert await harness.look() == 1
        assert (harness.states("a"), harness.states("b")) == ([], ["QUEUED"])
    assert await harness.look() == 1
    assert harness.states("a") == ["QUEUED"]


# Slots that could not be kept


async def test_slots_that_nobody_looked_at_are_written_down_as_missed(harness, bank):
    await harness.add()
    first = await harness.refresh_at_slot()
    harness.clock.at = first + 2 * DAY + HOUR
    await harness.look()
    assert [slot for slot, _, _ in harness.slots()] == [first + 6 * HOUR * number for number in range(9)]
    assert harness.states() == ["DONE", *["missed"] * 7, "QUEUED"]
    await harness.run_queued()
    assert harness.states()[-1] == "DONE"


async def test_access_at_work_is_looked_at_again_until_its_window_ends(harness, bank):
    await harness.add()
    slot = harness.go_to_slot()
    harness.owner.execute(
        "insert into fetches (id, user_id, access_id, state, is_attended, correlation_id)"
        " values (%s, %s, 'a', 'RUNNING', true, '')",
        [uuid4(), harness.user_id],
    )
    assert await harness.look() == 1
    assert harness.slots() == []
    assert harness.access()[0] == slot + MINUTE
    harness.clock.at = slot + 6 * HOUR - SECOND
    await harness.look()
    assert harness.slots() == [(slot, "SKIPPED", "busy")]
    assert harness.access()[0] == slot + 6 * HOUR
    harness.owner.execute("update fetches set state = 'DONE' where state = 'RUNNING'")
    await harness.refresh_at_slot()
    assert harness.states() == ["busy", "DONE"]


async def test_fetch_that_waited_beyond_its_window_is_left_out(harness, bank):
    await harness.add()
    slot = harness.go_to_slot()
    await harness.look()
    bank.calls.clear()
    harness.clock.at = slot + 6 * HOUR
    await harness.run_queued()
    assert harness.slots() == [(slot, "SKIPPED", "missed")]
    assert bank.calls == []
    await harness.look()
    await harness.run_queued()
    assert harness.states() == ["missed", "DONE"]


# Accesses of former versions, clocks that are set


async def test_accesses_added_before_there_were_slots_get_their_times_spread_evenly(harness):
    add_accesses(harness, 300, harness.clock.at)
    harness.owner.execute("delete from fetches")
    harness.owner.execute("update accesses set next_refresh_at = null, scheduled_since = null")
    harness.owner.execute("update accesses set refresh_pause = 'CREDENTIALS' where id = 'x1'")
    assert await harness.services.refreshing.repair_schedule() == 299
    rows = harness.owner.execute("select id, next_refresh_at from accesses order by 2").fetchall()
    assert rows.pop() == ("x1", None)
    assert all(at == find_next_slot(harness.user_id, access_id, START) for access_id, at in rows)
    assert await harness.look() == 0
    assert rows[0][1] < START + 10 * MINUTE
    assert rows[-1][1] > START + 5 * HOUR + 50 * MINUTE


async def test_clock_that_is_set_back_stops_nobody(harness, bank):
    await harness.add()
    await harness.live(START + 2 * DAY)
    harness.clock.at = START - 30 * DAY
    assert await harness.services.refreshing.repair_schedule() == 1
    assert harness.access()[0] == find_next_slot(harness.user_id, "a", harness.clock.at)
    slot = await harness.refresh_at_slot()
    assert harness.slots()[0] == (slot, "DONE", None)


# Cost


async def test_finding_what_is_due_reads_an_index_however_many_accesses_there_are(harness):
    """The statements as they are used, on tables whose statistics are known."""
    count = 20_000
    harness.owner.execute(
        "insert into accesses (user_id, id, provider_id, is_synced, credentials, next_refresh_at, scheduled_since)"
        " select %s, 'x' || n, %s, true, 'sealed', %s::timestamptz + n * interval '1 second', %s"
        " from generate_series(1, %s) n",
        [harness.user_id, uuid4(), harness.clock.at, harness.clock.at, count],
    )
    harness.owner.execute(
        "insert into fetches (id, user_id, access_id, state, is_attended, correlation_id, slot_at, finished_at)"
        " select gen_random_uuid(), user_id, id, 'DONE', false, '', %s, now() from accesses",
        [harness.clock.at],
    )
    harness.owner.execute(
        "insert into unattended_calls select user_id, id, %s, gen_random_uuid() from accesses", [harness.clock.at]
    )
    harness.owner.execute("analyze")
    now = harness.clock.at + timedelta(seconds=50)
    lock = explain(harness, refreshes.LOCK_DUE, {"now": now, "batch": 200, "most_queued": 400})
    assert "accesses_due" in lock
    read = explain(
        harness,
        refreshes.READ_DUE,
        {"now": now, "since": now - DAY, "until": now, "users": [harness.user_id] * 50,
         "accesses": [f"x{number}" for number in range(1, 51)]},
    )  # fmt: skip
    consents = explain(harness, refreshes.CLAIM_ENDING, [now.date(), now.date(), 200])
    unscheduled = explain(harness, refreshes.UNSCHEDULED, {"batch": 200, "user": None})
    far = explain(harness, refreshes.FORGET_FAR, [now + DAY, 200])
    for plan in (lock, read, consents, unscheduled, far):
        for table in ("accesses", "fetches", "unattended_calls"):
            assert f"Seq Scan on {table}" not in plan, plan
    harness.owner.execute("delete from accesses")


def explain(harness, query, values):
    return "\n".join(row[0] for row in harness.owner.execute("explain " + query, values).fetchall())
