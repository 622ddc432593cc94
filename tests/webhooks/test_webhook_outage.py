"""A receiver that is down for a day: no serial is lost, and what was given up is fetched by the gap it left."""

from kontor.services.webhooks.deliveries import Deliveries
from receivers import say

HOURS, EVENTS_PER_HOUR = 24, 3


def pass_an_hour(office):
    """For deliveries, as if it were an hour later."""
    office.owner.execute(
        "update webhook_deliveries set created_at = created_at - interval '1 hour',"
        " next_attempt_at = next_attempt_at - interval '1 hour', attempted_at = attempted_at - interval '1 hour',"
        " begun_at = begun_at - interval '1 hour'"
    )


async def look(deliveries: Deliveries, office) -> None:
    for delivery_id in office.open_ids():
        await deliveries.run(delivery_id)


async def test_a_day_of_outage_leaves_no_gap_in_the_serials(office, receiver, user):
    """With the schedule of production. The receiver reads what it has missed by the last serial that it has seen."""
    production = office.services.deliveries
    webhook = await office.register(receiver)
    for _ in range(EVENTS_PER_HOUR):
        await office.tell(user)
    await look(production, office)
    assert sorted(receiver.serials) == [1, 2, 3]
    receiver.answer = say(503)
    for _ in range(HOURS):
        for _ in range(EVENTS_PER_HOUR):
            await office.tell(user)
        await look(production, office)
        pass_an_hour(office)
        await look(production, office)
    last = EVENTS_PER_HOUR * (1 + HOURS)
    before = len(receiver.received)
    receiver.answer = say(204)
    for _ in range(HOURS):  # until whatever is still tried again has been
        await look(production, office)
        pass_an_hour(office)
    late = {call.content["serial"] for call in receiver.received[before:]}
    states = dict(
        office.owner.execute("select state, array_agg(serial order by serial) from webhook_deliveries group by state")
    )
    assert set(states) <= {"DELIVERED", "DISCARDED"}
    assert sorted(serial for serials in states.values() for serial in serials) == list(range(1, last + 1))
    seen, missed = {1, 2, 3} | late, set(states.get("DISCARDED", []))
    assert seen | missed == set(range(1, last + 1))
    assert missed, "an outage of a day is longer than the schedule"
    read, after = {}, EVENTS_PER_HOUR
    while page := (await office.read(f"/{webhook['id']}/events", params={"afterSerial": after, "limit": 10}))["events"]:
        read |= {event["serial"]: event for event in page}
        after = page[-1]["serial"]
    assert list(read) == list(range(EVENTS_PER_HOUR + 1, last + 1)), "in order, without a gap"


async def test_what_was_given_up_in_the_outage_can_be_sent_again(office, receiver, user):
    receiver.answer = say(503)
    webhook = await office.register(receiver)
    for _ in range(5):
        await office.tell(user)
    await office.run_out()
    receiver.answer = say(204)
    before = len(receiver.received)
    for serial in range(1, 6):
        answer = await office.call("POST", f"/{webhook['id']}/deliveries/{serial}/replay")
        assert answer.status_code in (200, 202, 204), answer.text
    await office.run_out()
    assert sorted(call.content["serial"] for call in receiver.received[before:]) == [1, 2, 3, 4, 5]
    assert await office.tell(user) == 1
    await office.run_out()
    assert receiver.received[-1].content["serial"] == 6
