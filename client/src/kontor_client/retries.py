"""When a call is made again.

Only what does no harm twice: reading, deleting, and the few others that say so (`Call.is_repeatable`). A POST is sent
again only when not a byte of it left the house, because no connection could be made.
"""

import random
from dataclasses import dataclass, field

import httpx

from kontor_client.answers import Answer, read_retry_after
from kontor_client.plans import Call

REPEATABLE_METHODS = frozenset({"GET", "HEAD", "DELETE"})
PASSING_STATUSES = frozenset({429, 502, 503, 504})
NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class Retries:
    """At most so many further attempts; the pause doubles each time, and half of it is left to chance."""

    count: int
    first_seconds: float = 0.25
    longest_seconds: float = 10.0
    longest_retry_after_seconds: float = 60.0
    chance: random.Random = field(default_factory=random.SystemRandom, repr=False, compare=False)

    def seconds_after_answer(self, call: Call, answer: Answer, failures: int) -> float | None:
        """How long to wait before the next attempt; None when this answer stands."""
        if answer.status not in PASSING_STATUSES or not is_repeatable(call) or failures >= self.count:
            return None
        wanted = read_retry_after(answer)
        if wanted is None:
            return self._pause_seconds(failures)
        return wanted if wanted <= self.longest_retry_after_seconds else None

    def seconds_after_error(self, call: Call, error: httpx.TransportError, failures: int) -> float | None:
        """How long to wait before the next attempt; None when the error stands."""
        if failures >= self.count or not (is_repeatable(call) or isinstance(error, NOTHING_SENT)):
            return None
        return self._pause_seconds(failures)

    def _pause_seconds(self, failures: int) -> float:
        longest = min(self.longest_seconds, self.first_seconds * 2**failures)
        return float(longest * self.chance.uniform(0.5, 1.0))


def is_repeatable(call: Call) -> bool:
    return call.method in REPEATABLE_METHODS if call.is_repeatable is None else call.is_repeatable
