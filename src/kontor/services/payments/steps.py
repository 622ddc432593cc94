"""What a connector's step means for a payment. Without I/O.

The one rule above all: after the order may have left, nothing but the bank's word makes it executed or failed.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from kontor.connectors.base import (
    AcceptPayees,
    Answer,
    Done,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedPayeeDecision,
    NeedRedirect,
    NeedTan,
    Paid,
    Pay,
    Step,
)
from kontor.connectors.refusals import is_reference_refused
from kontor.domain.accesses import Access
from kontor.domain.dialogues import Secrets
from kontor.domain.payments import (
    PayeeMatch,
    PayeeResult,
    Payment,
    PaymentDialogue,
    PaymentFailure,
    PaymentKind,
    PaymentOutcome,
    PaymentState,
)
from kontor.domain.sca_machine import Reaction, ScaState, advance
from kontor.services.sca import choose_alone, classify, describe, keep_open_secrets, secrets_of

# What these say is our own guess once the order has left: the bank has not spoken.
_GUESSES = (FailureKind.UNREACHABLE, FailureKind.INTERNAL)
_OUTCOMES = {
    PaymentOutcome.EXECUTED: (PaymentState.EXECUTED, None),
    PaymentOutcome.ACCEPTED: (PaymentState.ACCEPTED, None),
    PaymentOutcome.REJECTED: (PaymentState.FAILED, PaymentFailure.REJECTED),
    PaymentOutcome.NEVER: (PaymentState.FAILED, PaymentFailure.NEVER_ARRIVED),
    PaymentOutcome.UNKNOWN: (PaymentState.UNKNOWN, None),
}
# In the legacy form nobody can be asked anything but for a TAN.
_UNFIT_FOR_LEGACY = {
    NeedMethod: PaymentFailure.WRONG_METHOD,
    NeedMedium: PaymentFailure.WRONG_MEDIUM,
    NeedConfirmation: PaymentFailure.WRONG_METHOD,
    NeedRedirect: PaymentFailure.WRONG_METHOD,
    NeedPayeeDecision: PaymentFailure.REJECTED,
}


def make_pay(payment: Payment) -> Pay:
    assert payment.product_key is not None, "only a draft has no account to pay from"
    return Pay(
        payment_id=payment.bank_id,
        product_key=payment.product_key,
        orders=payment.orders,
        is_bulk=payment.is_bulk,
        is_instant=payment.is_instant,
        execution_date=payment.execution_date,
        prefers_rejection=payment.prefers_rejection,
        is_payee_accepted=payment.is_payee_accepted,
        standing=payment.standing,
        debit=payment.debit,
    )


def decide_for(
    payment: Payment, access: Access | None, accepted_payees: tuple[PayeeResult, ...] = ()
) -> Callable[[PaymentDialogue, Step], Answer | None]:
    """What need not be asked: payees that match, and the method and medium that `choose_alone` finds.

    `accepted_payees` are results that the user has seen and accepted before.
    """

    def decide(dialogue: PaymentDialogue, step: Step) -> Answer | None:
        if isinstance(step, NeedPayeeDecision):
            # Once: a bank that asks again has its reasons, and the user is to see them.
            is_matching = all(payee.match is PayeeMatch.MATCH for payee in step.results)
            # An order that the bank holds has passed the send guard: going on with it is a step of its own.
            is_seen = step.results == accepted_payees and not step.is_held
            is_accepted = payment.is_payee_accepted or is_matching or is_seen
            return AcceptPayees() if not dialogue.payees and is_accepted else None
        if isinstance(step, NeedMethod | NeedMedium) and step.is_held:
            return None  # as above
        return choose_alone(
            step,
            dialogue,
            access,
            asks_settings=payment.asks_settings,
            # In the legacy form the caller names what is to be used; nothing else is taken for it.
            uses_last=payment.kind is not PaymentKind.LEGACY,
            wanted_method=dialogue.wanted_method,
            wanted_medium=dialogue.wanted_medium,
        )

    return decide


def describe_payment(dialogue: PaymentDialogue, step: Step) -> PaymentDialogue:
    """What the step offers, and the payees that the user is to decide about."""
    if isinstance(step, NeedPayeeDecision):
        return replace(dialogue, payees=step.results, is_payee_open=True)
    return describe(dialogue, step)


def keep_secrets(payment: Payment, step: Step, before: Secrets | None) -> Secrets:
    """What stays sealed: for the user's next answer, then for look-ups, then nothing."""
    if payment.state.is_under_way:
        asked = Secrets(step.state) if isinstance(step, NeedPayeeDecision) else secrets_of(step)
        return asked or keep_open_secrets(before, step)
    return Secrets(keep_open_secrets(before, step).state) if payment.next_lookup_at is not None else Secrets()


