"""Who is refreshed in the background, and when: every slot of every access gets exactly one outcome."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from uuid import uuid4

import psycopg
import pytest
from refresh_stage import DAY, HOUR, MINUTE, START, make_user

from kontor import bootstrap
from kontor.connectors.base import Failed, FailureKind, NeedTan
from kontor.domain.errors import InvalidError
from kontor.domain.refreshes import find_next_slot, find_slot
from kontor.domain.sca import Challenge
from kontor.domain.secrets import Secret
from kontor.services.accesses import refreshing as refreshing_module
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.identity.users import NewUser
from kontor.storage import refreshes

SECOND = timedelta(seconds=1)


@pytest.fixture
def stage(refreshing):
    return refreshing


@pytest.fixture
def bank(refresh_bank):
    return refresh_bank


def add_accesses(stage, count, due_at):
    """Accesses that are due, without asking any bank."""
    stage.owner.execute(
        "insert into accesses (user_id, id, provider_id, is_synced, status, credentials, lease_key, next_refresh_at,"
        " scheduled_since) select %s, 'x' || n, %s, true, 'COMPLETE', 'sealed', n::text::bytea, %s, %s"
        " from generate_series(1, %s) n",
        [stage.user_id, uuid4(), due_at, due_at - DAY, count],
    )
    # The slots so far were seen to.
    for (access_id,) in stage.owner.execute("select id from accesses where id like 'x%'").fetchall():
        slot = find_slot(stage.user_id, access_id, stage.clock.at) - 6 * HOUR
        stage.owner.execute(
            "insert into fetches (id, user_id, access_id, state, is_attended, correlation_id, slot_at, finished_at)"
            " values (%s, %s, %s, 'DONE', false, '', %s, now())",
            [uuid4(), stage.user_id, access_id, slot],
        )


# The plain way


async def test_new_access_is_refreshed_from_its_next_slot_on(stage, bank):
    await stage.add()
    slot = find_next_slot(stage.user_id, "a", START)
    assert stage.access() == (slot, None)
    stage.clock.at = slot - SECOND
    assert await stage.look() == 0
    stage.clock.at = slot
    assert await stage.look() == 1
    assert await stage.look() == 0
    assert stage.slots() == [(slot, "QUEUED", None)]
    assert stage.jobs()["refresh", "queued"] == 1
    assert stage.access()[0] == slot + 6 * HOUR
    bank.calls.clear()
    await stage.run_queued()
    assert stage.slots() == [(slot, "DONE", None)]
    assert stage.calls() == [slot]
    assert bank.calls == ["begin", "resume"]
    assert set(bank.jobs[-1].since) == {"giro", "spar"}, "only what may be new is asked for"


async def test_a_week_has_28_slots_although_the_clocks_change(stage, bank):
    await stage.add("a")
    await stage.add("b", login="berta")
    bank.calls.clear()
    await stage.live(START + 7 * DAY)
    for access_id in ("a", "b"):
        slots = stage.slots(access_id)
        assert len(slots) == 28
        assert {state for _, state, _ in slots} == {"DONE"}
        assert {later[0] - earlier[0] for earlier, later in pairwise(slots)} == {6 * HOUR}
        calls = stage.calls(access_id)
        assert len(calls) == 28
        assert all(fifth - first > DAY for first, fifth in zip(calls, calls[4:], strict=False))
        assert all(call - slot[0] < 10 * MINUTE for call, slot in zip(calls, slots, strict=True))
    assert bank.calls.count("begin") == 56


async def test_refresh_that_brings_nothing_new_changes_nothing_but_the_times(stage, bank):
    await stage.add()
    query = "select ctid, xmin, * from {} where user_id = %s order by 3, 4, 5"

    def read(table):
        return stage.owner.execute(query.format(table), [stage.user_id]).fetchall()

    tables = ("transactions", "transaction_tags", "positions", "tagging_states")
    before = {table: read(table) for table in tables}
    assert all(before.values())
    await stage.refresh_at_slot()
    assert stage.states() == ["DONE"]
    assert {table: read(table) for table in tables} == before


# Several at once


async def test_two_schedulers_at_once_share_what_is_due_and_schedule_nothing_twice(
    stage, refresh_settings, monkeypatch
):
    add_accesses(stage, 150, stage.clock.at)
    monkeypatch.setattr(refreshing_module, "BATCH", 7)
    async with bootstrap.open_services(refresh_settings, "kontor tests, second") as other:
        found = await asyncio.gather(*[one.look() for one in (stage, stage.beside(other)) * 2])
    assert sum(found) == 150
    assert stage.count("fetches", "state = 'QUEUED'") == 150
    assert stage.jobs()["refresh", "queued"] == 150
    assert stage.count("accesses", "next_refresh_at <= '2026-10-23 09:17Z'") == 0


async def test_queue_is_not_flooded_and_what_is_late_stays_due(stage, monkeypatch):
    """After an outage of ours thousands are due at once: whoever waits for a fetch must not stand behind them."""
    add_accesses(stage, 30, stage.clock.at)
    monkeypatch.setattr(refreshing_module, "MOST_QUEUED", 12)
    assert await stage.look() == 12
    assert await stage.look() == 0
    stage.owner.execute("update fetches set state = 'DONE' where id in (select id from fetches limit 32)")
    await stage.look()
    assert stage.count("fetches", "state = 'QUEUED'") <= 12
    while stage.count("accesses", "next_refresh_at <= '2026-10-23 09:17Z'"):
        stage.owner.execute("update fetches set state = 'DONE', finished_at = now() where state = 'QUEUED'")
        await stage.look()
    assert stage.count("fetches", "finished_at is null") <= 12


async def test_access_that_somebody_holds_is_left_for_the_next_look(stage, refresh_settings):
    await stage.add("a")
    await stage.add("b", login="berta")
    stage.clock.at = START + 6 * HOUR
    with psycopg.connect(refresh_settings.migration_database_url.reveal()) as other:
        other.execute("select 1 from accesses where id = 'a' for update")
        assert await stage.look() == 1
        assert (stage.states("a"), stage.states("b")) == ([], ["QUEUED"])
    assert await stage.look() == 1
    assert stage.states("a") == ["QUEUED"]


# Slots that could not be kept


async def test_slots_that_nobody_looked_at_are_written_down_as_missed(stage, bank):
    await stage.add()
    first = await stage.refresh_at_slot()
    stage.clock.at = first + 2 * DAY + HOUR
    await stage.look()
    assert [slot for slot, _, _ in stage.slots()] == [first + 6 * HOUR * number for number in range(9)]
    assert stage.states() == ["DONE", *["missed"] * 7, "QUEUED"]
    await stage.run_queued()
    assert stage.states()[-1] == "DONE"


async def test_access_at_work_is_looked_at_again_until_its_window_ends(stage, bank):
    await stage.add()
    slot = stage.go_to_slot()
    stage.owner.execute(
        "insert into fetches (id, user_id, access_id, state, is_attended, correlation_id)"
        " values (%s, %s, 'a', 'RUNNING', true, '')",
        [uuid4(), stage.user_id],
    )
    assert await stage.look() == 1
    assert stage.slots() == []
    assert stage.access()[0] == slot + MINUTE
    stage.clock.at = slot + 6 * HOUR - SECOND
    await stage.look()
    assert stage.slots() == [(slot, "SKIPPED", "busy")]
    assert stage.access()[0] == slot + 6 * HOUR
    stage.owner.execute("update fetches set state = 'DONE' where state = 'RUNNING'")
    await stage.refresh_at_slot()
    assert stage.states() == ["busy", "DONE"]


async def test_fetch_that_waited_beyond_its_window_is_left_out(stage, bank):
    await stage.add()
    slot = stage.go_to_slot()
    await stage.look()
    bank.calls.clear()
    stage.clock.at = slot + 6 * HOUR
    await stage.run_queued()
    assert stage.slots() == [(slot, "SKIPPED", "missed")]
    assert bank.calls == []
    await stage.look()
    await stage.run_queued()
    assert stage.states() == ["missed", "DONE"]


# Who is refreshed at all


async def test_wrong_credentials_stop_every_access_that_has_them_until_one_of_them_works(stage, bank):
    """Whoever's they are: three wrong PINs would lock the customer out."""
    await stage.add("a", login="anna", pin="right")
    await stage.add("b", login="anna", pin="right")
    await stage.add("c", login="berta")
    stranger = stage.beside(stage.services)
    stranger.principal = await make_user(stage.services, stage.owner)
    await stranger.add("a", login="anna", pin="right")
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    stage.clock.at = stage.access("b")[0]
    stage.owner.execute("update accesses set next_refresh_at = next_refresh_at + interval '1 day' where id <> 'b'")
    await stage.look()
    bank.calls.clear()
    await stage.run_queued()
    assert bank.calls == ["begin"]
    assert stage.states("b") == ["FAILED"]
    for one, access_id in ((stage, "a"), (stage, "b"), (stranger, "a")):
        assert one.access(access_id) == (None, "CREDENTIALS")
    assert stage.access("c")[1] is None
    bank.refusal = None
    await stage.refresh("b", is_attended=True)
    assert stage.access("b") == (find_next_slot(stage.user_id, "b", stage.clock.at), None)
    await stage.services.refreshing.repair_schedule()
    assert stage.access("a")[1] is None, "the very same credentials have just worked"
    assert stranger.access("a")[0] == find_next_slot(stranger.user_id, "a", stage.clock.at)


