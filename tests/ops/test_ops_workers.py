"""Real workers: seen while they live, gone when they end in order, still there for a while when they were killed."""

import asyncio
import os
import signal
import time
from uuid import UUID

from kontor import __version__
from processes import running_worker
from timeouts import WAIT_TIMEOUT_SECONDS


async def wait_for(operator, is_reached, seconds=WAIT_TIMEOUT_SECONDS):
    end = time.monotonic() + seconds
    while True:
        found = await operator.read("workers")
        if is_reached(found):
            return found
        assert time.monotonic() < end, f"not reached in time: {found}"
        await asyncio.sleep(0.1)


def wait_until_ended(worker):
    """Off the event loop, which must go on serving meanwhile."""
    return asyncio.to_thread(worker.process.wait, WAIT_TIMEOUT_SECONDS)


async def test_a_worker_is_seen_until_it_ends_and_a_killed_one_is_missed(operator, tmp_path):
    worker = running_worker(operator.settings, tmp_path / "worker.log")
    worker.__enter__()
    try:
        [seen] = await wait_for(operator, lambda found: len(found) == 1)
        assert (seen["pid"], seen["version"], seen["alive"]) == (worker.process.pid, __version__, True)
        first = operator.owner.execute("select seen_at from workers").fetchone()
        end = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while operator.owner.execute("select seen_at from workers").fetchone() == first:
            assert time.monotonic() < end, "it tells again and again that it lives"
            await asyncio.sleep(0.1)
        worker.process.send_signal(signal.SIGTERM)
        assert await wait_until_ended(worker) == 0
        assert await operator.read("workers") == []

        worker.__enter__()
        [seen] = await wait_for(operator, lambda found: len(found) == 1)
        os.kill(worker.process.pid, signal.SIGKILL)
        await wait_until_ended(worker)
        operator.owner.execute(
            "update workers set seen_at = seen_at - interval '20 seconds' where id = %s", [UUID(seen["id"])]
        )
        [missed] = await operator.read("workers")
        assert (missed["id"], missed["alive"]) == (seen["id"], False)
    finally:
        if worker.process.poll() is None:
            worker.process.kill()
            worker.process.wait()
