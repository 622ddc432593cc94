"""Alerts are sent to browsers: encrypted, without amounts and names, and again after a failure."""

import json
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from refresh_harness import DAY, make_user

from kontor.domain.alerts import AlertKind, AlertStatus
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.push import PushKeys
from kontor.domain.webhooks import RetrySchedule
from kontor.services.alerts import NewSubscription, Pushes
from kontor.services.webhooks import WebhookCalls
from kontor.storage.alerts import note_parts_removed
from push_browsers import PushBrowser, new_browser, verify_sender
from receivers import Receiver, say

AT_ONCE = RetrySchedule((0, 0, 0), 300, 0)  # three tries without a pause


@pytest.fixture
def receiver():
    with Receiver(say(201)) as receiver:
        yield receiver


@pytest.fixture
async def user(refreshing):
    await refreshing.add()
    return refreshing


@pytest.fixture
def pushes(user):
    known = user.services.pushes
    calls = WebhookCalls(is_loopback_allowed=True)
    return Pushes(
        user.services.database, known._user_encryption, calls, user.services.alerts, "https://kontor.example", AT_ONCE
    )


def make_subscription(browser, kinds=None):
    return NewSubscription(browser.endpoint, PushKeys(browser.point, browser.auth), kinds)


async def subscribe(pushes, user, receiver, kinds=None):
    browser = PushBrowser(f"http://127.0.0.1:{receiver.port}/{uuid4()}")
    own_id = await pushes.subscribe(user.principal, make_subscription(browser, kinds))
    return browser, own_id


async def make_alert(user, days=5):
    """A consent that ends, found by the look of the next day."""
    user.owner.execute(
        "update accesses set consent_until = %s where user_id = %s",
        [user.clock.today() + timedelta(days=days), user.user_id],
    )
    user.clock.at += DAY
    await user.services.alerts.evaluate_due_users()
    [alert, *_] = await user.services.alerts.list_alerts(user.principal, AlertStatus.NEW, 100)
    return alert


def count(user, table):
    return user.owner.execute(f"select count(*) from {table} where user_id = %s", [user.user_id]).fetchone()[0]


async def test_a_push_carries_the_kind_and_id_of_the_alert_and_proves_the_installation(user, pushes, receiver):
    browser, _ = await subscribe(pushes, user, receiver)
    alert = await make_alert(user)
    assert await pushes.send_due() == 1
    [call] = receiver.received
    assert json.loads(browser.decrypt(call.body)) == {"art": "CONSENT_ENDS", "id": str(alert.id)}
    assert call.headers["content-encoding"] == "aes128gcm"
    assert int(call.headers["ttl"]) == 86400
    assert call.headers["topic"] == alert.id.hex
    key, claims = verify_sender(call.headers["authorization"])
    assert key == await pushes.read_key()
    assert (claims["aud"], claims["sub"]) == (f"http://127.0.0.1:{receiver.port}", "https://kontor.example")
    assert (await pushes.send_due(), count(user, "push_messages")) == (0, 0)


async def test_a_browser_is_told_of_its_kinds_alone_and_of_nothing_that_was_there_before(user, pushes, receiver):
    await make_alert(user)
    await subscribe(pushes, user, receiver)
    await subscribe(pushes, user, receiver, (AlertKind.PRICE_RISE,))
    assert await pushes.send_due() == 0
    user.owner.execute("delete from alerts where user_id = %s", [user.user_id])
    await make_alert(user, 7)
    assert await pushes.send_due() == 1
    assert len(receiver.received) == 1


async def test_the_same_browser_again_is_one_subscription_with_its_newest_kinds(user, pushes, receiver):
    browser, own_id = await subscribe(pushes, user, receiver, (AlertKind.PRICE_RISE,))
    assert await pushes.subscribe(user.principal, make_subscription(browser)) == own_id
    [known] = await pushes.list_subscriptions(user.principal)
    assert (known.id, known.kinds, known.endpoint) == (own_id, None, browser.endpoint)


async def test_a_browser_that_two_people_share_tells_the_one_who_came_last(user, pushes, receiver):
    browser, own_id = await subscribe(pushes, user, receiver)
    other = await make_user(user.services, user.owner)
    await pushes.subscribe(other, make_subscription(browser))
    with pytest.raises(NotFoundError):
        await pushes.read_subscription(user.principal, own_id)
    await make_alert(user)
    assert await pushes.send_due() == 0