@pytest.mark.parametrize("kind", [FailureKind.WRONG_CREDENTIALS, FailureKind.LOCKED])
async def test_who_knows_a_login_cannot_stop_the_refreshing_of_others_with_a_wrong_pin(stage, bank, kind):
    await stage.add("a", login="anna", pin="right")
    before = stage.access("a")
    stranger = stage.beside(stage.services)
    stranger.principal = await make_user(stage.services, stage.owner)
    bank.refusal = Failed(kind)
    await stranger.add("a", login="anna", pin="guessed")
    assert stranger.access("a") == (None, "CREDENTIALS")
    assert stage.access("a") == before


@pytest.mark.parametrize("kind", [FailureKind.LOCKED, FailureKind.INCOMPLETE_CREDENTIALS])
async def test_new_credentials_end_the_pause_also_before_they_are_tried(stage, bank, kind):
    await stage.add()
    bank.refusal = Failed(kind)
    await stage.refresh_at_slot()
    assert stage.access() == (None, "CREDENTIALS")
    await stage.live(stage.clock.at + DAY)
    assert stage.states() == ["FAILED"], "nobody tries again on his own"
    await stage.services.accesses.store_access(stage.principal, "a", await stage.request(pin="other"))
    assert stage.access() == (find_next_slot(stage.user_id, "a", stage.clock.at), None)


