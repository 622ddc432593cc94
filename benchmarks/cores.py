"""Which process runs on which core, and how much processor time it took."""

import os
from collections.abc import Callable
from pathlib import Path


def split_cores() -> tuple[set[int], set[int]]:
    """One core for the server under test, the others for PostgreSQL and the load; empty where nothing is pinned."""
    if not hasattr(os, "sched_getaffinity"):
        return set(), set()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        return set(), set()
    return {cores[0]}, set(cores[1:])


def pin(cores: set[int]) -> Callable[[], None]:
    """For this process, and for all that it starts from then on."""

    def apply() -> None:
        if cores:
            os.sched_setaffinity(0, cores)

    return apply


def cpu_seconds(session: int) -> float:
    """Processor time of all living processes of a session, 0 where /proc is missing."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == session:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
