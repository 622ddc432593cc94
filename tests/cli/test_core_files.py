"""Processes with keys and PINs in their memory leave no core file, and traces no values."""

import os
import resource
import signal
import subprocess
import sys

import pytest

from kontor.services.compute import Compute, ComputeLimits
from process_tree import children_of, wait_until
from processes import running_worker

NO_CORE = (0, 0)
# As an operator's shell may allow it; the process then crashes for real.
CRASHING = """
import os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
from kontor.services.runtime import forbid_core_files
if sys.argv[1] == "forbidden":
    forbid_core_files()
secret = "kanarie-in-memory"
os.kill(os.getpid(), signal.SIGABRT)
"""


@pytest.fixture
def cores_allowed():
    """Core files as large as the system allows them, for whatever this process starts."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    yield before[1]
    resource.setrlimit(resource.RLIMIT_CORE, before)


def test_api_processes_leave_no_core_file(server, settings):
    """They are children of the one that was started, with the same command line."""
    port = settings.base_url.rpartition(":")[2]
    found = subprocess.run(["pgrep", "-f", f"serve --port {port}"], capture_output=True, text=True, check=True)
    serving = {int(line) for line in found.stdout.split()}
    children = {child for pid in serving for child in children_of(pid)} & serving
    assert children
    for child in children:
        assert resource.prlimit(child, resource.RLIMIT_CORE) == NO_CORE


def test_a_worker_leaves_no_core_file(settings, tmp_path, cores_allowed):
    with running_worker(settings, tmp_path / "worker.log") as process:
        wait_until(lambda: resource.prlimit(process.pid, resource.RLIMIT_CORE) == NO_CORE, "no core file")


async def test_a_compute_process_leaves_no_core_file(cores_allowed):
    compute = Compute(ComputeLimits(1, 60, 1 << 29))
    try:
        assert await compute.run(resource.getrlimit, resource.RLIMIT_CORE, owner=1) == NO_CORE
    finally:
        await compute.close()


@pytest.mark.parametrize("way", ["allowed", "forbidden"])
def test_a_crash_writes_no_core_file(tmp_path, cores_allowed, way):
    """Where the system writes them into the working folder, the same crash without the limit leaves one."""
    done = subprocess.run([sys.executable, "-c", CRASHING, way], cwd=tmp_path, check=False, env=os.environ)
    assert done.returncode in (-signal.SIGABRT, 1)  # 1: the system does not allow to raise the limit
    if way == "forbidden":
        assert list(tmp_path.iterdir()) == []
