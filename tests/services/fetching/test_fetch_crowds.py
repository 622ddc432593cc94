"""Five workers and one set of credentials: the bank gets one call at a time, and everybody gets the data."""

import asyncio
from contextlib import AsyncExitStack

from fake_bank import ROWS
from fetch_harness import FetchHarness, second_worker

from kontor.services.fetching.fetching import Outcome

WORKERS, ACCESSES = 5, 5


async def run_until_done(worker: FetchHarness, fetch_ids: list) -> None:
    """As the queue does it: a fetch whose credentials are busy is tried again."""
    left = list(fetch_ids)
    while left:
        fetch_id = left.pop(0)
        if await worker.services.fetching.run(fetch_id) is Outcome.BUSY:
            left.append(fetch_id)
            await asyncio.sleep(0.01)


async def test_five_workers_on_one_credential_call_the_bank_one_at_a_time(own, harness, bank):
    """Each worker tries every fetch, all at once."""
    names = [f"access{number}" for number in range(ACCESSES)]
    posted = harness.post({name: await harness.request("anna") for name in names})
    fetch_ids = [await harness.queued(name) for name in names]
    async with AsyncExitStack() as stack:
        workers = [await stack.enter_async_context(second_worker(own, harness)) for _ in range(WORKERS)]
        async with asyncio.timeout(120):
            await asyncio.gather(*(run_until_done(worker, fetch_ids) for worker in workers))
            await posted
    assert bank.most_at_once == 1
    assert bank.calls == ["begin", "resume"] * ACCESSES, "each fetch ran once"
    assert harness.rows("fetches", "state, attempts") == [("DONE", 1)] * ACCESSES
    for name in names:
        assert (await harness.notices(name)) == ([], [])
    assert len(harness.data()["transactions"]) >= ACCESSES * len(ROWS)
