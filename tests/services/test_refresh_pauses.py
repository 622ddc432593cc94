"""Who is refreshed in the background at all: refused credentials, consents, `sync` and deactivated users pause."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from refresh_harness import DAY, HOUR, START, make_user

from kontor.connectors.base import Failed, FailureKind, NeedTan
from kontor.domain.errors import InvalidError
from kontor.domain.refreshes import find_next_slot
from kontor.domain.sca import Challenge
from kontor.domain.secrets import Secret
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.identity.users import NewUser


@pytest.fixture
def harness(refreshing):
    return refreshing


@pytest.fixture
def bank(refresh_bank):
    return refresh_bank


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
