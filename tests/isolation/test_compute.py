"""Compute processes: bounded, killed at their deadline, replaced when dead, shared fairly."""

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from kontor.api.errors import to_http_error
from kontor.bootstrap import make_compute
from kontor.config import read_settings
from kontor.connectors.statements import Limits
from kontor.domain.errors import DeadlineExceededError, InvalidError, TooLargeError, TooManyCallsError, UnavailableError
from kontor.services.compute import compute as compute_module
from kontor.services.compute import processes
from kontor.services.compute.computations import read_file
from kontor.services.compute.compute import Compute, ComputeLimits
from kontor.services.compute.processes import ComputeProcess

MEBIBYTE = 1024 * 1024
TODAY = date(2026, 11, 16)


@pytest.fixture(scope="module")
async def compute():
    """Two processes; work may take a minute and half a gibibyte."""
    compute = Compute(ComputeLimits(2, 60, 512 * MEBIBYTE))
    await compute.warm_up()
    yield compute
    await compute.close()


# What the processes do here


def load_this_module():
    """Before the first work, whose time then is its own."""


def wait_for_file(path):
    while not Path(path).exists():
        time.sleep(0.01)


def touch_and_wait(begun, ended):
    Path(begun).write_text(str(os.getpid()))
    wait_for_file(ended)
    return os.getpid()


def die_once(marker):
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def take_memory(count):
    return len(bytearray(count))


def refuse():
    raise InvalidError("is wrong", "field")


def read_niceness():
    return os.nice(0)


async def wait_until(is_true):
    while not is_true():  # noqa: ASYNC110 (another process decides)
        await asyncio.sleep(0.01)


async def test_results_and_errors_come_back_as_they_are(compute):
    assert await compute.run(len, b"abc", owner=1) == 3
    with pytest.raises(InvalidError, match="field: is wrong") as caught:
        await compute.run(refuse, owner=1)
    assert caught.value.field == "field"


async def test_processes_let_others_go_first(compute):
    assert await compute.run(read_niceness, owner=1) == os.nice(0) + 5


async def test_work_is_killed_at_its_deadline_and_alone(tmp_path):
    compute = Compute(ComputeLimits(2, 3, 512 * MEBIBYTE), load_this_module)
    try:
        await compute.warm_up()
        begun = tmp_path / "begun"
        late = asyncio.create_task(compute.run(touch_and_wait, str(begun), str(tmp_path / "never"), owner=1))
        await wait_until(begun.exists)
        assert await compute.run(len, b"abc", owner=2) == 3
        with pytest.raises(DeadlineExceededError, match="more than 3 seconds"):
            await late
        await wait_until(lambda: not Path(f"/proc/{begun.read_text()}").exists())
        assert await compute.run(len, b"abc", owner=1) == 3
    finally:
        await compute.close()


async def test_work_beyond_the_memory_is_refused_and_the_next_is_done(compute):
    with pytest.raises(TooLargeError):
        await compute.run(take_memory, 1024 * MEBIBYTE, owner=1)
    assert await compute.run(take_memory, MEBIBYTE, owner=1) == MEBIBYTE


async def test_a_process_that_dies_is_replaced_and_its_work_done_again(compute, tmp_path):
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    other = asyncio.create_task(compute.run(touch_and_wait, str(begun), str(ended), owner=2))
    await wait_until(begun.exists)
    assert await compute.run(die_once, str(tmp_path / "marker"), owner=1) == "done"
    ended.touch()
    assert await other == int(begun.read_text())


async def test_work_that_always_dies_fails_alone(compute, tmp_path):
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    other = asyncio.create_task(compute.run(touch_and_wait, str(begun), str(ended), owner=2))
    await wait_until(begun.exists)
    with pytest.raises(UnavailableError):
        await compute.run(die, owner=1)
    ended.touch()
    assert await other == int(begun.read_text())
    assert await compute.run(len, b"abc", owner=1) == 3


async def test_a_process_that_dies_idle_is_not_noticed(compute, tmp_path):
    (tmp_path / "ended").touch()
    for _ in range(2):
        pid = await compute.run(touch_and_wait, str(tmp_path / "begun"), str(tmp_path / "ended"), owner=1)
        process = next(child for child in multiprocessing.active_children() if child.pid == pid)
        process.kill()
        process.join()
    assert await compute.run(len, b"abc", owner=1) == 3


async def test_one_user_leaves_a_process_to_others(compute, tmp_path):
    ended = tmp_path / "ended"
    mine = [
        asyncio.create_task(compute.run(touch_and_wait, str(tmp_path / f"begun{number}"), str(ended), owner=1))
        for number in range(4)
    ]
    await wait_until((tmp_path / "begun0").exists)
    assert await compute.run(len, b"abc", owner=2) == 3
    assert len(list(tmp_path.glob("begun*"))) == 1
    ended.touch()
    await asyncio.gather(*mine)


