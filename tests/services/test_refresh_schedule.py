"""Who is refreshed in the background, and when: every slot of every access gets exactly one outcome."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from uuid import uuid4

import psycopg
import pytest
from refresh_harness import DAY, HOUR, MINUTE, START, make_user

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
    monkeypatch.setattr(refreshing_module, "MOST_QUEUED", 12)
    assert await harness.look() == 12
    assert await harness.look() == 0
    finish = "update fetches set state = 'DONE', finished_at = now() where id in ({})"
    harness.owner.execute(finish.format("select id from fetches where state = 'QUEUED' limit 5"))
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


# Who is refreshed at all


async def test_wrong_credentials_stop_every_access_that_has_them_until_one_of_them_works(harness, bank):
    """Whoever's they are: three wrong PINs would lock the customer out."""
    await harness.add("a", login="anna", pin="right")
    await harness.add("b", login="anna", pin="right")
    await harness.add("c", login="berta")
    stranger = harness.beside(harness.services)
    stranger.principal = await make_user(harness.services, harness.owner)
    await stranger.add("a", login="anna", pin="right")
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    harness.clock.at = harness.access("b")[0]
    harness.owner.execute("update accesses set next_refresh_at = next_refresh_at + interval '1 day' where id <> 'b'")
    await harness.look()
    bank.calls.clear()
    await harness.run_queued()
    assert bank.calls == ["begin"]
    assert harness.states("b") == ["FAILED"]
    for holder, access_id in ((harness, "a"), (harness, "b"), (stranger, "a")):
        assert holder.access(access_id) == (None, "CREDENTIALS")
    assert harness.access("c")[1] is None
    bank.refusal = None
    bank.calls.clear()
    await harness.refresh("b", is_attended=True)
    assert bank.calls == [], "what was refused is not sent again, even when the customer asks"
    await harness.add("b", login="anna", pin="right")
    assert bank.calls[0] == "begin", "the customer has entered it again"
    assert harness.access("b") == (find_next_slot(harness.user_id, "b", harness.clock.at), None)
    await harness.services.refreshing.repair_schedule()
    assert harness.access("a")[1] is None, "the very same credentials have just worked"
    assert stranger.access("a")[0] == find_next_slot(stranger.user_id, "a", harness.clock.at)


async def test_refused_credentials_that_are_given_again_without_the_customer_are_not_sent(harness, bank):
    """A program that repeats what it has stored is not the customer."""
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    await harness.add("a")
    bank.calls.clear()
    await harness.post("a", await harness.request(), is_attended=False)
    assert (bank.calls, harness.access("a")) == ([], (None, "CREDENTIALS"))


@pytest.mark.parametrize("kind", [FailureKind.WRONG_CREDENTIALS, FailureKind.LOCKED])
async def test_who_knows_a_login_cannot_stop_the_refreshing_of_others_with_a_wrong_pin(harness, bank, kind):
    await harness.add("a", login="anna", pin="right")
    before = harness.access("a")
    stranger = harness.beside(harness.services)
    stranger.principal = await make_user(harness.services, harness.owner)
    bank.refusal = Failed(kind)
    await stranger.add("a", login="anna", pin="guessed")
    assert stranger.access("a") == (None, "CREDENTIALS")
    assert harness.access("a") == before


@pytest.mark.parametrize("kind", [FailureKind.LOCKED, FailureKind.INCOMPLETE_CREDENTIALS])
async def test_new_credentials_end_the_pause_also_before_they_are_tried(harness, bank, kind):
    await harness.add()
    bank.refusal = Failed(kind)
    await harness.refresh_at_slot()
    assert harness.access() == (None, "CREDENTIALS")
    await harness.live(harness.clock.at + DAY)
    assert harness.states() == ["FAILED"], "nobody tries again on his own"
    await harness.services.accesses.store_access(harness.principal, "a", await harness.request(pin="other"))
    assert harness.access() == (find_next_slot(harness.user_id, "a", harness.clock.at), None)


async def test_fetch_that_waits_when_the_credentials_are_refused_elsewhere_is_not_made(harness, bank):
    await harness.add("a")
    await harness.add("b")
    harness.clock.at = START + 6 * HOUR
    await harness.look()
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    bank.calls.clear()
    await harness.run_queued()
    assert bank.calls == ["begin"]
    assert sorted(harness.states("a") + harness.states("b")) == ["FAILED", "stopped"]