@pytest.mark.parametrize("status", [404, 410])
async def test_a_browser_that_is_gone_is_deleted_with_what_waits_for_it(user, pushes, receiver, status):
    receiver.answer = say(status)
    await subscribe(pushes, user, receiver)
    await make_alert(user)
    assert await pushes.send_due() == 1
    assert (count(user, "push_subscriptions"), count(user, "push_messages")) == (0, 0)


@pytest.mark.parametrize("failure", [(500, {}, b""), (429, {"Retry-After": "0"}, b""), (302, {"Location": "/"}, b"")])
async def test_a_push_that_fails_is_sent_again_and_given_up_in_the_end(user, pushes, receiver, failure):
    receiver.answer = lambda number: failure if number < 2 else (201, {}, b"")
    browser, _ = await subscribe(pushes, user, receiver)
    alert = await make_alert(user)
    assert await pushes.send_due() == 3
    assert {browser.decrypt(call.body) for call in receiver.received} == {
        json.dumps({"art": "CONSENT_ENDS", "id": str(alert.id)}).encode()
    }
    assert len({call.body for call in receiver.received}) == 3
    receiver.answer = lambda number: failure
    user.owner.execute("delete from alerts where user_id = %s", [user.user_id])
    await make_alert(user, 9)
    assert await pushes.send_due() == 3
    assert (count(user, "push_subscriptions"), count(user, "push_messages")) == (1, 0)


async def test_what_the_user_has_read_meanwhile_is_not_sent(user, pushes, receiver):
    await subscribe(pushes, user, receiver)
    alert = await make_alert(user)
    await user.services.alerts.set_status(user.principal, alert.id, AlertStatus.READ)
    assert await pushes.send_due() == 1
    assert receiver.received == []
    assert count(user, "push_messages") == 0


async def test_a_worker_that_dies_leaves_its_push_to_another(user, pushes, receiver, monkeypatch):
    await subscribe(pushes, user, receiver)
    await make_alert(user)

    async def die(*_):
        raise ConnectionError("the process is gone")

    monkeypatch.setattr(pushes, "_find", die)
    with pytest.raises(ConnectionError):
        await pushes.send_due()
    monkeypatch.undo()
    assert await pushes.send_due() == 0, "it is claimed for a minute"
    user.owner.execute("update push_messages set due_at = now() where user_id = %s", [user.user_id])
    assert await pushes.send_due() == 1
    assert len(receiver.received) == 1


async def test_nobody_is_told_of_a_deactivated_user_and_erasure_deletes_browsers(user, pushes, receiver):
    await subscribe(pushes, user, receiver)
    await make_alert(user)
    user.owner.execute("update users set is_active = false where id = %s", [user.user_id])
    assert await pushes.send_due() == 1
    assert receiver.received == []
    user.owner.execute("delete from users where id = %s", [user.user_id])
    assert count(user, "push_subscriptions") == 0


async def test_what_is_stored_tells_neither_where_the_browser_is_nor_its_keys(user, pushes, receiver):
    browser, _ = await subscribe(pushes, user, receiver)
    [row] = user.owner.execute("select * from push_subscriptions where user_id = %s", [user.user_id]).fetchall()
    stored = b" ".join(value if isinstance(value, bytes) else str(value).encode() for value in row)
    for secret in (browser.endpoint.encode(), b"127.0.0.1", browser.auth, browser.auth.hex().encode(), browser.point):
        assert secret not in stored


async def test_an_address_inside_is_refused_and_a_name_that_turns_inside_is_not_called(user, pushes, receiver):
    calls = WebhookCalls(is_loopback_allowed=False)
    strict = Pushes(user.services.database, pushes._user_encryption, calls, user.services.alerts, None, AT_ONCE)
    for endpoint in (receiver.url, "https://10.0.0.1/x", "https://localhost/x", "http://8.8.8.8/x", "ftp://8.8.8.8/x"):
        with pytest.raises(InvalidError, match=r"^endpoint: "):
            await strict.subscribe(user.principal, replace(make_subscription(new_browser()), endpoint=endpoint))
    await subscribe(pushes, user, receiver)
    await make_alert(user)
    assert await strict.send_due() == 3
    assert receiver.received == []


async def test_parts_that_a_refresh_removes_are_pushed_too(user, pushes, receiver):
    browser, _ = await subscribe(pushes, user, receiver)
    [(product_id, row_id)] = user.owner.execute(
        "select product_id, id from transactions where user_id = %s limit 1", [user.user_id]
    ).fetchall()
    async with user.services.database.transaction(user.user_id) as connection:
        await note_parts_removed(connection, user.user_id, product_id, [row_id])
    assert await pushes.send_due() == 1
    assert json.loads(browser.decrypt(receiver.received[0].body))["art"] == "PARTS_REMOVED"