async def test_users_take_turns_and_clients_before_them(tmp_path):
    """One process, held; then A1 has three, A2 of the same client one, and B of another one: B is never last."""
    compute = Compute(ComputeLimits(1, 30, 512 * MEBIBYTE))
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    order = []

    async def work(owner):
        await compute.run(len, b"", owner=owner)
        order.append(owner)

    try:
        with compute.admit("A1", "A"), compute.admit("A2", "A"), compute.admit("B1", "B"):
            holding = asyncio.create_task(compute.run(touch_and_wait, str(begun), str(ended), owner="A1"))
            await wait_until(begun.exists)
            tasks = [asyncio.create_task(work(owner)) for owner in ("A1", "A1", "A1", "A2", "B1")]
            await asyncio.sleep(0)
            ended.touch()
            await asyncio.gather(holding, *tasks)
    finally:
        await compute.close()
    assert order == ["B1", "A2", "A1", "A1", "A1"]


async def test_calls_in_progress_are_bounded_per_user_and_per_client():
    compute = Compute()
    many, more = compute_module.CALLS_PER_USER, compute_module.CALLS_PER_CLIENT
    calls = [compute.admit("user", "client") for _ in range(many)]
    for call in calls:
        call.__enter__()
    with pytest.raises(TooManyCallsError) as caught, compute.admit("user", "client"):
        pass
    assert caught.value.retry_after_seconds > 0
    others = [compute.admit(number, "client") for number in range(more - many)]
    for call in others:
        call.__enter__()
    with pytest.raises(TooManyCallsError), compute.admit("another", "client"):
        pass
    with compute.admit("another", "another client"):
        pass
    calls[0].__exit__(None, None, None)
    with compute.admit("user", "client"):
        pass
    await compute.close()


async def test_who_waits_too_long_for_a_process_is_refused_and_leaves_the_queue(tmp_path):
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    compute = Compute(ComputeLimits(1, 60, 512 * MEBIBYTE, turn_seconds=0.2))
    try:
        await compute.warm_up()
        long = asyncio.create_task(compute.run(touch_and_wait, str(begun), str(ended), owner=1))
        await wait_until(begun.exists)
        with pytest.raises(UnavailableError, match="Too much is computed now") as caught:
            await compute.run(len, b"abc", owner=2)
        answer = to_http_error(caught.value)
        assert (answer.status, answer.headers) == (503, {"Retry-After": "5"})
        assert not long.done()
        ended.touch()
        assert await long == int(begun.read_text())
        assert await compute.run(len, b"abc", owner=2) == 3
    finally:
        await compute.close()


