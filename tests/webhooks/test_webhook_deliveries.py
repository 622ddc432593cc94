"""Delivering: every event arrives or is visibly discarded, whatever the receiver, the worker or the tenant does."""

import asyncio
import os
import signal
import subprocess
import sys
from uuid import uuid4

from kontor.config import export_settings
from kontor.domain.webhooks import Event, EventType
from kontor.services.webhooks import deliveries as delivering
from receivers import Receiver, deliveries_of, say


def make_due(office):
    """Retries that are planned for later are due now."""
    office.owner.execute("update webhook_deliveries set next_attempt_at = now() where state = 'PENDING'")


# The good case


async def test_an_event_arrives_signed_with_its_serial(office, receiver, user):
    webhook = await office.register(receiver)
    assert await office.tell(user, EventType.SCA_REQUIRED, "giro") == 1
    await office.run_out()
    (got,) = receiver.received
    assert got.verify(webhook["secret"]) == {
        "type": "access.sca_required",
        "serial": 1,
        "createdAt": got.content["createdAt"],
        "tenant": office.name,
        "user": str(user.user_id),
        "bankzugang": {"id": "giro", "href": f"{office.http.base_url}/customer/v2/bankzugaenge/giro"},
        "produkte": [],
    }
    (shown,) = await deliveries_of(office, webhook)
    assert (shown["serial"], shown["state"], shown["attempts"], shown["status"]) == (1, "DELIVERED", 1, 204)
    assert not {"failure", "nextAttemptAt"} & set(shown)


async def test_each_webhook_counts_for_itself_and_gets_what_it_asked_for(office, neighbouring_office, user):
    with Receiver() as errors, Receiver() as everything, Receiver() as off:
        narrow = await office.register(errors, events=["access.error"])
        await office.register(everything)
        silent = await office.register(off)
        await office.call("PUT", f"/{silent['id']}", {"active": False})
        await office.tell(user, EventType.SCA_REQUIRED)
        await office.tell(user, EventType.ACCESS_ERROR)
        stranger = await neighbouring_office.new_user()
        assert await office.tell(stranger) == 0
        await office.run_out()
        assert [(call.content["type"], call.content["serial"]) for call in errors.received] == [("access.error", 1)]
        assert sorted(everything.serials) == [1, 2]
        assert off.received == []
    assert (await office.read(f"/{narrow['id']}"))["lastSerial"] == 1
    assert (await office.read(f"/{silent['id']}"))["lastSerial"] == 0


async def test_several_events_of_one_transaction_have_consecutive_serials(office, receiver, user):
    await office.register(receiver)
    other = await office.new_user()
    events = [Event(EventType.ACCESS_ERROR, person.user_id, "a") for person in (user, other, user)]
    assert await office.publish(*events) == 3
    await office.run_out()
    assert sorted(receiver.serials) == [1, 2, 3]


# Failures


async def test_a_failing_receiver_is_tried_again_with_the_same_id_and_a_fresh_signature(office, receiver, user):
    receiver.answer = lambda number: (503 if number < 3 else 200, {}, b"")
    webhook = await office.register(receiver)
    await office.tell(user)
    await office.run_out()
    assert len(receiver.received) == 4
    assert len({call.headers["webhook-id"] for call in receiver.received}) == 1
    assert len({call.body for call in receiver.received}) == 1
    assert [call.verify(webhook["secret"])["serial"] for call in receiver.received] == [1] * 4
    (shown,) = await deliveries_of(office, webhook)
    assert (shown["state"], shown["attempts"], shown["status"]) == ("DELIVERED", 4, 200)


async def test_between_two_tries_it_is_shown_when_the_next_one_is_due(office, receiver, user):
    receiver.answer = say(500, b"our secret stack trace")
    webhook = await office.register(receiver)
    await office.tell(user)
    services = office.services
    (pause,) = [await services.deliveries.run(delivery_id) for delivery_id in office.open_ids()]
    assert 4 <= pause <= 6
    answer = await office.call("GET", f"/{webhook['id']}/deliveries")
    (shown,) = answer.json()
    assert (shown["state"], shown["status"], shown["failure"]) == ("PENDING", 500, "STATUS")
    assert shown["nextAttemptAt"] > shown["lastAttemptAt"]
    assert "stack trace" not in answer.text
    (again,) = [await services.deliveries.run(delivery_id) for delivery_id in office.open_ids()]
    assert 0 < again <= 6
    assert len(receiver.received) == 1


