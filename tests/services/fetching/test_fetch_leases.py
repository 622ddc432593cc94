"""Who may call the bank and write: leases, fences, lost workers and lost jobs."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
from fake_bank import ROWS
from fetch_harness import Gate, forget_heartbeat, second_worker

from kontor.services.fetching.fetching import Outcome
from kontor.storage import fetches, leases

# Leases, fences, the reaper


async def test_two_accesses_with_the_same_credentials_never_call_the_bank_at_once(harness, bank):
    gate = bank.on_begin = Gate()
    posted = harness.post({"a": await harness.request(), "b": await harness.request()})
    first, second = await harness.queued("a"), await harness.queued("b")
    running = asyncio.create_task(harness.services.fetching.run(first))
    await gate.wait()
    assert await harness.services.fetching.run(second) is Outcome.BUSY
    gate.open.set()
    await running
    assert await harness.services.fetching.run(second) is Outcome.FINISHED
    await posted
    assert bank.most_at_once == 1
    assert bank.calls == ["begin", "resume"] * 2


async def test_other_logins_are_not_held_up(harness, bank):
    gate = bank.on_begin = Gate()
    posted = harness.post({"a": await harness.request("anna"), "b": await harness.request("berta")})
    first, second = await harness.queued("a"), await harness.queued("b")
    running = [asyncio.create_task(harness.services.fetching.run(fetch_id)) for fetch_id in (first, second)]
    for _ in range(1000):
        if bank.at_once == 2:
            break
        await asyncio.sleep(0.01)
    assert bank.at_once == 2
    gate.open.set()
    await asyncio.gather(*running, posted)


async def test_worker_that_was_silent_too_long_cannot_write_any_more(own, harness, bank):
    """The late write is refused by the fence, and what the new worker stored stays as it is."""
    gate = bank.on_resume = Gate()
    posted = harness.post({"a": await harness.request()})
    late = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await posted
    forget_heartbeat(harness)
    async with second_worker(own, harness) as second:
        assert await second.services.fetching.take_over_abandoned() == 1
        bank.on_resume = lambda: None
        bank.transactions = {"giro": ROWS[:8]}
        assert await second.services.fetching.run(await harness.queued()) is Outcome.FINISHED
    after = harness.data()
    assert len(after["transactions"]) == 8
    bank.transactions = {"giro": ROWS, "spar": ROWS}
    gate.open.set()
    await late
    assert harness.data() == after
    assert harness.rows("fetches", "state, attempts") == [("DONE", 2)]


async def test_late_worker_is_refused_also_while_nobody_has_taken_over_yet(harness, bank):
    """The reaper has put the fetch back: from then on the old worker's result is nobody's."""
    gate = bank.on_resume = Gate()
    posted = harness.post({"a": await harness.request()})
    late = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await posted
    forget_heartbeat(harness)
    assert await harness.services.fetching.take_over_abandoned() == 1
    gate.open.set()
    await late
    assert harness.rows("transactions") == []
    assert await harness.services.fetching.run(await harness.queued()) is Outcome.FINISHED
    assert len(harness.rows("transactions")) == 12


async def test_reaper_leaves_living_fetches_alone(harness, bank):
    gate = bank.on_resume = Gate()
    posted = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    assert await harness.services.fetching.take_over_abandoned() == 0
    gate.open.set()
    await running
    await posted
    assert await harness.services.fetching.take_over_abandoned() == 0


async def test_a_fetch_does_not_wait_in_line_for_credentials_whose_holder_is_storing(own, harness, bank, monkeypatch):
    """A lease that was got after such a wait had run out already: its fetch was taken for abandoned and tried twice."""
    reached, go_on = asyncio.Event(), asyncio.Event()
    retag = harness.services.transaction_tagging.retag_changed

    async def stall(*arguments):
        reached.set()
        await go_on.wait()
        await retag(*arguments)

    monkeypatch.setattr(harness.services.transaction_tagging, "retag_changed", stall)
    posted = harness.post({"a": await harness.request(), "b": await harness.request()})
    first, second = await harness.queued("a"), await harness.queued("b")
    bank.on_resume = lambda: forget_heartbeat(harness)  # the last heartbeat was too long ago when it begins to store
    storing = asyncio.create_task(harness.services.fetching.run(first))
    await reached.wait()
    bank.on_resume = lambda: None
    async with second_worker(own, harness) as other:
        try:
            assert await asyncio.wait_for(other.services.fetching.run(second), 20) is Outcome.BUSY
        finally:
            go_on.set()
        await storing
        gate = bank.on_begin = Gate()
        running = asyncio.create_task(other.services.fetching.run(second))
        await gate.wait()
        assert await harness.services.fetching.take_over_abandoned() == 0
        gate.open.set()
        await running
    await posted
    assert harness.rows("fetches", "state, attempts") == [("DONE", 1)] * 2
    assert bank.most_at_once == 1


async def prepare_then(harness, monkeypatch, act):
    """Run a fetch; `act` happens between the taking of its lease and its start."""
    gateway = harness.services.fetching._gateway
    prepare = gateway.prepare

    async def prepare_slowly(*arguments):
        prepared = await prepare(*arguments)
        await act()
        return prepared

    monkeypatch.setattr(gateway, "prepare", prepare_slowly)
    posted = harness.post({"a": await harness.request()})
    return posted, asyncio.create_task(harness.services.fetching.run(await harness.queued()))


async def test_a_lease_that_ran_out_before_the_start_is_valid_again_when_the_bank_is_called(harness, bank, monkeypatch):
    async def stall():
        forget_heartbeat(harness)

    gate = bank.on_begin = Gate()
    posted, running = await prepare_then(harness, monkeypatch, stall)
    await gate.wait()
    assert await harness.services.fetching.take_over_abandoned() == 0
    gate.open.set()
    await running
    await posted
    assert harness.rows("fetches", "state, attempts") == [("DONE", 1)]


async def test_no_bank_is_called_once_the_lease_is_in_other_hands(own, harness, bank, monkeypatch):
    taken = []
    async with second_worker(own, harness) as other:

        async def lose():
            if not taken:
                forget_heartbeat(harness)
                [(key,)] = harness.owner.execute("select key from credential_leases").fetchall()
                async with other.services.database.connect() as connection:
                    taken.append(await leases.take_lease(connection, key, other.services.fetching._leasing.holder))

        posted, running = await prepare_then(harness, monkeypatch, lose)
        assert await running is Outcome.BUSY
        assert taken[0] is not None
        assert bank.calls == []
        assert harness.rows("fetches", "state, attempts") == [("QUEUED", 0)]
        async with other.services.database.connect() as connection:
            assert await leases.renew_lease(connection, taken[0])
            await leases.release_lease(connection, taken[0])
    assert await harness.services.fetching.run(await harness.queued()) is Outcome.FINISHED
    await posted
    assert harness.rows("fetches", "state, attempts") == [("DONE", 1)]


async def test_a_renewal_that_had_to_wait_counts_from_when_it_was_made(harness, bank):
    """The holder's own storing transaction locks the lease's row; its heartbeat waits for that."""
    database = harness.services.database
    async with database.connect() as connection:
        lease = await leases.take_lease(connection, b"a key", harness.user_id)
    waiting = "select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')"
    async with database.connect() as renewing:
        async with database.transaction() as storing:
            assert await leases.holds_lease(storing, lease)
            renewal = asyncio.create_task(leases.renew_lease(renewing, lease))
            for _ in range(3000):
                if harness.owner.execute(waiting).fetchone():
                    break
                await asyncio.sleep(0.01)
            cursor = await storing.execute("select clock_timestamp()")
            (stored_at,) = await cursor.fetchone()
        assert await renewal
    (until,) = harness.owner.execute("select until from credential_leases where key = %s", [b"a key"]).fetchone()
    assert until - timedelta(seconds=leases.LEASE_SECONDS) >= stored_at


async def test_fetch_whose_workers_always_die_ends_with_an_issue(harness, bank):
    posted = harness.post({"a": await harness.request(is_synced=False)})
    fetch_id = await harness.queued()
    harness.owner.execute(
        "update fetches set state = 'RUNNING', attempts = %s, fence = 0 where id = %s", [fetches.MAX_ATTEMPTS, fetch_id]
    )
    assert await harness.services.fetching.take_over_abandoned() == 1
    await posted
    assert harness.rows("fetches", "state, 1") == [("INTERRUPTED", 1)]
    assert await harness.notices() == ([], ["INTERNAL"])
    assert harness.rows("accesses", "credentials, memory") == [(None, None)]


@pytest.mark.parametrize(
    "lost", ["delete from pgqueuer where payload = %s", "update pgqueuer set status = 'failed' where payload = %s"]
)
async def test_fetch_whose_job_got_lost_is_queued_anew(harness, bank, lost):
    posted = harness.post({"a": await harness.request()})
    fetch_id = await harness.queued()
    harness.owner.execute(lost, [fetch_id.bytes])
    assert await harness.services.fetching.take_over_abandoned() == 0, "it may just be on its way"
    harness.owner.execute("update fetches set requested_at = now() - interval '1 minute' where id = %s", [fetch_id])
    assert await harness.services.fetching.take_over_abandoned() == 1
    jobs = harness.owner.execute("select status::text from pgqueuer where payload = %s", [fetch_id.bytes]).fetchall()
    assert jobs == [("queued",)]
    await harness.services.fetching.run(fetch_id)
    await posted


async def test_fetch_that_is_done_is_not_run_again(harness, bank):
    posted = harness.post({"a": await harness.request()})
    fetch_id = await harness.queued()
    for _ in range(3):
        assert await harness.services.fetching.run(fetch_id) is Outcome.FINISHED
    await posted
    assert await harness.services.fetching.run(uuid4()) is Outcome.FINISHED
    assert bank.calls == ["begin", "resume"]
