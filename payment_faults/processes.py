"""A process that runs simulated faults one after the other, on a database and banks of its own.

    python -m payment_faults.processes SEED FIRST END STEP RESULTS [FORM …]

Results are appended to the file; faults that it has already are left out.
"""

import asyncio
import logging
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from pathlib import Path

from kontor.logs import configure_logs
from payment_faults.crashing import Crashes, install
from payment_faults.environment import FaultEnvironment, clear_environment
from payment_faults.plans import Fault, draw_fault, has_form
from payment_faults.results import Result, append_result, find_done, make_result
from payment_faults.simulated import MODE, Simulation
from payment_faults.verdicts import Evidence, Verdict

MEMORY = Path("/dev/shm")  # where there is one: thirty commits of a payment need not wait for a disk


async def run_faults(faults: Iterable[Fault]) -> list[tuple[Result, Evidence]]:
    """For a few; see `main` for many."""
    return [found async for found in _run(faults)]


async def _run(faults: Iterable[Fault]) -> AsyncIterator[tuple[Result, Evidence]]:
    clear_environment()
    _quieten()
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # tasks of dead processes have no readers
    folder = make_folder()
    crashes = Crashes()
    try:
        with FaultEnvironment(folder) as environment:
            await environment.populate()
            install(crashes)
            simulation = Simulation(environment, crashes)
            for fault in faults:
                try:
                    yield await simulation.run(fault)
                except Exception as error:  # the others are to be seen, too
                    evidence = Evidence((repr(error),), None, False, 0, 0, 0)
                    yield make_result(MODE, fault, "", evidence, Verdict.ERROR, 0), evidence
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="kontor-faults-", dir=MEMORY if MEMORY.is_dir() else None))
    folder.chmod(0o755)  # PostgreSQL may run as another user
    return folder


def _quieten() -> None:
    """What a dead process leaves behind is meant to be: connections, tasks, coroutines that never began."""
    configure_logs("error", "console")
    warnings.simplefilter("ignore", RuntimeWarning)
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)


async def main(seed: int, numbers: range, file: Path, forms: list[str]) -> None:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)  # the database is to end as well
    done = find_done(file, MODE, seed)
    drawn = (draw_fault(seed, number) for number in numbers if number not in done)
    async for result, _ in _run(fault for fault in drawn if has_form(fault, forms)):
        append_result(file, result)


if __name__ == "__main__":
    with suppress(asyncio.CancelledError):
        asyncio.run(main(int(sys.argv[1]), range(*map(int, sys.argv[2:5])), Path(sys.argv[5]), sys.argv[6:]))
