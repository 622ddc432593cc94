"""What is asked for while a call is being made, or has just ended: a replay, another address."""

import asyncio

from receivers import Receiver, say


async def read_delivery(office, webhook):
    (shown,) = await office.read(f"/{webhook['id']}/deliveries")
    return shown


async def test_a_replay_has_a_job_although_that_of_the_last_call_has_not_ended_yet(office, receiver, user):
    webhook = await office.register(receiver)
    await office.tell(user)
    office.owner.execute("update pgqueuer set status = 'picked' where entrypoint = 'deliver'")  # as a worker has it
    await office.run_out()
    await office.call("POST", f"/{webhook['id']}/deliveries/1/replay")
    waiting = office.owner.execute(
        "select count(*) from pgqueuer where entrypoint = 'deliver' and status = 'queued' and dedupe_key is not null"
    ).fetchone()
    assert waiting == (1,)
    await office.run_out()
    assert len(receiver.received) == 2


async def test_a_replay_during_the_last_try_begins_anew_whatever_becomes_of_that_try(office, receiver, user):
    receiver.answer = lambda number: (500 if number < 6 else 204, {}, b"")
    webhook = await office.register(receiver)
    await office.tell(user)
    (delivery,) = office.open_ids()
    for _ in range(5):
        assert await office.deliveries.run(delivery) is not None
        office.owner.execute("update webhook_deliveries set next_attempt_at = now() where state = 'PENDING'")
    receiver.gate.clear()
    last = asyncio.create_task(office.deliveries.run(delivery))
    await asyncio.to_thread(receiver.wait_for, 6)
    answer = await office.call("POST", f"/{webhook['id']}/deliveries/1/replay")
    assert answer.json()["state"] == "PENDING"
    receiver.gate.set()
    await last
    assert (await read_delivery(office, webhook))["state"] == "PENDING"
    await office.run_out()
    shown = await read_delivery(office, webhook)
    assert (shown["state"], shown["attempts"]) == ("DELIVERED", 7)


async def test_410_of_an_address_that_was_replaced_meanwhile_switches_nothing_off(office, receiver, user):
    receiver.answer = say(410)
    receiver.gate.clear()
    webhook = await office.register(receiver)
    await office.tell(user)
    (delivery,) = office.open_ids()
    call = asyncio.create_task(office.deliveries.run(delivery))
    await asyncio.to_thread(receiver.wait_for, 1)
    with Receiver() as newer:
        await office.call("PUT", f"/{webhook['id']}", {"url": newer.url})
        receiver.gate.set()
        assert await call is not None  # it is tried again, there
        shown = await office.read(f"/{webhook['id']}")
        assert (shown["active"], "gone" in shown) == (True, False)
        await office.run_out()
        assert newer.serials == [1]
    assert (await read_delivery(office, webhook))["state"] == "DELIVERED"
