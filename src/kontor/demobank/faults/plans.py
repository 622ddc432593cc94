"""Fault plans: which faults a bank has, and at which request each of them occurs.

Everything follows from the seed and from the number of the request among those of one customer. Time, threads and other
customers do not matter, so a failing seed fails again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from random import Random

FAULT_RATE = 0.25  # of the requests
MAX_FAULTS = 4  # in a plan that is drawn


class RequestKind(StrEnum):
    LOGIN = "LOGIN"
    STATEMENT = "STATEMENT"
    TAN = "TAN"
    OTHER = "OTHER"


class Fault(StrEnum):
    """What a bank does wrong, with one line about each; the value is its name on the command line."""

    description: str

    def __new__(cls, value: str, description: str) -> "Fault":
        fault = str.__new__(cls, value)
        fault._value_ = value
        fault.description = description
        return fault

    LATE_ANSWER = "late-answer", "The answer comes late."
    LOST_ANSWER = "lost-answer", "The bank carries out the request, and its answer is lost."
    REPEATED_ANSWER = "repeated-answer", "The bank carries out the request and sends its previous answer again."
    MAINTENANCE_200 = "maintenance-200", "An HTML page about maintenance comes with status 200."
    MAINTENANCE_503 = "maintenance-503", "An HTML page about maintenance comes with status 503."
    EARLY_END = "early-end", "The FinTS dialogue ends, or the XS2A consent expires, before its time."
    UNEXPECTED_TAN = (
        "unexpected-tan",
        "The bank asks for a TAN where none is due: over FinTS to read, over XS2A for a second one.",
    )
    REFUSED_PIN = "refused-pin", "The bank refuses the right PIN."
    DUPLICATE_ROWS = "duplicate-rows", "Some bookings come twice in one list."
    SHUFFLED_ROWS = "shuffled-rows", "Bookings come in any order."
    EMPTY_PAGE = "empty-page", "A list begins with a page that has no bookings."
    VALUE_DATE_FILTER = "value-date-filter", "A list includes bookings of the days before the first day asked for."
    WRONG_SIGN = "wrong-sign", "Some debits are shown as credits, always the same ones."
    LONG_DECIMALS = "long-decimals", "Some amounts have twelve decimals, always the same ones."
    PAYS_TWICE = "pays-twice", "Orders are not idempotent: one that arrives twice is booked twice."

    @property
    def is_permanent(self) -> bool:
        """Does it concern the bank's data and books rather than single requests?"""
        return self in PERMANENT

    def fits(self, kind: RequestKind, protocol: str) -> bool:
        if self in _ROWS:
            return kind is RequestKind.STATEMENT
        match self:
            case Fault.EARLY_END:
                return kind in ((RequestKind.STATEMENT, RequestKind.OTHER) if protocol == "xs2a" else _INSIDE)
            case Fault.UNEXPECTED_TAN:
                return kind in (
                    (RequestKind.TAN,) if protocol == "xs2a" else (RequestKind.LOGIN, RequestKind.STATEMENT)
                )
            case Fault.REFUSED_PIN:
                return kind is RequestKind.LOGIN
        return not self.is_permanent


_INSIDE = (RequestKind.STATEMENT, RequestKind.TAN, RequestKind.OTHER)
_ROWS = frozenset((Fault.DUPLICATE_ROWS, Fault.SHUFFLED_ROWS, Fault.EMPTY_PAGE, Fault.VALUE_DATE_FILTER))
PERMANENT = frozenset((Fault.WRONG_SIGN, Fault.LONG_DECIMALS, Fault.PAYS_TWICE))


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """`rate` is the share of a customer's requests at which something goes wrong."""

    seed: int
    faults: tuple[Fault, ...]
    rate: float = FAULT_RATE

    def draw(self, number: int, kind: RequestKind, protocol: str) -> Fault | None:
        """The fault of a customer's n-th request, if it has one."""
        random = Random(f"{self.seed} {number}")  # noqa: S311 (repeatable, not secret)
        if random.random() >= self.rate:
            return None
        fitting = [fault for fault in self.faults if fault.fits(kind, protocol)]
        return random.choice(fitting) if fitting else None

    def make_random(self, number: int, purpose: str) -> Random:
        """For the details of a fault."""
        return Random(f"{self.seed} {number} {purpose}")  # noqa: S311 (repeatable, not secret)

    def concerns(self, fault: Fault, row: str) -> bool:
        """Is this row one of those that a permanent fault concerns? About one in eight."""
        return fault in self.faults and Random(f"{self.seed} {fault} {row}").random() < 1 / 8  # noqa: S311


def draw_plan(seed: int, faults: Iterable[Fault] = Fault) -> FaultPlan:
    """Some of these faults, as the seed decides."""
    known = sorted(set(faults))
    random = Random(f"{seed} plan")  # noqa: S311 (repeatable, not secret)
    return FaultPlan(seed, tuple(sorted(random.sample(known, min(len(known), random.randint(1, MAX_FAULTS))))))


def read_faults(text: str) -> tuple[Fault, ...]:
    """From names with commas between them. Raises ValueError with the names that there are."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = {str(fault): fault for fault in Fault}
    if not names or (odd := [name for name in names if name not in known]):
        unknown = f"unknown: {', '.join(odd)}; " if names else ""
        raise ValueError(f"{unknown}faults are {', '.join(known)}")
    return tuple(dict.fromkeys(known[name] for name in names))
