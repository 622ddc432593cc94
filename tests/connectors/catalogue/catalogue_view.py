"""The whole catalogue, loaded once for all tests, and a measure of work that no busy machine changes."""

from collections.abc import Callable
from cProfile import Profile
from functools import cache

from kontor.connectors.catalogue import Catalogue, load_catalogue

ALL_CONNECTORS = frozenset({"demo", "fints"})
EVERYTHING = load_catalogue(ALL_CONNECTORS, list_all=True)


@cache
def load_again() -> Catalogue:
    return load_catalogue(ALL_CONNECTORS, list_all=True)


def count_calls(work: Callable[[], object]) -> int:
    """How many functions are called, Python's own included."""
    profile = Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