async def test_after_its_last_try_it_is_discarded_for_all_to_see_and_the_next_serial_arrives(office, receiver, user):
    receiver.answer = lambda number: (500 if number < 6 else 204, {}, b"")
    webhook = await office.register(receiver)
    await office.tell(user)
    await office.run_out()
    assert len(receiver.received) == 6
    await office.tell(user)
    await office.run_out()
    newer, older = await deliveries_of(office, webhook)
    assert (older["serial"], older["state"], older["attempts"], older["failure"]) == (1, "DISCARDED", 6, "STATUS")
    assert "nextAttemptAt" not in older
    assert (newer["serial"], newer["state"]) == (2, "DELIVERED")
    assert [delivery["serial"] for delivery in await deliveries_of(office, webhook, state="DISCARDED")] == [1]
    assert [delivery["serial"] for delivery in await deliveries_of(office, webhook, beforeSerial=2)] == [1]
    assert [delivery["serial"] for delivery in await deliveries_of(office, webhook, limit=1)] == [2]


async def test_who_asks_for_a_pause_is_left_alone_so_long_and_given_up_beyond_the_window(office, receiver, user):
    receiver.answer = lambda number: (503, {"Retry-After": "120" if number == 0 else "9999"}, b"")
    webhook = await office.register(receiver)
    await office.tell(user)
    (pause,) = await office.run_open()
    assert pause == 120
    make_due(office)
    assert await office.run_open() == [None]
    (shown,) = await deliveries_of(office, webhook)
    assert (shown["state"], shown["attempts"]) == ("DISCARDED", 2)


async def test_410_switches_the_webhook_off(office, receiver, user):
    receiver.answer = say(410)
    webhook = await office.register(receiver)
    await office.tell(user)
    await office.tell(user)
    first, second = office.open_ids()
    assert await office.deliveries.run(first) is None
    assert await office.deliveries.run(second) is None
    assert len(receiver.received) == 1
    shown = await office.read(f"/{webhook['id']}")
    assert (shown["active"], shown["gone"]) == (False, True)
    states = [(delivery["state"], delivery["failure"]) for delivery in await deliveries_of(office, webhook)]
    assert states == [("DISCARDED", "SWITCHED_OFF"), ("DISCARDED", "GONE")]
    assert await office.tell(user) == 0
    assert office.audited()[-1] == "webhook.switch-off"
    shown = (await office.call("PUT", f"/{webhook['id']}", {"active": True})).json()
    assert (shown["active"], "gone" in shown) == (True, False)
    assert await office.tell(user) == 1


async def test_switching_off_discards_what_is_open(office, receiver, user):
    webhook = await office.register(receiver)
    await office.tell(user)
    open_ids = office.open_ids()
    await office.call("PUT", f"/{webhook['id']}", {"active": False})
    assert [await office.deliveries.run(delivery_id) for delivery_id in open_ids] == [None]
    assert receiver.received == []
    (shown,) = await deliveries_of(office, webhook)
    assert (shown["state"], shown["failure"]) == ("DISCARDED", "SWITCHED_OFF")


async def test_a_hanging_receiver_holds_up_nobody_else(office, receiver, user, monkeypatch):
    monkeypatch.setattr(delivering, "MAX_CALLS_PER_WEBHOOK", 2)
    receiver.gate.clear()
    await office.register(receiver)
    for _ in range(4):
        await office.tell(user)
    hanging = [asyncio.create_task(office.deliveries.run(delivery_id)) for delivery_id in office.open_ids()[:2]]
    await asyncio.to_thread(receiver.wait_for, 2)
    with Receiver() as healthy:
        webhook = await office.register(healthy)
        await office.tell(user)
        pauses = [
            await office.deliveries.run(delivery_id)
            for delivery_id in office.open_ids()
            if delivery_id not in office_claimed(office)
        ]
        assert healthy.serials == [1]
        # The other one's are put off.
        assert [0.5 <= pause <= 90 for pause in pauses if pause is not None] == [True] * 3
        (shown,) = await deliveries_of(office, webhook)
        assert shown["state"] == "DELIVERED"
    receiver.gate.set()
    assert await asyncio.gather(*hanging) == [None, None]