async def test_pausing_a_set_waits_for_nobody_while_it_holds_a_row(harness, bank, refresh_settings):
    """Somebody holds the other access for a moment: the failure is stored afterwards, and no deadlock comes of it."""
    await harness.add("a")
    await harness.add("b")
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    harness.clock.at = harness.access("a")[0]
    harness.owner.execute("update accesses set next_refresh_at = next_refresh_at + interval '1 day' where id = 'b'")
    await harness.look()
    with psycopg.connect(refresh_settings.migration_database_url.reveal()) as other:
        other.execute("select 1 from accesses where id = 'b' for update")
        running = asyncio.create_task(harness.run_queued())
        await asyncio.sleep(0.3)
        # The other way round: whoever waited for "b" with "a" in hand would wait for ever now.
        await asyncio.to_thread(other.execute, "select 1 from accesses where id = 'a' for update")
        assert not running.done()
    await running
    assert [harness.access("a"), harness.access("b")] == [(None, "CREDENTIALS")] * 2


async def test_sca_pauses_one_access_until_its_user_has_seen_to_it(harness, bank):
    await harness.add("a")
    await harness.add("b")
    needs_tan = NeedTan(Challenge("TAN", "Bitte eingeben"), {})
    bank.refusal = needs_tan
    await harness.refresh_at_slot("a")
    assert harness.states("a") == ["WAITING"]
    assert harness.access("a") == (None, "SCA")
    bank.refusal = None
    await harness.refresh("a", is_attended=True)
    assert harness.access("a")[1] is None
    await harness.refresh_at_slot("a")
    assert harness.states("a") == ["WAITING", "DONE"]


async def test_consent_that_is_over_costs_no_call_and_pauses(harness, bank):
    await harness.add()
    harness.owner.execute("update accesses set consent_until = %s", [harness.clock.today() - timedelta(days=1)])
    bank.calls.clear()
    await harness.refresh_at_slot()
    assert bank.calls == []
    assert harness.calls() == []
    assert harness.states() == ["WAITING"]
    assert harness.access() == (None, "SCA")


async def test_the_banks_answer_overrides_a_consent_date_that_has_passed(harness, bank):
    """With the customer there the bank is asked. It lets us in without SCA, so our date was wrong."""
    await harness.add()
    harness.owner.execute("update accesses set consent_until = %s", [harness.clock.today() - timedelta(days=1)])
    bank.calls.clear()
    await harness.refresh(is_attended=True)
    assert len(bank.calls) > 0
    assert harness.owner.execute("select consent_until, refresh_pause from accesses").fetchall() == [(None, None)]
    await harness.refresh_at_slot()
    assert harness.states()[-1] == "DONE"


@pytest.mark.parametrize("days_ago", [0, 1, 400])
@pytest.mark.parametrize("pause", [None, "SCA"])
async def test_an_attended_fetch_is_never_refused_because_of_our_own_stored_consent_date(
    harness, bank, days_ago, pause
):
    await harness.add()
    day = harness.clock.today() - timedelta(days=days_ago)
    harness.owner.execute("update accesses set consent_until = %s, refresh_pause = %s", [day, pause])
    bank.calls.clear()
    await harness.refresh(is_attended=True)
    assert len(bank.calls) > 0, "the bank decides, not our date"
    assert harness.owner.execute("select distinct state from fetches").fetchall() == [("DONE",)]
    assert harness.access()[1] is None


async def test_a_consent_date_to_come_is_kept_when_the_bank_tells_none(harness, bank):
    await harness.add()
    day = harness.clock.today() + timedelta(days=3)
    harness.owner.execute("update accesses set consent_until = %s", [day])
    await harness.refresh(is_attended=True)
    assert harness.owner.execute("select consent_until from accesses").fetchall() == [(day,)]


async def test_tenants_are_told_once_of_each_consent_that_ends_soon(harness, bank):
    await harness.add("a")
    await harness.add("b", login="berta")
    today = harness.clock.today()
    harness.owner.execute("update accesses set consent_until = %s where id = 'a'", [today + timedelta(days=14)])
    harness.owner.execute("update accesses set consent_until = %s where id = 'b'", [today + timedelta(days=15)])
    warn = harness.services.refreshing.warn_of_consents
    assert [await warn(), await warn()] == [1, 0]
    harness.clock.at += DAY
    assert [await warn(), await warn()] == [1, 0]
    harness.owner.execute("update accesses set consent_until = %s where id = 'a'", [today + timedelta(days=200)])
    assert await warn() == 0
    harness.clock.at += 190 * DAY
    assert await warn() == 1


