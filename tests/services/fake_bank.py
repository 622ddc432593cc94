"""A bank that does what a test tells it, and notes what it is asked."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from kontor.connectors.base import Done, Failed, Fetched, Headers, Progress, Step
from kontor.connectors.revocations import Revoke, Revoked
from kontor.domain.positions import Position
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction

NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
GIRO = Product("giro", ProductCategory.CHECKING, "Girokonto", "Anna", "EUR", balance=Decimal("1.00"), balance_at=NOON)
SAVINGS = Product("spar", ProductCategory.SAVINGS, "Sparbuch", "Anna", "EUR", balance=Decimal("2.00"), balance_at=NOON)
DEPOT = Product("depot", ProductCategory.DEPOT, "Depot", "Anna", "EUR", balance=Decimal("3.00"), balance_at=NOON)
ROWS = tuple(
    Transaction(Decimal(number), "EUR", NOON, purpose=f"Umsatz {number}", is_pending=number > 8)
    for number in range(1, 11)
)
POSITIONS = (Position("Aktie", Decimal(10), total_value=Decimal("3.00")),)


class FakeBank:
    """Takes the demo bank's place. `on_begin` and `on_resume` run in the connector's thread, before it answers."""

    kind = "demo"

    def __init__(self) -> None:
        self.products: tuple[Product, ...] = (GIRO, SAVINGS, DEPOT)
        self.transactions: dict[str, tuple[Transaction, ...]] = {"giro": ROWS, "spar": ROWS[:2]}
        self.positions: dict[str, tuple[Position, ...]] = {"depot": POSITIONS}
        self.refusal: Failed | Exception | None = None
        self.refusal_at_the_end: Failed | Exception | None = None
        self.on_begin: Callable[[], None] = lambda: None
        self.on_resume: Callable[[], None] = lambda: None
        self.on_revoke: Callable[[], None] = lambda: None
        self.refusal_to_end: Failed | Exception | None = None
        self.calls: list[str] = []
        self.pins: list[str] = []
        self.jobs: list[Any] = []
        self.states: list[Any] = []
        self.keeps: dict[str, Any] | None = None  # stored at the beginning of a dialogue
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()

    def begin(self, provider: Any, credentials: Any, job: Any, connector_state: Any, context: Any) -> Step:
        self.pins.append(credentials["pin"].reveal())
        self.jobs.append(job)
        self.states.append(connector_state)
        if isinstance(job, Revoke):
            return self._answer("revoke", self.on_revoke, self.refusal_to_end, Done(Revoked()))
        if self.keeps is not None:
            context.keep(self.keeps)
        return self._answer("begin", self.on_begin, self.refusal, Progress(Headers(self.products), {"step": 1}))

    def resume(self, provider: Any, credentials: Any, state: Any, answer: Any, context: Any) -> Step:
        done = Done(Fetched(dict(self.transactions), dict(self.positions)), {"known": True})
        return self._answer("resume", self.on_resume, self.refusal_at_the_end, done)

    def _answer(self, name: str, hook: Callable[[], None], refusal: Failed | Exception | None, step: Step) -> Step:
        with self._lock:
            self.calls.append(name)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            hook()
        finally:
            with self._lock:
                self.at_once -= 1
        if isinstance(refusal, Exception):
            raise refusal
        return step if refusal is None else refusal
