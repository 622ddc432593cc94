"""Workers that can be killed every second: forked off a process that has loaded everything already.

Each is a worker as `kontor worker` runs it, only that it reaches the simulated bank, and that leases and claims run out
sooner, as a simulated day has few real minutes.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

LEASE_SECONDS, HEARTBEAT_SECONDS, REAPER_SECONDS, CLAIM_SECONDS = 3, 0.5, 0.5, 3


class WorkerForkServer:
    """Starts and kills workers. They are numbered, since the system reuses process ids."""

    def __init__(self, folder: Path, environment: dict[str, str], port: int, jumping_factor: float = 0) -> None:
        with (folder / "workers.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "simulation.workers", str(port), str(jumping_factor)],
                env=os.environ | environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.pids: dict[int, int] = {}
        self._started = 0
        self._ask("ready")

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        assert answer, "the fork server is gone"
        return answer

    def start_worker(self) -> int:
        """Returns the number of the new worker."""
        self._started += 1
        self.pids[self._started] = int(self._ask("fork"))
        return self._started

    def kill(self, number: int) -> None:
        os.kill(self.pids.pop(number), signal.SIGKILL)

    def stop(self) -> None:
        for pid in self.pids.values():
            os.kill(pid, signal.SIGKILL)
        self.pids = {}
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


def main(port: int, jumping_factor: float) -> None:
    run = prepare(port, jumping_factor)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended workers need no waiting for
    for line in sys.stdin:
        if line.strip() == "fork":
            pid = os.fork()
            if pid == 0:
                run_worker(run)
            sys.stdout.write(f"{pid}\n")
        else:
            sys.stdout.write("ready\n")
        sys.stdout.flush()


def run_worker(run: Callable[[], None]) -> None:
    with open(os.devnull) as nothing:  # not closed: the event loop must not get a line of this number
        os.dup2(nothing.fileno(), 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        run()
    except BaseException as error:
        sys.stderr.write(f"worker ended: {error!r}\n")
        sys.stderr.flush()
    finally:
        os._exit(0)


def prepare(port: int, jumping_factor: float) -> Callable[[], None]:
    """Load what a worker needs, before any is forked."""
    from kontor import bootstrap
    from kontor.analysis.tagging.taggers import load_tagger
    from kontor.config import read_settings
    from kontor.connectors.catalogue import Catalogue
    from kontor.connectors.registry import Registry
    from kontor.domain.webhooks import RetrySchedule
    from kontor.jobs import tasks, worker
    from kontor.logs import configure_logs
    from kontor.services.banks import leasing
    from kontor.services.compute.compute import Compute
    from kontor.services.runtime import clock
    from kontor.services.webhooks import deliveries
    from kontor.storage import leases
    from simulation.connector import PROVIDERS, SimulatedConnector
    from simulation.jumps import let_clock_jump

    if jumping_factor:
        let_clock_jump(clock, jumping_factor)
    leases.LEASE_SECONDS, leasing.HEARTBEAT_SECONDS = LEASE_SECONDS, HEARTBEAT_SECONDS
    tasks.REAPER_SECONDS, tasks.BUSY_SECONDS = REAPER_SECONDS, REAPER_SECONDS
    worker.PROBE_SECONDS, worker.RECONNECT_SECONDS = 1, (0.1, 0.5)
    bootstrap.make_registry = lambda settings: Registry([SimulatedConnector(port)])
    bootstrap.make_compute = lambda *_: Compute()  # one tagger for all workers, loaded before they are forked
    bootstrap.load_catalogue = lambda *_, **__: Catalogue(PROVIDERS)
    deliveries.CLAIM_SECONDS = CLAIM_SECONDS
    deliveries.RetrySchedule = partial(RetrySchedule, (0, 1, 2, 4, 8, 16), 60, 0.5)
    settings = read_settings()
    configure_logs(settings.log_level, settings.log_format)
    load_tagger()
    parent = os.getpid()

    def run() -> None:
        bootstrap.end_with_parent(parent)
        bootstrap.run_worker(settings)

    return run


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
