"""Which of several ways to a bank is taken: the one that works."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FAILURES_UNTIL_AVOIDED = 3


@dataclass(frozen=True, slots=True)
class Health:
    """How a way has been doing lately. `failures` is how many calls in a row, up to the last one, have failed."""

    calls: int = 0
    successes: int = 0
    failures: int = 0

    @property
    def is_avoided(self) -> bool:
        return self.failures >= FAILURES_UNTIL_AVOIDED

    @property
    def rate(self) -> float:
        """An unknown way is taken for a good one: it must be tried to become known."""
        return 1.0 if not self.calls else self.successes / self.calls


UNKNOWN = Health()


def choose_way(ways: Sequence[str], current: str | None, health: Mapping[str, Health]) -> str:
    """The way used before while it works, since the bank knows the customer there; else the best one.

    Where none works, the one that has failed least comes first: somebody has to find out whether it is back.
    """
    if current in ways and not health.get(str(current), UNKNOWN).is_avoided:
        return str(current)
    working = [one for one in ways if not health.get(one, UNKNOWN).is_avoided]
    if working:
        return max(working, key=lambda one: (health.get(one, UNKNOWN).rate, -ways.index(one)))
    return min(ways, key=lambda one: (health.get(one, UNKNOWN).failures, ways.index(one)))
