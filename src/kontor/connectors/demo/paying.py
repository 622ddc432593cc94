"""How the demo bank pays: checks, the payee's name, authentication, and at last the entry into its books."""

import time
from dataclasses import replace
from decimal import Decimal

from kontor.connectors.base import (
    AcceptPayees,
    Answer,
    Context,
    Done,
    Failed,
    FailureKind,
    LookedUp,
    LookUp,
    NeedPayeeDecision,
    Paid,
    Pay,
    State,
    Step,
    Verified,
    VerifyPayees,
)
from kontor.connectors.demo import authentication
from kontor.connectors.demo.direct_debits import REFUSALS as DEBIT_REFUSALS
from kontor.connectors.demo.direct_debits import check_debit, write_collection
from kontor.connectors.demo.memory import Bank, find_owner
from kontor.connectors.demo.payees import PayeeScenario, check_payee, find_payee_scenario, is_sepa
from kontor.connectors.demo.people import Account, Person, person_for
from kontor.connectors.demo.scenarios import find_scenario
from kontor.connectors.demo.signing import sum_orders
from kontor.connectors.demo.standing_orders import find_name, make_action
from kontor.connectors.demo.statements import CENT, make_booked_order
from kontor.connectors.job_state import deserialize_job, serialize_job
from kontor.domain.demo_books import BookedOrder, Receipt
from kontor.domain.payments import Order, PayeeMatch, PayeeResult, PaymentOutcome
from kontor.domain.schedules import StandingAction

MAX_AMOUNT = Decimal("1e12")
NO_FUNDS_TEXT = "Das Guthaben auf dem Konto reicht für diesen Auftrag nicht aus."
REFERENCE_TEXT = "Von diesem Konto sind Überweisungen nur auf Ihr Referenzkonto möglich."
BURIED_TEXT = "Die Bank nimmt diesen Auftrag nicht mehr an."
FAILING_TEXT = "Ihr Auftrag wurde von der Bank abgelehnt. Bitte wenden Sie sich an Ihre Beraterin oder Ihren Berater."
REFUSALS = {
    PayeeScenario.REFUSES: "Die Bank des Empfängers nimmt die Zahlung nicht an.",
    PayeeScenario.IS_CLOSED: "Das Konto des Empfängers ist erloschen.",
}