def conclude(payment: Payment, step: Step) -> Payment:
    """The payment after the bank's step. Its `state` says whether the order may have left before that."""
    has_left = payment.state is not PaymentState.OPEN
    match step:
        case Done(result=Paid(outcome=outcome, detail=detail, payees=payees)):
            state, failure = _OUTCOMES[outcome]
            payment = replace(payment, dialogue=replace(payment.dialogue, payees=payment.dialogue.payees or payees))
            return _end(payment, state, failure, detail)
        case Failed(is_outcome_unknown=True):
            return _end(payment, PaymentState.UNKNOWN, None, step.detail)
        case Failed(kind=FailureKind.WRONG_TAN):
            return _conclude_wrong_tan(payment)
        case Failed(kind=kind, detail=detail):
            if has_left and (kind in _GUESSES or not step.was_called):
                return _end(payment, PaymentState.UNKNOWN, None, detail)
            failure = PaymentFailure(kind.value)
            if is_reference_refused(step):
                failure = PaymentFailure.REFERENCE_ACCOUNT
            return _end(payment, PaymentState.FAILED, failure, detail)
    if isinstance(step, NeedMethod | NeedMedium) and step.is_held:
        payment = replace(payment, state=PaymentState.OPEN)  # the bank has refused what has left
    reaction = classify(step)
    if reaction is Reaction.NO_METHOD:
        return _give_up(payment, PaymentFailure.NO_SUPPORTED_METHOD)
    if reaction is Reaction.ACCEPTED or (reaction is Reaction.REFUSED and not isinstance(step, NeedPayeeDecision)):
        return _give_up(payment, PaymentFailure.INTERNAL)  # the connector's answer is none to an order
    if payment.kind is PaymentKind.LEGACY and type(step) in _UNFIT_FOR_LEGACY:
        return _give_up(payment, _UNFIT_FOR_LEGACY[type(step)])
    return _ask(payment, step, reaction)


def _ask(payment: Payment, step: Step, reaction: Reaction) -> Payment:
    """The user is asked something. Where the bank holds the order until the answer, nothing has left for good."""
    dialogue = replace(describe_payment(payment.dialogue, step), is_last_tan_wrong=False)
    if not isinstance(step, NeedPayeeDecision):
        dialogue = replace(dialogue, position=advance(dialogue.position, reaction))
    expires_at = payment.expires_at
    if isinstance(step, NeedTan | NeedRedirect) and step.valid_until is not None:
        expires_at = min(expires_at, step.valid_until)
    is_held = isinstance(step, NeedTan | NeedConfirmation | NeedPayeeDecision) and step.is_held
    state = PaymentState.OPEN if is_held else payment.state
    return replace(payment, state=state, dialogue=dialogue, expires_at=expires_at, fence=None)


def _conclude_wrong_tan(payment: Payment) -> Payment:
    """A wrong TAN executes nothing, whether or not the order had left: the bank has said so."""
    position = advance(payment.dialogue.position, Reaction.WRONG_TAN)
    dialogue = replace(payment.dialogue, position=position, is_last_tan_wrong=True)
    wrong = replace(payment, dialogue=dialogue)
    if position.state is not ScaState.TAN or payment.state is PaymentState.UNKNOWN:
        return _end(wrong, PaymentState.FAILED, PaymentFailure.WRONG_TAN, None)
    return replace(wrong, state=PaymentState.OPEN, fence=None)


def _give_up(payment: Payment, failure: PaymentFailure) -> Payment:
    if payment.state is not PaymentState.OPEN:
        return _end(payment, PaymentState.UNKNOWN, None, None)
    return _end(payment, PaymentState.FAILED, failure, None)


def _end(payment: Payment, state: PaymentState, failure: PaymentFailure | None, detail: str | None) -> Payment:
    position = payment.dialogue.position
    if state in (PaymentState.EXECUTED, PaymentState.ACCEPTED):
        position = advance(position, Reaction.ACCEPTED)
    dialogue = replace(payment.dialogue, position=position, is_payee_open=False)
    return replace(payment, state=state, failure=failure, detail=detail, dialogue=dialogue, fence=None)


def end_orphaned(payment: Payment, now: datetime) -> Payment | None:
    """What a payment has become whose process died, or whose user took too long. None for any other."""
    if payment.is_orphaned:
        return _close(payment, PaymentFailure.ABANDONED)
    return _close(payment, PaymentFailure.EXPIRED) if payment.is_over(now) else None


def _close(payment: Payment, failure: PaymentFailure) -> Payment:
    """The fence stays: should its process come back with the bank's word after all, that still counts."""
    if payment.state is PaymentState.SENDING:
        return replace(_end(payment, PaymentState.UNKNOWN, None, None), fence=payment.fence)
    return _end(payment, PaymentState.FAILED, failure, None)


def conclude_lookup(payment: Payment, outcome: PaymentOutcome, detail: str | None) -> Payment | None:
    """What the bank's word makes of a payment that was unknown or accepted; None where it adds nothing."""
    state, failure = _OUTCOMES[outcome]
    if state is PaymentState.UNKNOWN or state is payment.state:
        return None
    if payment.state is PaymentState.ACCEPTED and failure is PaymentFailure.NEVER_ARRIVED:
        return None  # it had arrived: a bank that forgot it is no reason to say that it failed
    return _end(payment, state, failure, detail)
