"""Deliveries later on: after a rotation of secrets, replayed, after a gap, and after an erasure."""

from uuid import uuid4

from kontor.domain.webhooks import Event, EventType
from receivers import deliveries_of

# Secrets


async def test_after_a_rotation_both_secrets_verify_until_the_old_one_has_run_out(office, receiver, user):
    webhook = await office.register(receiver)
    answer = await office.call("PUT", f"/{webhook['id']}", {"rotateSecret": True})
    new = answer.json()["secret"]
    assert new != webhook["secret"]
    assert "secret" not in await office.read(f"/{webhook['id']}")
    assert "webhook.rotate-secret" in office.audited()
    await office.tell(user)
    await office.run_out()
    for secret in (new, webhook["secret"]):
        assert receiver.received[0].verify(secret)["serial"] == 1
    (left,) = office.owner.execute("select extract(epoch from previous_until - now())::int from webhooks").fetchone()
    assert 86_000 < left <= 86_400
    office.owner.execute("update webhooks set previous_until = now() - interval '1 second'")
    await office.tell(user)
    await office.run_out()
    last = receiver.received[-1]
    assert last.verify(new)["serial"] == 2
    assert len(last.headers["webhook-signature"].split()) == 1


async def test_after_the_loss_of_the_master_key_a_webhook_needs_a_new_secret(office, receiver, user):
    webhook = await office.register(receiver)
    await office.services.tenant_administration.replace_lost_keys()
    url = f"/{webhook['id']}"
    assert (await office.read(url))["active"] is False
    answer = await office.call("PUT", url, {"active": True})
    assert (answer.status_code, answer.json()["message"].partition(":")[0]) == (400, "rotateSecret")
    secret = (await office.call("PUT", url, {"active": True, "rotateSecret": True})).json()["secret"]
    await office.tell(user)
    await office.run_out()
    assert receiver.received[0].verify(secret)["serial"] == 1


# Replay and gaps


async def test_a_replay_sends_the_same_event_again(office, receiver, user):
    receiver.answer = lambda number: (500 if number < 6 else 204, {}, b"")
    webhook = await office.register(receiver)
    await office.tell(user)
    await office.run_out()
    office.owner.execute("delete from pgqueuer")
    answer = await office.call("POST", f"/{webhook['id']}/deliveries/1/replay")
    assert (answer.status_code, answer.json()["state"], answer.json()["serial"]) == (200, "PENDING", 1)
    assert office.jobs() == office.open_ids()
    await office.run_out()
    assert len({call.headers["webhook-id"] for call in receiver.received}) == 1
    assert len({call.body for call in receiver.received}) == 1
    (shown,) = await deliveries_of(office, webhook)
    assert (shown["state"], shown["attempts"]) == ("DELIVERED", 7)
    again = await office.call("POST", f"/{webhook['id']}/deliveries/1/replay")  # also of what had arrived
    assert again.status_code == 200
    await office.run_out()
    assert len(receiver.received) == 8
    assert office.audited()[-1] == "webhook.replay"


async def test_a_replay_brings_forward_what_waits_for_its_next_try(office, receiver, user):
    receiver.answer = lambda number: (500 if number == 0 else 204, {"Retry-After": "200"}, b"")
    webhook = await office.register(receiver)
    await office.tell(user)
    assert await office.run_open() == [200]
    await office.call("POST", f"/{webhook['id']}/deliveries/1/replay")
    assert len(office.jobs()) == 1
    assert await office.run_open() == [None]
    assert len(receiver.received) == 2


async def test_what_is_switched_off_is_not_replayed(office, receiver, user):
    webhook = await office.register(receiver)
    await office.tell(user)
    await office.run_out()
    await office.call("PUT", f"/{webhook['id']}", {"active": False})
    assert (await office.call("POST", f"/{webhook['id']}/deliveries/1/replay")).status_code == 409


async def test_a_receiver_closes_a_gap_by_the_events_after_a_serial(office, receiver, user):
    receiver.answer = lambda number: (400 if number < 12 else 204, {"Retry-After": "9999"}, b"")
    webhook = await office.register(receiver)
    for number in range(5):
        await office.tell(user, access_id=f"a{number}")
    await office.run_out()
    sent = {call.content["serial"]: call.content for call in receiver.received}
    url = f"/{webhook['id']}/events"
    everything = await office.read(url)
    assert everything == {"oldestSerial": 1, "lastSerial": 5, "events": [sent[serial] for serial in range(1, 6)]}
    assert [event["serial"] for event in (await office.read(url, params={"afterSerial": 3}))["events"]] == [4, 5]
    assert [event["serial"] for event in (await office.read(url, params={"afterSerial": 1, "limit": 2}))["events"]] == [
        2,
        3,
    ]
    assert (await office.read(url, params={"afterSerial": 5}))["events"] == []


async def test_housekeeping_forgets_old_events_and_the_oldest_serial_says_so(office, receiver, user):
    webhook = await office.register(receiver)
    for _ in range(4):
        await office.tell(user)
    await office.run_out()
    office.owner.execute("update webhook_deliveries set created_at = now() - interval '31 days' where serial <= 2")
    await office.services.housekeeping.clean()
    url = f"/{webhook['id']}/events"
    found = await office.read(url)
    assert (found["oldestSerial"], found["lastSerial"]) == (3, 4)
    assert [event["serial"] for event in found["events"]] == [3, 4]
    office.owner.execute("update webhook_deliveries set created_at = now() - interval '31 days'")
    await office.services.housekeeping.clean()
    assert await office.read(url) == {"oldestSerial": 5, "lastSerial": 4, "events": []}
    await office.tell(user)
    assert (await office.read(url))["events"][0]["serial"] == 5


# Erasure


async def test_erasing_a_user_leaves_nothing_of_it_in_events(office, receiver, user):
    receiver.answer = lambda number: (204 if number == 0 else 500, {"Retry-After": "100"}, b"")
    webhook = await office.register(receiver)
    other = await office.new_user()
    await office.tell(user, access_id="annas-konto")
    await office.run_out()
    payment = uuid4()
    await office.publish(Event(EventType.PAYMENT_STATUS, user.user_id, "annas-konto", payment_id=payment))
    await office.tell(other)
    open_ids = office.open_ids()
    users = office.services.users
    found = await users.read_any_user(user, office.name, user.user_id)
    await users.deactivate_user(user, found)
    await users.erase_user(user, found)
    rows = str(office.owner.execute("select webhook_deliveries::text from webhook_deliveries").fetchall())
    for trace in (str(user.user_id), "annas-konto", str(payment)):
        assert trace not in rows
    shown = await office.read(f"/{webhook['id']}/events")
    assert [(event["serial"], "user" in event, "bankzugang" in event) for event in shown["events"]] == [
        (1, False, False), (2, False, False), (3, True, True),
    ]  # fmt: skip
    states = [(delivery["state"], delivery.get("failure")) for delivery in await deliveries_of(office, webhook)]
    assert states == [("PENDING", None), ("DISCARDED", "ERASED"), ("DELIVERED", None)]
    assert await office.deliveries.run(open_ids[0]) is None
    assert len(receiver.received) == 1
    for serial in (1, 2):
        assert (await office.call("POST", f"/{webhook['id']}/deliveries/{serial}/replay")).status_code == 409
