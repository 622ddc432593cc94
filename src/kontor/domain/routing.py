"""Which of several channels to a bank (connectors, not the channel of a transaction) is taken: one that works."""

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


def choose_bank_channel(bank_channels: Sequence[str], current: str | None, health: Mapping[str, Health]) -> str:
    """The channel used before while it works, since the bank knows the customer there; else the best one.

    Where none works, the one that has failed least comes first: somebody has to find out whether it is back.
    """
    if current in bank_channels and not health.get(str(current), UNKNOWN).is_avoided:
        return str(current)
    working = [channel for channel in bank_channels if not health.get(channel, UNKNOWN).is_avoided]
    if working:
        return max(working, key=lambda channel: (health.get(channel, UNKNOWN).rate, -bank_channels.index(channel)))
    return min(bank_channels, key=lambda channel: (health.get(channel, UNKNOWN).failures, bank_channels.index(channel)))
