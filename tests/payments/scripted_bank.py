"""A bank that pays as a test tells it, and keeps books of what it did. Stands where the demo bank stands."""

import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from kontor.connectors.base import (
    AcceptPayees,
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Done,
    Failed,
    FailureKind,
    LookedUp,
    LookUp,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedPayeeDecision,
    NeedRedirect,
    NeedTan,
    Paid,
    Pay,
    Poll,
    Returned,
    Step,
    Tan,
    Verified,
    VerifyPayees,
)
from kontor.domain.payments import PayeeMatch, PayeeResult, PaymentOutcome
from kontor.domain.sca import Challenge, MediumClass, ScaMedium, ScaMethod

MOCK, LIST = ScaMethod("901", "mockTAN"), ScaMethod("900", "iTAN", "Die TAN ist immer 12.")
PHONE, TABLET = ScaMedium("Handy", MediumClass.MOBILE), ScaMedium("Tablet", MediumClass.MOBILE)
PLAIN = Challenge("mockTAN", "Bitte geben Sie die TAN ein.")
PHOTO = Challenge("photoTAN", "Bitte scannen Sie das Bild.", photo=b"\x89PNG")
CHIP = Challenge("chipTAN", "Bitte halten Sie den Generator davor.", hhd_uc="0123")
RIGHT_TAN = "12"
MATCHING = (PayeeResult(PayeeMatch.MATCH),)


@dataclass
class Plan:
    """How the bank treats one login."""

    methods: tuple[ScaMethod, ...] = (MOCK,)
    media: tuple[ScaMedium, ...] = ()
    way: str = "tan"  # or "confirmation", "redirect", "none"
    polls: int = 1
    challenge: Challenge = PLAIN
    payees: tuple[PayeeResult, ...] = ()
    refusal: Failed | None = None  # at the very beginning
    verdict: Step | Exception | None = None  # instead of executing
    outcome: PaymentOutcome = PaymentOutcome.EXECUTED
    fault: str = ""  # "before", "after-guard", "after-execution", "unknown"
    guards_tan: bool = False  # asks the send guard before it checks the TAN, as FinTS must
    holds_payees: bool = False  # the order lies at the bank while the user decides about the payee
    guards_challenge: bool = False  # the order lies at the bank while the user confirms it in the app
    lookup: PaymentOutcome | Failed | NeedConfirmation | None = None  # instead of what the books say
    valid_until: datetime | None = None
    door: threading.Event = field(default_factory=threading.Event)
    at_the_door: threading.Event = field(default_factory=threading.Event)
    held_at: str = ""  # "begin", "before-guard", "after-guard"

    def hold(self, place: str) -> None:
        if self.held_at == place:
            self.at_the_door.set()
            assert self.door.wait(60)