async def test_a_caller_that_goes_away_gives_its_process_back(compute, tmp_path):
    begun = tmp_path / "begun"
    task = asyncio.create_task(compute.run(touch_and_wait, str(begun), str(tmp_path / "never"), owner=1))
    await wait_until(begun.exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await compute.run(len, b"abc", owner=1) == 3


class ControlledProcess(ComputeProcess):
    """Its work ends when the test says so, which no real process does to the step of an event loop."""

    is_started = True

    def __init__(self, *others):
        super().__init__(*others)
        self.begun = asyncio.Event()

    async def run(self, function, arguments, deadline_seconds):
        self.work = asyncio.get_running_loop().create_future()
        self.begun.set()
        return await self.work


async def test_a_waiter_that_is_cancelled_as_a_process_becomes_free_takes_nothing_along(monkeypatch):
    monkeypatch.setattr(compute_module, "ComputeProcess", ControlledProcess)
    compute = Compute(ComputeLimits(1, 10, MEBIBYTE))
    process = compute._processes[0]
    running = asyncio.create_task(compute.run(die, owner="anna"))
    waiting = asyncio.create_task(compute.run(die, owner="ben"))
    await process.begun.wait()
    process.work.set_result("done")
    waiting.cancel()  # in the same step of the event loop
    assert await running == "done"
    with pytest.raises(asyncio.CancelledError):
        await waiting
    process.begun.clear()
    following = asyncio.create_task(compute.run(die, owner="cleo"))
    await process.begun.wait()
    process.work.set_result("done as well")
    assert await following == "done as well"


async def test_without_preloading_a_process_starts_at_its_first_task():
    before = {child.pid for child in multiprocessing.active_children()}
    compute = make_compute(read_settings({"KONTOR_COMPUTE_PRELOAD": "false"}))
    await compute.warm_up()
    assert {child.pid for child in multiprocessing.active_children()} == before
    await compute.close()
    compute = Compute(ComputeLimits(1, 60, 512 * MEBIBYTE), is_preloaded=False)
    await compute.warm_up()
    try:
        assert {child.pid for child in multiprocessing.active_children()} == before
        assert await compute.run(len, b"abc", owner=1) == 3
        assert len({child.pid for child in multiprocessing.active_children()} - before) == 1
    finally:
        await compute.close()


def refuse_to_start(marker):
    if not Path(marker).exists():
        os._exit(1)


async def test_a_pool_whose_processes_all_fail_to_start_is_not_ready_until_one_does(tmp_path, monkeypatch):
    monkeypatch.setattr(compute_module, "RECOVERY_SECONDS", 0.01)
    allowed = tmp_path / "allowed"
    compute = Compute(ComputeLimits(2, 60, 512 * MEBIBYTE), partial(refuse_to_start, str(allowed)))
    try:
        assert compute.is_ready(), "nothing was tried yet"
        await compute.warm_up()
        assert not compute.is_ready()
        with pytest.raises(UnavailableError):
            await compute.run(len, b"abc", owner=1)
        allowed.touch()
        await wait_until(compute.is_ready)
        assert await compute.run(len, b"abc", owner=1) == 3
    finally:
        await compute.close()


async def test_a_system_that_gives_no_process_makes_work_unavailable(monkeypatch):
    def give_none(*arguments, **options):
        raise BlockingIOError("Resource temporarily unavailable")

    compute = Compute(ComputeLimits(1, 60, 512 * MEBIBYTE), is_preloaded=False)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(processes, "ProcessPoolExecutor", give_none)
            with pytest.raises(UnavailableError):
                await compute.run(len, b"abc", owner=1)
            assert not compute.is_ready()
        assert await compute.run(len, b"abc", owner=1) == 3
        assert compute.is_ready()
    finally:
        await compute.close()


async def test_work_that_a_close_interrupts_starts_no_process_again(tmp_path):
    compute = Compute(ComputeLimits(2, 60, 512 * MEBIBYTE))
    await compute.warm_up()
    task = asyncio.create_task(compute.run(touch_and_wait, tmp_path / "begun", tmp_path / "never", owner="anna"))
    await asyncio.to_thread(wait_for_file, tmp_path / "begun")
    children = {child.pid for child in multiprocessing.active_children()}
    await compute.close()
    with pytest.raises(UnavailableError):
        await task
    assert {child.pid for child in multiprocessing.active_children()} <= children


async def test_the_event_loop_goes_on_while_a_file_is_read(compute):
    head = ":20:STARTUMS\n:25:37040044/532013000\n:28C:1/1\n:60F:C261101EUR0,00\n"
    line = ":61:2611021102D1,00NMSCNONREF\n:86:166?00GUTSCHRIFT?20SVWZ+Rechnung?32Erika Mustermann\n"
    count = 30_000
    data = f"{head}{line * count}:62F:D261102EUR{count},00\n-".encode()
    gaps = [0.0]
    reading = asyncio.create_task(compute.run(read_file, data, Limits(entries=50_000), TODAY, owner=1))
    started = last = time.perf_counter()
    while not reading.done():
        await asyncio.sleep(0.005)
        now = time.perf_counter()
        gaps.append(now - last)
        last = now
    read = await reading
    assert read.accounts[0].count == count
    assert max(gaps) < (last - started) / 2


async def test_a_file_with_too_many_bookings_names_the_limit(compute):
    head = ":20:STARTUMS\n:25:37040044/532013000\n:28C:1/1\n:60F:C261101EUR0,00\n"
    line = ":61:2611021102D1,00NMSCNONREF\n:86:Rechnung\n"
    with pytest.raises(TooLargeError, match="at most 10 bookings"):
        await compute.run(read_file, f"{head}{line * 11}-".encode(), Limits(entries=10), TODAY, owner=1)


PARENT = """
import asyncio, sys
sys.path[:] = {path!r}
from kontor.services.compute import Compute, ComputeLimits
from kontor.services.compute.processes import ComputeProcess
from test_compute import touch_and_wait
async def main():
    compute = Compute(ComputeLimits(1, 60, 1 << 29))
    await compute.run(touch_and_wait, {begun!r}, {never!r}, owner=1)
asyncio.run(main())
"""


def test_processes_end_with_a_parent_that_is_killed(tmp_path):
    begun = tmp_path / "begun"
    code = PARENT.format(path=sys.path, begun=str(begun), never=str(tmp_path / "never"))
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        while not begun.exists() or not begun.read_text():
            assert parent.poll() is None
            time.sleep(0.01)
        parent.kill()
    with suppress(ProcessLookupError):
        while True:
            os.kill(int(begun.read_text()), 0)
            time.sleep(0.01)


def test_a_process_starts_where_it_may_not_lower_its_priority():
    # As under a filter of system calls. A copy of this process keeps the function that refuses.
    script = (
        "import multiprocessing, os\n"
        "from kontor.services.compute.processes import _initialise\n"
        "def refuse(increment): raise PermissionError(1, 'Operation not permitted')\n"
        "os.nice = refuse\n"
        "process = multiprocessing.get_context('fork').Process(target=_initialise, args=(2**40, None))\n"
        "process.start(); process.join(); print(process.exitcode)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")