class Payments:
    def __init__(self, bank: Bank, slow_seconds: float) -> None:
        self._bank = bank
        self._slow_seconds = slow_seconds

    def begin(self, login: str, job: Pay, context: Context) -> Step:
        prepared = self._prepare(login, job, context)
        return authentication.begin(prepared, find_scenario(login)) if isinstance(prepared, dict) else prepared

    def pay(self, login: str, job: Pay, context: Context) -> Step:
        """For a customer who has authenticated for this order elsewhere: on a page of the bank."""
        prepared = self._prepare(login, job, context)
        return self._send(prepared, context) if isinstance(prepared, dict) else prepared

    def _prepare(self, login: str, job: Pay, context: Context) -> State | Step:
        """What the bank checks before it asks for a TAN: the state to go on with, or its answer."""
        person = _find_person(login, context)
        account = _find_account(person, job.product_key)
        refusal = _check_order(job, account, context) or _check_reference(login, job, person)
        if refusal is not None or account is None:
            return refusal or Failed(FailureKind.NOT_SUPPORTED)
        owner = find_owner(login, context)
        known = None if self._bank.pays_twice else self._bank.find_receipt(owner, job.payment_id)
        if known is not None:
            return _answer(known, context, job)
        self._bank.register_accounts(owner, [own_account.product for own_account in person.accounts])
        if job.prefers_rejection and job.standing is None and job.debit is None:
            moved = self._bank.sum_bookings(owner, account.product.key, context.today)
            if _find_funds(account) + moved < sum_orders(job.orders):
                return Failed(FailureKind.NO_FUNDS, NO_FUNDS_TEXT)
        state: State = {"login": login, "job": serialize_job(job)}
        if not job.is_payee_accepted and job.debit is None:
            results = self._check_payees(login, person, job.orders)
            if any(result.match is not PayeeMatch.MATCH for result in results):
                return NeedPayeeDecision(results, state | {"stage": "payees"})
            state["is_matched"] = True
        return state

    def resume(self, state: State, answer: Answer, context: Context) -> Step:
        scenario = find_scenario(state["login"])
        if state["stage"] == "payees":
            if isinstance(answer, AcceptPayees):
                return authentication.begin(state, scenario)
            return Failed(FailureKind.REJECTED, "Der Empfänger ist noch nicht bestätigt.")
        step = authentication.resume(state, scenario, answer, self._bank, context)
        return self._send(state, context) if step is None else step

    def verify(self, login: str, job: VerifyPayees, context: Context) -> Step:
        person = _find_person(login, context)
        if _find_account(person, job.product_key) is None:
            return Failed(FailureKind.NOT_SUPPORTED, "Die Bank kennt das Konto nicht.")
        return Done(Verified(self._check_payees(login, person, job.orders)))

    def look_up(self, login: str, job: LookUp, context: Context) -> Step:
        receipt = self._bank.look_up(find_owner(login, context), job.payment.payment_id).on(context.today)
        detail = NO_FUNDS_TEXT if receipt.failure == FailureKind.NO_FUNDS else receipt.detail
        return Done(LookedUp(receipt.outcome, detail, find_name(job.payment)))

    # Steps

    def _check_payees(self, login: str, person: Person, orders: tuple[Order, ...]) -> tuple[PayeeResult, ...]:
        own = {account.product.iban: account.product.holder for account in person.accounts if account.product.iban}
        holders = {**self._bank.find_holders([order.iban for order in orders]), **own}
        forced = find_scenario(login).payee_match
        return tuple(check_payee(order, forced, holders) for order in orders)

    def _send(self, state: State, context: Context) -> Step:
        """The point of no return. From `may_send` on, an answer that is missing is an outcome nobody knows."""
        job = deserialize_job(state["job"])
        assert isinstance(job, Pay)
        login = state["login"]
        account = _find_account(_find_person(login, context), job.product_key)
        assert account is not None, "it was found when the dialogue began"
        booked = _refuse(_make_order(job, account, context), job, is_failing=find_scenario(login).fails_payments)
        owner = find_owner(login, context)
        if not context.may_send():
            return Failed(FailureKind.INTERNAL)
        scenarios = {find_payee_scenario(order) for order in job.orders}
        lost = Failed(FailureKind.UNREACHABLE, is_outcome_unknown=True)
        if PayeeScenario.DIES_BEFORE_BOOKING in scenarios:
            return lost
        if PayeeScenario.IS_HELD_UP in scenarios:
            time.sleep(self._slow_seconds)  # the bank goes on, though nobody waits for it any more
        try:
            if job.standing is not None:
                action = make_action(job, account.product.key, context.today)
                receipt = self._bank.record_standing_order_action(
                    owner, replace(action, failure=booked.failure, detail=booked.detail)
                )
            else:
                receipt = self._bank.settle(owner, booked, _find_funds(account), context.today)
        except ConnectionError:
            return lost
        if PayeeScenario.DIES_AFTER_BOOKING in scenarios:
            return lost
        if PayeeScenario.ANSWERS_LATE in scenarios and not context.wait(self._slow_seconds):
            return lost
        return _answer(receipt, context, job, is_matched=state.get("is_matched", False))


def _find_person(login: str, context: Context) -> Person:
    person = person_for(login, context.today)
    assert person is not None, "the login was checked when the dialogue began"
    return person


def _find_account(person: Person, name: str) -> Account | None:
    """By the bank's own name for it, or by its IBAN."""
    return next((account for account in person.accounts if name in (account.product.key, account.product.iban)), None)


def _find_funds(account: Account) -> Decimal:
    """What the account has, and may be overdrawn by, without any payment of the books."""
    product = account.product
    return (product.balance or Decimal(0)) + (product.overdraft_limit or Decimal(0))