class ScriptedBank:
    kind = "demo"

    def __init__(self) -> None:
        self.plans: dict[str, Plan] = {}
        self.executed: Counter[Any] = Counter()
        self.refused: set[Any] = set()
        self.orders: dict[Any, Pay] = {}
        self.lookups: list[Any] = []
        self.lookup_states: list[Any] = []
        self.contexts: list[Any] = []
        self.answers: list[Any] = []
        self._lock = threading.Lock()

    def plan(self, login: str, **facts: Any) -> Plan:
        self.plans[login] = Plan(**facts)
        return self.plans[login]

    def begin(self, provider: Any, credentials: Any, job: Any, connector_state: Any, context: Any) -> Step:
        plan = self.plans.setdefault(credentials["userid"].reveal(), Plan())
        self.contexts.append(context)
        if plan.refusal is not None:
            return plan.refusal
        if isinstance(job, VerifyPayees):
            results = plan.payees or tuple(PayeeResult(PayeeMatch.MATCH) for _ in job.orders)
            return Done(Verified(results))
        if isinstance(job, LookUp):
            self.lookup_states.append(job.state)
            return self._look_up(plan, job.payment.payment_id)
        assert isinstance(job, Pay)
        self.orders[job.payment_id] = job
        plan.hold("begin")
        state = {"id": str(job.payment_id)}
        needs_decision = any(payee.match is not PayeeMatch.MATCH for payee in plan.payees)
        if needs_decision and not job.is_payee_accepted:
            if plan.holds_payees and not context.may_send():
                return Failed(FailureKind.INTERNAL)
            return NeedPayeeDecision(plan.payees, state, is_held=plan.holds_payees)
        return self._ask_method(plan, state, context)

    def resume(self, provider: Any, credentials: Any, state: Any, answer: Any, context: Any) -> Step:
        plan = self.plans[credentials["userid"].reveal()]
        self.answers.append(answer)
        match answer:
            case Cancel():
                return Failed(FailureKind.CANCELLED)
            case AcceptPayees():
                return self._ask_method(plan, state, context)
            case ChooseMethod(code):
                assert code in [method.code for method in plan.methods]
                return NeedMedium(plan.media, state) if plan.media else self._challenge(plan, state, context)
            case ChooseMedium(name):
                assert name in [medium.name for medium in plan.media]
                return self._challenge(plan, state, context)
            case Tan(value):
                if plan.guards_tan and not context.may_send():
                    return Failed(FailureKind.INTERNAL)
                if value.reveal() != RIGHT_TAN:
                    return Failed(FailureKind.WRONG_TAN)
                return self._pay(plan, state, context, is_guarded=plan.guards_tan)
            case Poll():
                polls = state.get("polls", 0) + 1
                if polls < plan.polls:
                    return NeedConfirmation(plan.challenge, state | {"polls": polls})
                return self._pay(plan, state, context, is_guarded=plan.guards_challenge)
            case Returned(query):
                return self._pay(plan, state, context) if "code" in query else Failed(FailureKind.CANCELLED)
        raise AssertionError(f"unexpected answer {answer}")

    def _ask_method(self, plan: Plan, state: Any, context: Any) -> Step:
        return self._pay(plan, state, context) if plan.way == "none" else NeedMethod(plan.methods, state)

    def _challenge(self, plan: Plan, state: Any, context: Any) -> Step:
        if plan.guards_challenge and not context.may_send():
            return Failed(FailureKind.INTERNAL)
        if plan.way == "confirmation":
            return NeedConfirmation(plan.challenge, state)
        if plan.way == "redirect":
            return NeedRedirect("https://bank.example/confirm", state, plan.valid_until)
        return NeedTan(plan.challenge, state, plan.valid_until)

    def _pay(self, plan: Plan, state: Any, context: Any, *, is_guarded: bool = False) -> Step:
        if plan.fault == "before":
            raise RuntimeError("the connector broke before the order left")
        plan.hold("before-guard")
        if not is_guarded and not context.may_send():
            return Failed(FailureKind.INTERNAL)
        if plan.fault == "after-guard":
            raise RuntimeError("the connector broke before the order arrived")
        plan.hold("after-guard")
        if isinstance(plan.verdict, Exception):
            raise plan.verdict
        if plan.verdict is not None:
            return plan.verdict
        with self._lock:
            if state["id"] in self.refused:
                return Failed(FailureKind.REJECTED, "asked about before it arrived")
            self.executed[state["id"]] += 1
        if plan.fault == "after-execution":
            raise RuntimeError("the connector broke before the answer arrived")
        if plan.fault == "unknown":
            return Failed(FailureKind.UNREACHABLE, is_outcome_unknown=True)
        return Done(Paid(plan.outcome, standing_key=self._name(state["id"])))

    def _name(self, payment_id: str) -> str | None:
        """The bank's name of the standing order that an order is about."""
        standing = self.orders[UUID(payment_id)].standing
        return None if standing is None else standing.key or f"DA-{payment_id}"

    def _look_up(self, plan: Plan, payment_id: Any) -> Step:
        self.lookups.append(payment_id)
        if isinstance(plan.lookup, Failed | NeedConfirmation):
            return plan.lookup
        if plan.lookup is not None:
            return Done(LookedUp(plan.lookup))
        with self._lock:
            if self.executed[str(payment_id)]:
                return Done(LookedUp(PaymentOutcome.EXECUTED, standing_key=self._name(str(payment_id))))
            self.refused.add(str(payment_id))
        return Done(LookedUp(PaymentOutcome.NEVER))