async def test_switching_sync_off_and_on_ends_and_begins_refreshing(harness, bank):
    await harness.add()
    await harness.post("a", AccessRequest(is_synced=False))
    assert harness.access() == (None, None)
    await harness.live(START + DAY)
    assert harness.slots() == []
    await harness.post("a", replace(await harness.request(), is_synced=True))
    assert harness.access()[0] == find_next_slot(harness.user_id, "a", harness.clock.at)
    await harness.refresh_at_slot()
    assert harness.states() == ["DONE"], "slots of the time between were nobody's"


async def test_sync_cannot_be_switched_on_without_credentials(harness, bank):
    await harness.add(is_synced=False)
    with pytest.raises(InvalidError, match=r"is required") as refused:
        await harness.post("a", AccessRequest(is_synced=True))
    assert refused.value.field == "a.credentials"
    assert harness.count("accesses", f"user_id = '{harness.user_id}' and not is_synced and expires_at is not null") == 1


async def test_access_that_is_deleted_while_it_is_being_added_again_is_a_new_one(harness, bank, refresh_settings):
    await harness.add()
    again = await harness.request()
    with psycopg.connect(refresh_settings.migration_database_url.reveal()) as other:
        other.execute("select 1 from accesses where user_id = %s for update", [harness.user_id])
        adding = asyncio.create_task(harness.services.accesses.store_access(harness.principal, "a", again))
        for _ in range(1000):  # until it waits for the other one
            if harness.owner.execute("select 1 from pg_stat_activity where wait_event_type = 'Lock'").fetchone():
                break
            await asyncio.sleep(0.01)
        await asyncio.to_thread(other.execute, "delete from accesses where user_id = %s", [harness.user_id])
    await adding
    assert harness.count("accesses", f"user_id = '{harness.user_id}' and credentials is not null") == 1


async def test_access_that_is_not_synced_is_never_refreshed(harness, bank):
    await harness.add(is_synced=False)
    assert harness.access() == (None, None)
    await harness.services.refreshing.repair_schedule()
    assert harness.access() == (None, None)


async def test_first_fetch_that_failed_is_made_up_for_at_the_next_slot(harness, bank):
    bank.refusal = Failed(FailureKind.UNREACHABLE)
    await harness.add()
    assert harness.access()[0] == find_next_slot(harness.user_id, "a", START)
    bank.refusal = None
    await harness.refresh_at_slot()
    assert harness.states() == ["DONE"]
    assert harness.count("transactions", f"user_id = '{harness.user_id}'") == 12


async def test_deactivated_users_are_not_refreshed_until_they_are_reactivated(harness, bank):
    await harness.add("a")
    await harness.add("b", login="berta")
    users, principal = harness.services.users, harness.principal
    user = await users.read_user(principal, "t", harness.user_id)
    slot = harness.go_to_slot()
    await harness.look()
    bank.calls.clear()
    await users.deactivate_user(principal, user)
    assert harness.access("a") == harness.access("b") == (None, None)
    await harness.run_queued()
    assert bank.calls == []
    assert harness.slots() == [(slot, "FAILED", "gone")]
    assert await harness.services.refreshing.repair_schedule() == 0
    harness.clock.at += 3 * DAY
    new = NewUser(user.username, Secret("another password"))
    await users.reactivate_user(principal, await users.read_any_user(principal, "t", user.id), new)
    for access_id in ("a", "b"):
        assert harness.access(access_id)[0] == find_next_slot(harness.user_id, access_id, harness.clock.at)
    await harness.refresh_at_slot()
    assert harness.states() == ["FAILED", "DONE"]


async def test_user_deactivated_by_another_version_is_noticed_at_the_next_look(harness, bank):
    await harness.add()
    harness.owner.execute("update users set is_active = false where id = %s", [harness.user_id])
    harness.go_to_slot()
    await harness.look()
    assert harness.access() == (None, None)
    assert harness.slots() == []


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
