"""What a worker takes at once of a kind of jobs, and what it leaves to others."""

import asyncio

from kontor.jobs.concurrency import ConcurrencyLimit, LimitedQueueManager


async def enter(limit, begun, end):
    async with limit:
        begun.append(1)
        await end.wait()


async def test_no_more_than_the_limit_get_on_and_the_others_get_their_turn():
    limit, begun, end = ConcurrencyLimit(2), [], asyncio.Event()
    tasks = [asyncio.create_task(enter(limit, begun, end)) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(begun) == 2
    assert limit.is_full
    end.set()
    await asyncio.gather(*tasks)
    assert len(begun) == 3
    assert not limit.is_full


async def test_who_is_cancelled_while_waiting_leaves_no_place_taken():
    limit, end = ConcurrencyLimit(1), asyncio.Event()
    running = asyncio.create_task(enter(limit, [], end))
    waiting = asyncio.create_task(enter(limit, [], end))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    end.set()
    await running
    assert not limit.is_full
    async with asyncio.timeout(5), limit:
        assert limit.is_full


async def test_a_kind_that_is_full_here_is_not_asked_for_and_the_others_are():
    manager = LimitedQueueManager(None)
    manager.entrypoint_registry = {"refresh": None, "fetch": None}
    manager.limits = {"refresh": ConcurrencyLimit(1)}
    assert manager.entrypoints_below_capacity_limits() == {"refresh", "fetch"}
    async with manager.limits["refresh"]:
        assert manager.entrypoints_below_capacity_limits() == {"fetch"}
    assert manager.entrypoints_below_capacity_limits() == {"refresh", "fetch"}
