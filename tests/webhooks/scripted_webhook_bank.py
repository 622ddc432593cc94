"""A bank that has what a test puts into it, and fails, demands or pays as told."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from kontor.connectors.base import Done, Failed, Fetched, Headers, LookedUp, LookUp, NeedTan, Paid, Pay, Progress, Step
from kontor.domain.payments import PaymentOutcome
from kontor.domain.products import Product, ProductCategory
from kontor.domain.sca import Challenge
from kontor.domain.transactions import Transaction

NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
GIRO = Product(
    "giro", ProductCategory.CHECKING, "Girokonto", "Anna", "EUR", iban="DE02120300000000202051",
    balance=Decimal("1.00"), balance_at=NOON, can_transfer=True,
)  # fmt: skip
SAVINGS = replace(GIRO, key="spar", category=ProductCategory.SAVINGS, name="Sparbuch", iban=None, can_transfer=False)


def rows(count: int, first: int = 1) -> tuple[Transaction, ...]:
    return tuple(
        Transaction(Decimal(number), "EUR", NOON, purpose=f"Umsatz {number}") for number in range(first, first + count)
    )


class ScriptedWebhookBank:
    """Takes the demo bank's place."""

    kind = "demo"

    def __init__(self) -> None:
        self.transactions: dict[str, tuple[Transaction, ...]] = {"giro": rows(3), "spar": rows(1)}
        self.refusal: Step | None = None
        self.problems: tuple[Any, ...] = ()
        self.consent_until: date | None = None
        self.outcome = PaymentOutcome.EXECUTED
        self.later = PaymentOutcome.EXECUTED

    def begin(self, provider: Any, credentials: Any, job: Any, connector_state: Any, context: Any) -> Step:
        if isinstance(job, LookUp):
            return Done(LookedUp(self.later), None)
        if isinstance(job, Pay):
            if isinstance(self.refusal, Failed):
                return self.refusal
            assert context.may_send()
            if self.outcome is PaymentOutcome.UNKNOWN:
                raise ConnectionError("the line went dead")
            return Done(Paid(self.outcome), None)
        if self.refusal is not None:
            return self.refusal
        return Progress(Headers((GIRO, SAVINGS)), {"step": 1})

    def resume(self, provider: Any, credentials: Any, state: Any, answer: Any, context: Any) -> Step:
        result = Fetched(dict(self.transactions), {}, problems=self.problems, consent_until=self.consent_until)
        return Done(result, {"known": True})


def demand_tan() -> Step:
    return NeedTan(Challenge("mockTAN", "Bitte TAN eingeben"), {"step": 1})
