"""Serials: consecutive, from 1, without a gap in what was committed, whoever publishes, fails or looks meanwhile."""

import asyncio
import random
from contextlib import nullcontext

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kontor.domain.webhooks import Event, EventType
from many_examples import count_examples
from receivers import Receiver

TYPES = list(EventType)


class ChangedMindError(Exception):
    """The transaction is to be rolled back."""


async def publish(office, events, *, is_committed, pause=0.0, turnstile=None):
    """A transaction with other work around its events."""
    try:
        async with turnstile or nullcontext(), office.services.database.transaction() as connection:
            await office.services.events.publish(connection, *events)
            await asyncio.sleep(pause)
            if not is_committed:
                raise ChangedMindError
    except ChangedMindError:
        pass


def find_serials(office):
    rows = office.owner.execute(
        "select webhook_id, array_agg(serial order by serial) from webhook_deliveries group by 1"
    )
    return dict(rows.fetchall())


async def test_concurrent_publishers_and_rollbacks_leave_no_gap(office, neighbouring_office, user):
    """Transactions of many users, of two tenants, in any order and size; a third of them is rolled back."""
    chance = random.Random(8)
    with Receiver() as receiver:
        hooks = [
            await office.register(receiver),
            await office.register(receiver, events=["access.error"]),
            await office.register(receiver, events=["transactions.new", "payment.status"]),
            await neighbouring_office.register(receiver),
        ]
        users = [user, *[await office.new_user() for _ in range(3)], await neighbouring_office.new_user()]
        own = {owner.user_id for owner in users[:4]}
        expected = {hook["id"]: 0 for hook in hooks}
        calls, turnstile = [], asyncio.Semaphore(7)  # connections at once
        for _ in range(120):
            events = [
                Event(chance.choice(TYPES), chance.choice(users).user_id, "a") for _ in range(chance.randint(1, 4))
            ]
            is_committed = chance.random() > 0.33
            pause = chance.choice((0, 0, 0.005))
            calls.append(publish(office, events, is_committed=is_committed, pause=pause, turnstile=turnstile))
            for hook in hooks:
                wanted = [
                    event
                    for event in events
                    if event.type in hook["events"] and (event.user_id in own) == (hook is not hooks[3])
                ]
                expected[hook["id"]] += len(wanted) * is_committed
        looking = asyncio.create_task(look_for_gaps(office))
        await asyncio.gather(*calls)
        assert not looking.done(), looking.exception()
        looking.cancel()
        found = {str(webhook_id): serials for webhook_id, serials in find_serials(office).items()}
    assert found == {webhook_id: list(range(1, count + 1)) for webhook_id, count in expected.items()}
    lasts = office.owner.execute("select id::text, last_serial from webhooks").fetchall()
    assert dict(lasts) == expected
    jobs = office.jobs()
    assert (len(jobs), len(set(jobs))) == (sum(expected.values()), sum(expected.values()))


async def look_for_gaps(office):
    """At no moment does anybody see a serial without the ones before it."""
    while True:
        for serials in find_serials(office).values():
            assert serials == list(range(1, len(serials) + 1))
        await asyncio.sleep(0.01)


HISTORIES = st.lists(st.tuples(st.sampled_from(TYPES), st.integers(1, 3), st.booleans()), min_size=1, max_size=8)


@settings(max_examples=count_examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=HISTORIES)
async def test_any_history_of_commits_and_rollbacks_is_gap_free(office, receiver, user, history):
    office.owner.execute("delete from webhooks")
    wanted = TYPES[:3]
    hook = await office.register(receiver, events=[str(event_type) for event_type in wanted])
    for kind, count, is_committed in history:
        await publish(office, [Event(kind, user.user_id, "a")] * count, is_committed=is_committed)
    told = [kind for kind, count, is_committed in history if is_committed and kind in wanted for _ in range(count)]
    shown = await office.read(f"/{hook['id']}/events")
    assert [(event["serial"], event["type"]) for event in shown["events"]] == list(enumerate(map(str, told), 1))
    assert shown["lastSerial"] == len(told)