async def test_fetch_that_waits_when_the_credentials_are_refused_elsewhere_is_not_made(stage, bank):
    await stage.add("a")
    await stage.add("b")
    stage.clock.at = START + 6 * HOUR
    await stage.look()
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    bank.calls.clear()
    await stage.run_queued()
    assert bank.calls == ["begin"]
    assert sorted(stage.states("a") + stage.states("b")) == ["FAILED", "stopped"]


async def test_pausing_a_set_waits_for_nobody_while_it_holds_a_row(stage, bank, refresh_settings):
    """Somebody holds the other access for a moment: the failure is stored afterwards, and no deadlock comes of it."""
    await stage.add("a")
    await stage.add("b")
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    stage.clock.at = stage.access("a")[0]
    stage.owner.execute("update accesses set next_refresh_at = next_refresh_at + interval '1 day' where id = 'b'")
    await stage.look()
    with psycopg.connect(refresh_settings.migration_database_url.reveal()) as other:
        other.execute("select 1 from accesses where id = 'b' for update")
        running = asyncio.create_task(stage.run_queued())
        await asyncio.sleep(0.3)
        # The other way round: whoever waited for "b" with "a" in hand would wait for ever now.
        await asyncio.to_thread(other.execute, "select 1 from accesses where id = 'a' for update")
        assert not running.done()
    await running
    assert [stage.access("a"), stage.access("b")] == [(None, "CREDENTIALS")] * 2


async def test_sca_pauses_one_access_until_its_user_has_seen_to_it(stage, bank):
    await stage.add("a")
    await stage.add("b")
    needs_tan = NeedTan(Challenge("TAN", "Bitte eingeben"), {})
    bank.refusal = needs_tan
    await stage.refresh_at_slot("a")
    assert stage.states("a") == ["WAITING"]
    assert stage.access("a") == (None, "SCA")
    bank.refusal = None
    await stage.refresh("a", is_attended=True)
    assert stage.access("a")[1] is None
    await stage.refresh_at_slot("a")
    assert stage.states("a") == ["WAITING", "DONE"]


async def test_consent_that_is_over_costs_no_call_and_pauses(stage, bank):
    await stage.add()
    stage.owner.execute("update accesses set consent_until = %s", [stage.clock.today() - timedelta(days=1)])
    bank.calls.clear()
    await stage.refresh_at_slot()
    assert bank.calls == []
    assert stage.calls() == []
    assert stage.states() == ["WAITING"]
    assert stage.access() == (None, "SCA")


