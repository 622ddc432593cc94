"""Alerts follow from the data: a cause is told once, whoever looks, and is done when the cause is gone."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb
from refresh_harness import DAY, START, make_user

from kontor import bootstrap
from kontor.connectors.base import Failed, FailureKind
from kontor.domain import alerts as domain
from kontor.domain.alerts import AlertKind, AlertObject, AlertStatus, ObjectKind
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.merging import StoredTransaction
from kontor.domain.transactions import Transaction
from kontor.services.alerts.alerts import LEASE
from kontor.storage import transactions

NEW, READ, DONE = AlertStatus


@pytest.fixture
async def user(refreshing):
    """With an access, and known to workers."""
    await refreshing.add()
    assert await list_alerts(refreshing) == []
    return refreshing


async def list_alerts(user, status=None):
    found = await user.services.alerts.list_alerts(user.principal, status, 100)
    return [(alert.cause.kind, alert.status) for alert in found]


async def find_alert(user):
    [alert] = await user.services.alerts.list_alerts(user.principal, None, 100)
    return alert


def read_rows(user):
    """What is stored, without anybody looking."""
    return user.owner.execute(
        "select kind, status, ended_at is not null from alerts where user_id = %s", [user.user_id]
    ).fetchall()


def end_consent(user, days):
    user.owner.execute(
        "update accesses set consent_until = %s where user_id = %s", [user.clock.today() + days * DAY, user.user_id]
    )


async def work(user):
    """What a worker does every few seconds."""
    return await user.services.alerts.evaluate_due_users()


async def test_a_consent_is_told_14_days_before_its_end_by_the_look_of_the_day(user):
    end_consent(user, 15)
    await work(user)
    assert read_rows(user) == []
    user.clock.at += timedelta(hours=12)  # past midnight in Berlin, but not past the looks of that night
    assert await work(user) == 0
    user.clock.at += timedelta(hours=8)
    assert await work(user) == 1
    assert read_rows(user) == [("CONSENT_ENDS", "NEW", False)]
    assert await work(user) == 0


async def test_a_renewed_consent_is_done_by_itself_and_its_next_end_is_another_cause(user):
    end_consent(user, 5)
    user.clock.at += DAY
    assert await list_alerts(user) == [(AlertKind.CONSENT_ENDS, NEW)]
    end_consent(user, 90)
    user.clock.at += DAY
    assert await list_alerts(user) == [(AlertKind.CONSENT_ENDS, DONE)]
    user.clock.at += 80 * DAY
    assert sorted(status for _, status in await list_alerts(user)) == [DONE, NEW]


async def test_a_fetch_that_needs_the_user_is_told_and_a_success_makes_it_done(user, refresh_bank):
    refresh_bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS, "Die PIN ist falsch")
    await user.refresh(is_attended=True)
    assert await work(user) == 1
    assert read_rows(user) == [("BANK_NEEDS_USER", "NEW", False)]
    refresh_bank.refusal = None
    await user.post("a", await user.request(pin="neu"))
    assert await work(user) == 1
    assert await list_alerts(user) == [(AlertKind.BANK_NEEDS_USER, DONE)]
    refresh_bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS, "Die PIN ist falsch")
    await user.refresh(is_attended=True)
    assert sorted(await list_alerts(user)) == [(AlertKind.BANK_NEEDS_USER, DONE), (AlertKind.BANK_NEEDS_USER, NEW)]


async def test_what_the_user_is_done_with_does_not_come_back_for_the_same_cause_even_after_90_days(user):
    user.owner.execute(
        """update accesses set messages = '[{"kind": "SCA_NEEDED"}]' where user_id = %s""", [user.user_id]
    )
    user.clock.at += DAY
    alert = await find_alert(user)
    await user.services.alerts.set_status(user.principal, alert.id, DONE)
    for _ in range(2):
        user.clock.at += DAY
        assert await list_alerts(user) == [(AlertKind.BANK_NEEDS_USER, DONE)]
    user.owner.execute("update alerts set created_at = now() - interval '91 days'")
    await user.services.housekeeping.clean()
    user.clock.at += DAY
    assert await list_alerts(user) == []
    with pytest.raises(NotFoundError):
        await user.services.alerts.read_alert(user.principal, alert.id)
    assert len(read_rows(user)) == 1


async def test_alerts_whose_cause_is_gone_are_deleted_after_90_days(user):
    end_consent(user, 5)
    user.clock.at += DAY
    await find_alert(user)
    end_consent(user, 90)
    user.clock.at += DAY
    await find_alert(user)
    user.owner.execute("update alerts set created_at = now() - interval '89 days'")
    await user.services.housekeeping.clean()
    assert len(read_rows(user)) == 1
    user.owner.execute("update alerts set created_at = now() - interval '91 days'")
    await user.services.housekeeping.clean()
    assert read_rows(user) == []


async def test_a_cause_that_returns_shows_the_same_alert_as_the_user_left_it(user):
    end_consent(user, 5)
    user.clock.at += DAY
    alert = await find_alert(user)
    await user.services.alerts.set_status(user.principal, alert.id, READ)
    user.owner.execute("update accesses set consent_until = null")
    user.clock.at += DAY
    assert (await find_alert(user)).status is DONE
    end_consent(user, 3)
    user.clock.at += timedelta(hours=24)
    again = await find_alert(user)
    assert (again.id, again.status) == (alert.id, READ)


async def test_the_status_goes_forwards_only(user):
    end_consent(user, 5)
    user.clock.at += DAY
    alert = await find_alert(user)
    for status in (READ, READ, DONE, DONE):
        await user.services.alerts.set_status(user.principal, alert.id, status)
    for status in (NEW, READ):
        with pytest.raises(InvalidError, match=r"status: .*not back"):
            await user.services.alerts.set_status(user.principal, alert.id, status)
    assert await list_alerts(user, DONE) == [(AlertKind.CONSENT_ENDS, DONE)]
    assert await list_alerts(user, NEW) == []


async def test_two_workers_and_a_caller_at_once_make_one_alert(user, refresh_settings):
    async with bootstrap.open_services(refresh_settings, "kontor tests, second worker") as second:
        for round_number in range(5):
            end_consent(user, 5 + round_number)
            user.clock.at += DAY
            user.owner.execute("update alert_states set due_at = %s", [user.clock.at])
            await asyncio.gather(
                user.services.alerts.evaluate_due_users(),
                second.alerts.evaluate_due_users(),
                user.services.alerts.list_alerts(user.principal, None, 100),
                second.alerts.list_alerts(user.principal, None, 100),
            )
            rows = read_rows(user)
            assert len(rows) == round_number + 1
            assert [is_ended for _, _, is_ended in rows].count(False) == 1


async def test_a_worker_that_dies_during_a_look_leaves_it_to_another_one(user, monkeypatch):
    end_consent(user, 5)
    user.clock.at += DAY

    async def die(*_):
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(user.services.alerts, "_store", die)
        with pytest.raises(RuntimeError):
            await work(user)
    assert await work(user) == 0  # its lease lasts
    user.clock.at += timedelta(minutes=6)
    assert await work(user) == 1
    assert read_rows(user) == [("CONSENT_ENDS", "NEW", False)]


async def test_a_fetch_that_ends_during_a_look_is_looked_at_again(user, refresh_bank):
    user.clock.at += DAY
    store = user.services.alerts._store

    async def fetch_and_store(*arguments):
        user.services.alerts._store = store
        user.clock.at += timedelta(seconds=1)
        refresh_bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
        await user.refresh(is_attended=True)
        return await store(*arguments)

    user.services.alerts._store = fetch_and_store
    await work(user)
    assert read_rows(user) == [("BANK_NEEDS_USER", "NEW", False)]


async def test_who_asks_while_a_worker_is_about_to_look_gets_what_holds_now(user, refresh_bank):
    refresh_bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    await user.refresh(is_attended=True)
    user.owner.execute("update alert_states set due_at = %s", [user.clock.at + LEASE])  # as it claims
    assert await list_alerts(user) == [(AlertKind.BANK_NEEDS_USER, NEW)]


async def test_a_worker_that_looked_before_somebody_else_does_not_undo_what_they_found(user, refresh_bank):
    user.clock.at += DAY
    store = user.services.alerts._store

    async def ask_and_store(*arguments):
        user.services.alerts._store = store
        refresh_bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
        await user.refresh(is_attended=True)
        assert await list_alerts(user) == [(AlertKind.BANK_NEEDS_USER, NEW)]
        return await store(*arguments)

    user.services.alerts._store = ask_and_store
    await work(user)
    assert read_rows(user) == [("BANK_NEEDS_USER", "NEW", False)]


async def test_of_each_kind_50_are_open_at_most(user, monkeypatch):
    monkeypatch.setattr("kontor.services.alerts.alerts.MAX_OPEN", 1)
    await user.add("b", login="berta")
    end_consent(user, 5)
    user.clock.at += DAY
    assert domain.MAX_OPEN == 50
    first = await find_alert(user)
    await user.services.alerts.set_status(user.principal, first.id, DONE)
    user.clock.at += DAY
    assert sorted(await list_alerts(user)) == [(AlertKind.CONSENT_ENDS, DONE), (AlertKind.CONSENT_ENDS, NEW)]


async def test_users_who_never_ask_cost_no_looks_and_deactivated_ones_wait(user):
    stranger = await make_user(user.services, user.owner)
    states = user.owner.execute("select user_id from alert_states").fetchall()
    assert (stranger.user_id,) not in states
    user.owner.execute("update users set is_active = false where id = %s", [user.user_id])
    end_consent(user, 5)
    user.clock.at += DAY
    assert await work(user) == 1
    assert (await work(user), read_rows(user)) == (0, [])
    user.owner.execute("update users set is_active = true where id = %s", [user.user_id])


def split(user, *amounts):
    parts = [{"amount": amount, "category": "TAXES"} for amount in amounts]
    return user.owner.execute(
        "update transactions set parts = %s where user_id = %s and purpose = 'Umsatz 8' returning product_id, id",
        [Jsonb(parts), user.user_id],
    ).fetchone()


async def change_amount(user, product_id, transaction_id, amount):
    """As a refresh does it."""
    row = StoredTransaction(transaction_id, Transaction(Decimal(amount), "EUR", START, purpose="Umsatz 8"))
    async with user.services.database.transaction(user.user_id) as connection:
        await transactions.update_transactions(connection, user.user_id, product_id, [row], user.clock.today())


async def test_an_amount_that_the_bank_changes_removes_the_parts_and_is_told(user):
    place = split(user, 5, 3)
    await change_amount(user, *place, 8)
    assert await list_alerts(user) == []
    await change_amount(user, *place, 9)
    alert = await find_alert(user)
    assert (alert.cause.kind, alert.cause.amount, alert.status) == (AlertKind.PARTS_REMOVED, Decimal(9), NEW)
    assert alert.cause.object == AlertObject(ObjectKind.TRANSACTION, "/".join(map(str, place)), "a")
    split(user, 5, 4)
    user.clock.at += DAY
    assert (await find_alert(user)).status is DONE
    await change_amount(user, *place, 10)
    assert sorted(await list_alerts(user)) == [(AlertKind.PARTS_REMOVED, DONE), (AlertKind.PARTS_REMOVED, NEW)]


async def test_the_alerts_of_an_access_go_with_it(user):
    end_consent(user, 5)
    user.clock.at += DAY
    await find_alert(user)
    await user.services.accesses.delete_access(user.principal, "a")
    assert read_rows(user) == []


async def test_an_access_that_is_being_added_in_the_web_form_is_not_told(user):
    end_consent(user, 5)
    user.owner.execute("update accesses set form_session_id = %s where user_id = %s", [uuid4(), user.user_id])
    user.clock.at += DAY
    assert await list_alerts(user) == []