async def test_what_waits_for_a_busy_receiver_looks_again_the_more_rarely_the_longer_it_waits(
    office, receiver, user, monkeypatch
):
    monkeypatch.setattr(delivering, "MAX_CALLS_PER_WEBHOOK", 0)
    await office.register(receiver)
    await office.tell(user)
    (delivery_id,) = office.open_ids()
    for waited, least, most in ((0, 0.5, 15), (20, 10, 45), (3600, 30, 90)):
        moment = "update webhook_deliveries set next_attempt_at = now() - make_interval(secs => %s)"
        office.owner.execute(moment, [waited])
        pause = await office.deliveries.run(delivery_id)
        assert least <= pause <= most
    assert receiver.received == []


def office_claimed(office):
    rows = office.owner.execute("select id from webhook_deliveries where claimed_until > now()").fetchall()
    return {row[0] for row in rows}


# Workers


async def test_of_many_workers_at_once_only_one_makes_the_call(office, receiver, user):
    receiver.gate.clear()
    await office.register(receiver)
    await office.tell(user)
    (delivery,) = office.open_ids()
    looks = [asyncio.create_task(office.deliveries.run(delivery)) for _ in range(6)]
    await asyncio.to_thread(receiver.wait_for, 1)
    finishing = asyncio.as_completed(looks)
    put_off = [await next(finishing) for _ in range(5)]
    assert all(pause is not None and pause > 0 for pause in put_off)
    receiver.gate.set()
    assert await next(finishing) is None
    assert len(receiver.received) == 1


DYING = """
import asyncio, sys
from uuid import UUID
from kontor.bootstrap import open_services
from kontor.config import read_settings

async def main():
    async with open_services(read_settings(), "kontor tests, dying") as services:
        await services.deliveries.run(UUID(sys.argv[1]))

asyncio.run(main())
"""


async def test_what_a_killed_worker_left_is_taken_over(office, receiver, user, webhook_settings):
    receiver.gate.clear()
    webhook = await office.register(receiver)
    await office.tell(user)
    (delivery,) = office.open_ids()
    environment = os.environ | export_settings(webhook_settings)
    process = await asyncio.to_thread(subprocess.Popen, [sys.executable, "-c", DYING, str(delivery)], env=environment)
    try:
        await asyncio.to_thread(receiver.wait_for, 1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert await office.deliveries.run(delivery) > 0  # it may still be alive
    office.owner.execute("update webhook_deliveries set claimed_until = now() - interval '1 second'")
    receiver.gate.set()
    assert await office.deliveries.run(delivery) is None
    (shown,) = await deliveries_of(office, webhook)
    assert (shown["state"], shown["attempts"]) == ("DELIVERED", 2)
    assert receiver.serials == [1, 1]


async def test_who_comes_back_too_late_writes_nothing(office, receiver, user):
    """A worker that was frozen during its call: another one has delivered meanwhile."""
    receiver.gate.clear()
    receiver.answer = lambda number: (500 if number == 0 else 204, {}, b"")
    webhook = await office.register(receiver)
    await office.tell(user)
    (delivery,) = office.open_ids()
    late = asyncio.create_task(office.deliveries.run(delivery))
    await asyncio.to_thread(receiver.wait_for, 1)
    office.owner.execute("update webhook_deliveries set claim = %s, claimed_until = now()", [uuid4()])
    receiver.gate.set()
    await late
    (shown,) = await deliveries_of(office, webhook)
    assert (shown["state"], shown.get("failure")) == ("PENDING", None)


async def test_a_delivery_without_a_job_gets_a_new_one_once_it_is_long_due(office, receiver, user):
    await office.register(receiver)
    await office.tell(user)
    office.owner.execute("delete from pgqueuer")
    assert await office.deliveries.take_over_stranded() == 0
    office.owner.execute("update webhook_deliveries set next_attempt_at = now() - interval '31 seconds'")
    assert await office.deliveries.take_over_stranded() == 1
    assert office.jobs() == office.open_ids()
    assert await office.deliveries.take_over_stranded() == 0
