"""Which process runs on which core, and how much processor time it took."""

import os
from collections.abc import Callable, Iterator
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
    return _add_up(lambda fields: int(fields[3]) == session)


def children_cpu_seconds(parent: int) -> float:
    """Of all living children: PostgreSQL serves each connection with a child in a session of its own."""
    return _add_up(lambda fields: int(fields[1]) == parent)


def list_children(parent: int) -> list[int]:
    return [pid for pid, fields in _read_processes() if int(fields[1]) == parent]


def find_parent(pid: int) -> int:
    return next((int(fields[1]) for process, fields in _read_processes() if process == pid), 0)


def _add_up(is_counted: Callable[[list[str]], bool]) -> float:
    ticks = sum(int(fields[11]) + int(fields[12]) for _, fields in _read_processes() if is_counted(fields))
    return ticks / os.sysconf("SC_CLK_TCK")


def _read_processes() -> Iterator[tuple[int, list[str]]]:
    """(process id, what /proc/<id>/stat says after the name): its state, its parent, its group, its session, …"""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        yield int(folder.name), fields