def _check_order(job: Pay, account: Account | None, context: Context) -> Failed | None:
    """What a bank sees at a glance, before it bothers anybody for a TAN."""
    if account is None:
        return Failed(FailureKind.NOT_SUPPORTED, "Die Bank kennt das Konto nicht.")
    is_transfer = job.debit is None
    if is_transfer and (not account.product.can_transfer or (job.is_bulk and not account.product.can_bulk_transfer)):
        return Failed(FailureKind.NOT_SUPPORTED, "Von diesem Konto sind keine Überweisungen möglich.")
    if any(order.currency != "EUR" for order in job.orders):
        return Failed(FailureKind.NOT_SUPPORTED, "Die Bank überweist nur in Euro.")
    if job.is_instant and any(
        find_payee_scenario(order) is PayeeScenario.HAS_NO_INSTANT or not is_sepa(order) for order in job.orders
    ):
        return Failed(FailureKind.NOT_SUPPORTED, "Die Bank des Empfängers nimmt keine Echtzeitüberweisungen an.")
    if not job.orders or (len(job.orders) > 1 and not job.is_bulk):
        return Failed(FailureKind.REJECTED, "Der Auftrag muss genau eine Überweisung enthalten.")
    if not all(_is_payable(order.amount) for order in job.orders):
        return Failed(FailureKind.REJECTED, "Der Betrag ist ungültig.")
    if job.debit is not None:
        return check_debit(job, job.debit, account, context)
    if job.standing is not None:
        return _check_standing(job, account, context)
    if job.execution_date is not None and job.execution_date < context.today:
        return Failed(FailureKind.REJECTED, "Das Ausführungsdatum liegt in der Vergangenheit.")
    return None


def _check_reference(login: str, job: Pay, person: Person) -> Failed | None:
    """Some accounts pay to other accounts of their holder only."""
    own = {account.product.iban for account in person.accounts}
    is_limited = job.debit is None and find_scenario(login).pays_own_accounts_only
    if is_limited and any(order.iban not in own for order in job.orders):
        return Failed(FailureKind.REJECTED, REFERENCE_TEXT)
    return None


def _check_standing(job: Pay, account: Account, context: Context) -> Failed | None:
    assert job.standing is not None
    if job.standing.action not in account.product.standing_order_actions or len(job.orders) > 1 or job.is_instant:
        return Failed(FailureKind.NOT_SUPPORTED, "Von diesem Konto sind keine Daueraufträge möglich.")
    schedule = job.standing.schedule
    if job.standing.action is StandingAction.CREATE and schedule.first < context.today:
        return Failed(FailureKind.REJECTED, "Die erste Ausführung liegt in der Vergangenheit.")
    if job.standing.action is not StandingAction.DELETE and schedule.is_over(context.today):
        return Failed(FailureKind.REJECTED, "Der Dauerauftrag würde nie ausgeführt.")
    return None


def _make_order(job: Pay, account: Account, context: Context) -> BookedOrder:
    if job.debit is not None:
        return write_collection(job, job.debit, account)
    return make_booked_order(job, account, context.today)


def _is_payable(amount: Decimal) -> bool:
    return amount.is_finite() and 0 < amount < MAX_AMOUNT and amount == amount.quantize(CENT)


def _refuse(booked: BookedOrder, job: Pay, *, is_failing: bool) -> BookedOrder:
    """The order with the reason why the bank will not do it, if there is one. One bad order spoils the whole bulk."""
    refusals = REFUSALS if job.debit is None else DEBIT_REFUSALS
    reasons = [refusals[scenario] for scenario in map(find_payee_scenario, job.orders) if scenario in refusals]
    if is_failing:
        reasons.append(FAILING_TEXT)
    return replace(booked, failure=str(FailureKind.REJECTED), detail=reasons[0]) if reasons else booked


def _answer(receipt: Receipt, context: Context, job: Pay, *, is_matched: bool = False) -> Step:
    receipt = receipt.on(context.today)
    if receipt.outcome is PaymentOutcome.NEVER:
        return Failed(FailureKind.REJECTED, BURIED_TEXT)
    if receipt.outcome is PaymentOutcome.REJECTED:
        kind = FailureKind(receipt.failure or FailureKind.REJECTED)
        return Failed(kind, NO_FUNDS_TEXT if kind is FailureKind.NO_FUNDS else receipt.detail)
    payees = tuple(PayeeResult(PayeeMatch.MATCH) for _ in job.orders) if is_matched else ()
    return Done(Paid(receipt.outcome, standing_key=find_name(job), payees=payees))
