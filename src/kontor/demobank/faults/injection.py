"""Where a fault plan meets the requests of a bank's customers."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from kontor.demobank.faults.plans import Fault, FaultPlan, RequestKind

T = TypeVar("T")
LATE_SECONDS = 5.0
PAGE = (
    "<!DOCTYPE html><html lang='de'><head><title>Wartungsarbeiten</title></head><body><h1>Wartungsarbeiten</h1>"
    "<p>Unser Online-Banking steht Ihnen in Kürze wieder zur Verfügung.</p></body></html>"
).encode()
MAINTENANCE = {Fault.MAINTENANCE_200: 200, Fault.MAINTENANCE_503: 503}


class LostAnswerError(Exception):
    """The request was carried out; the connection ends without an answer."""


class SubstitutedAnswerError(Exception):
    """Something else is sent instead of the answer."""

    def __init__(self, status: int, body: bytes = PAGE, content_type: str = "text/html; charset=utf-8") -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.content_type = content_type


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of a customer. `number` counts from 0; `plan` is None at a bank that behaves."""

    number: int
    kind: RequestKind
    plan: FaultPlan | None = None
    fault: Fault | None = None

    def make_random(self, purpose: str) -> Random:
        assert self.plan is not None, "only a planned fault has details"
        return self.plan.make_random(self.number, purpose)


UNDISTURBED = Visit(0, RequestKind.OTHER)


class FaultInjector:
    """Counts the requests of each customer and says what goes wrong with each.

    `plan` is for all customers; `assign` gives a customer one of their own, or none. `visits` is what happened.
    """

    def __init__(self, plan: FaultPlan | None = None, late_seconds: float = LATE_SECONDS) -> None:
        self._plan = plan
        self._late_seconds = late_seconds
        self._own: dict[str, FaultPlan | None] = {}
        self._lock = threading.Lock()
        self._answers: dict[str, Any] = {}
        self.visits: dict[str, list[Visit]] = defaultdict(list)

    def assign(self, login: str, plan: FaultPlan | None) -> None:
        """From now on; the count of the customer's requests goes on."""
        with self._lock:
            self._own[login] = plan

    def visit(self, login: str, kind: RequestKind, protocol: str) -> Visit:
        with self._lock:
            plan, number = self._own.get(login, self._plan), len(self.visits[login])
            fault = None if plan is None else plan.draw(number, kind, protocol)
            visit = Visit(number, kind, plan, fault)
            self.visits[login].append(visit)
            return visit

    def exchange(self, login: str, visit: Visit, respond: Callable[[], T]) -> T:
        """Respond, unless the fault concerns the exchange itself."""
        fault = visit.fault
        if fault in MAINTENANCE:
            raise SubstitutedAnswerError(MAINTENANCE[fault])
        answer = respond()
        with self._lock:
            previous = self._answers.get(login)
            self._answers[login] = answer
        if fault is Fault.LATE_ANSWER:
            time.sleep(self._late_seconds)
        if fault is Fault.LOST_ANSWER:
            raise LostAnswerError
        if fault is Fault.REPEATED_ANSWER and previous is not None:
            repeated: T = previous
            return repeated
        return answer
