"""What a worker takes at once of a kind of jobs, and what it leaves to others."""

import asyncio

from kontor.jobs.gates import Gate, GatedManager


async def enter(gate, begun, end):
    async with gate:
        begun.append(1)
        await end.wait()


async def test_no_more_than_the_limit_get_on_and_the_others_get_their_turn():
    gate, begun, end = Gate(2), [], asyncio.Event()
    tasks = [asyncio.create_task(enter(gate, begun, end)) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(begun) == 2
    assert gate.is_full
    end.set()
    await asyncio.gather(*tasks)
    assert len(begun) == 3
    assert not gate.is_full


async def test_who_is_cancelled_while_waiting_leaves_no_place_taken():
    gate, end = Gate(1), asyncio.Event()
    running = asyncio.create_task(enter(gate, [], end))
    waiting = asyncio.create_task(enter(gate, [], end))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    end.set()
    await running
    assert not gate.is_full
    async with asyncio.timeout(5), gate:
        assert gate.is_full


async def test_a_kind_that_is_full_here_is_not_asked_for_and_the_others_are():
    manager = GatedManager(None)
    manager.entrypoint_registry = {"refresh": None, "fetch": None}
    manager.gates = {"refresh": Gate(1)}
    assert manager.entrypoints_below_capacity_limits() == {"refresh", "fetch"}
    async with manager.gates["refresh"]:
        assert manager.entrypoints_below_capacity_limits() == {"fetch"}
    assert manager.entrypoints_below_capacity_limits() == {"refresh", "fetch"}