async def test_the_banks_answer_overrides_a_consent_date_that_has_passed(stage, bank):
    """With the customer there the bank is asked. It lets us in without SCA, so our date was wrong."""
    await stage.add()
    stage.owner.execute("update accesses set consent_until = %s", [stage.clock.today() - timedelta(days=1)])
    bank.calls.clear()
    await stage.refresh(is_attended=True)
    assert len(bank.calls) > 0
    assert stage.owner.execute("select consent_until, refresh_pause from accesses").fetchall() == [(None, None)]
    await stage.refresh_at_slot()
    assert stage.states()[-1] == "DONE"


async def test_a_consent_date_to_come_is_kept_when_the_bank_tells_none(stage, bank):
    await stage.add()
    day = stage.clock.today() + timedelta(days=3)
    stage.owner.execute("update accesses set consent_until = %s", [day])
    await stage.refresh(is_attended=True)
    assert stage.owner.execute("select consent_until from accesses").fetchall() == [(day,)]


async def test_tenants_are_told_once_of_each_consent_that_ends_soon(stage, bank):
    await stage.add("a")
    await stage.add("b", login="berta")
    today = stage.clock.today()
    stage.owner.execute("update accesses set consent_until = %s where id = 'a'", [today + timedelta(days=14)])
    stage.owner.execute("update accesses set consent_until = %s where id = 'b'", [today + timedelta(days=15)])
    warn = stage.services.refreshing.warn_of_consents
    assert [await warn(), await warn()] == [1, 0]
    stage.clock.at += DAY
    assert [await warn(), await warn()] == [1, 0]
    stage.owner.execute("update accesses set consent_until = %s where id = 'a'", [today + timedelta(days=200)])
    assert await warn() == 0
    stage.clock.at += 190 * DAY
    assert await warn() == 1


async def test_switching_sync_off_and_on_ends_and_begins_refreshing(stage, bank):
    await stage.add()
    await stage.post("a", AccessRequest(is_synced=False))
    assert stage.access() == (None, None)
    await stage.live(START + DAY)
    assert stage.slots() == []
    await stage.post("a", replace(await stage.request(), is_synced=True))
    assert stage.access()[0] == find_next_slot(stage.user_id, "a", stage.clock.at)
    await stage.refresh_at_slot()
    assert stage.states() == ["DONE"], "slots of the time between were nobody's"


async def test_sync_cannot_be_switched_on_without_credentials(stage, bank):
    await stage.add(is_synced=False)
    with pytest.raises(InvalidError, match=r"is required") as refused:
        await stage.post("a", AccessRequest(is_synced=True))
    assert refused.value.field == "a.credentials"
    assert stage.count("accesses", f"user_id = '{stage.user_id}' and not is_synced and expires_at is not null") == 1


async def test_access_that_is_deleted_while_it_is_being_added_again_is_a_new_one(stage, bank, refresh_settings):
    await stage.add()
    again = await stage.request()
    with psycopg.connect(refresh_settings.migration_database_url.reveal()) as other:
        other.execute("select 1 from accesses where user_id = %s for update", [stage.user_id])
        adding = asyncio.create_task(stage.services.accesses.store_access(stage.principal, "a", again))
        for _ in range(1000):  # until it waits for the other one
            if stage.owner.execute("select 1 from pg_stat_activity where wait_event_type = 'Lock'").fetchone():
                break
            await asyncio.sleep(0.01)
        await asyncio.to_thread(other.execute, "delete from accesses where user_id = %s", [stage.user_id])
    await adding
    assert stage.count("accesses", f"user_id = '{stage.user_id}' and credentials is not null") == 1


async def test_access_that_is_not_synced_is_never_refreshed(stage, bank):
    await stage.add(is_synced=False)
    assert stage.access() == (None, None)
    await stage.services.refreshing.repair_schedule()
    assert stage.access() == (None, None)


async def test_first_fetch_that_failed_is_made_up_for_at_the_next_slot(stage, bank):
    bank.refusal = Failed(FailureKind.UNREACHABLE)
    await stage.add()
    assert stage.access()[0] == find_next_slot(stage.user_id, "a", START)
    bank.refusal = None
    await stage.refresh_at_slot()
    assert stage.states() == ["DONE"]
    assert stage.count("transactions", f"user_id = '{stage.user_id}'") == 12


async def test_deactivated_users_are_not_refreshed_until_they_are_reactivated(stage, bank):
    await stage.add("a")
    await stage.add("b", login="berta")
    users, principal = stage.services.users, stage.principal
    user = await users.read_user(principal, "t", stage.user_id)
    slot = stage.go_to_slot()
    await stage.look()
    bank.calls.clear()
    await users.deactivate_user(principal, user)
    assert stage.access("a") == stage.access("b") == (None, None)
    await stage.run_queued()
    assert bank.calls == []
    assert stage.slots() == [(slot, "FAILED", "gone")]
    assert await stage.services.refreshing.repair_schedule() == 0
    stage.clock.at += 3 * DAY
    new = NewUser(user.username, Secret("another password"))
    await users.reactivate_user(principal, await users.read_any_user(principal, "t", user.id), new)
    for access_id in ("a", "b"):
        assert stage.access(access_id)[0] == find_next_slot(stage.user_id, access_id, stage.clock.at)
    await stage.refresh_at_slot()
    assert stage.states() == ["FAILED", "DONE"]


async def test_user_deactivated_by_another_version_is_noticed_at_the_next_look(stage, bank):
    await stage.add()
    stage.owner.execute("update users set is_active = false where id = %s", [stage.user_id])
    stage.go_to_slot()
    await stage.look()
    assert stage.access() == (None, None)
    assert stage.slots() == []


# Accesses of former versions, clocks that are set


async def test_accesses_added_before_there_were_slots_get_their_times_spread_evenly(stage):
    add_accesses(stage, 300, stage.clock.at)
    stage.owner.execute("delete from fetches")
    stage.owner.execute("update accesses set next_refresh_at = null, scheduled_since = null")
    stage.owner.execute("update accesses set refresh_pause = 'CREDENTIALS' where id = 'x1'")
    assert await stage.services.refreshing.repair_schedule() == 299
    rows = stage.owner.execute("select id, next_refresh_at from accesses order by 2").fetchall()
    assert rows.pop() == ("x1", None)
    assert all(at == find_next_slot(stage.user_id, access_id, START) for access_id, at in rows)
    assert await stage.look() == 0
    assert rows[0][1] < START + 10 * MINUTE
    assert rows[-1][1] > START + 5 * HOUR + 50 * MINUTE


async def test_clock_that_is_set_back_stops_nobody(stage, bank):
    await stage.add()
    await stage.live(START + 2 * DAY)
    stage.clock.at = START - 30 * DAY
    assert await stage.services.refreshing.repair_schedule() == 1
    assert stage.access()[0] == find_next_slot(stage.user_id, "a", stage.clock.at)
    slot = await stage.refresh_at_slot()
    assert stage.slots()[0] == (slot, "DONE", None)


# Cost


async def test_finding_what_is_due_reads_an_index_however_many_accesses_there_are(stage):
    """The statements as they are used, on tables whose statistics are known."""
    count = 20_000
    stage.owner.execute(
        "insert into accesses (user_id, id, provider_id, is_synced, credentials, next_refresh_at, scheduled_since)"
        " select %s, 'x' || n, %s, true, 'sealed', %s::timestamptz + n * interval '1 second', %s"
        " from generate_series(1, %s) n",
        [stage.user_id, uuid4(), stage.clock.at, stage.clock.at, count],
    )
    stage.owner.execute(
        "insert into fetches (id, user_id, access_id, state, is_attended, correlation_id, slot_at, finished_at)"
        " select gen_random_uuid(), user_id, id, 'DONE', false, '', %s, now() from accesses",
        [stage.clock.at],
    )
    stage.owner.execute(
        "insert into unattended_calls select user_id, id, %s, gen_random_uuid() from accesses", [stage.clock.at]
    )
    stage.owner.execute("analyze")
    now = stage.clock.at + timedelta(seconds=50)
    lock = explain(stage, refreshes.LOCK_DUE, {"now": now, "batch": 200, "most_queued": 400})
    assert "accesses_due" in lock
    read = explain(
        stage,
        refreshes.READ_DUE,
        {"now": now, "since": now - DAY, "until": now, "users": [stage.user_id] * 50,
         "accesses": [f"x{number}" for number in range(1, 51)]},
    )  # fmt: skip
    consents = explain(stage, refreshes.CLAIM_ENDING, [now.date(), now.date(), 200])
    unscheduled = explain(stage, refreshes.UNSCHEDULED, {"batch": 200, "user": None})
    far = explain(stage, refreshes.FORGET_FAR, [now + DAY, 200])
    for plan in (lock, read, consents, unscheduled, far):
        for table in ("accesses", "fetches", "unattended_calls"):
            assert f"Seq Scan on {table}" not in plan, plan
    stage.owner.execute("delete from accesses")


def explain(stage, query, values):
    return "\n".join(row[0] for row in stage.owner.execute("explain " + query, values).fetchall())
