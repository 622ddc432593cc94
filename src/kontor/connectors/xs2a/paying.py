"""Paying: the order is placed, the customer authorises it, and the bank's status says what became of it.

Placing an order moves nothing where every payment must be authorised. Its `X-Request-ID` is Kontor's payment id: a bank
that keeps the id takes the same order once. Where the order links to an OAuth server, the customer authorises it there,
and the token that follows reads its status.
"""

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from kontor.connectors.base import (
    Answer,
    Context,
    Done,
    Failed,
    FailureKind,
    LookedUp,
    NeedMethod,
    NeedRedirect,
    NeedTan,
    Paid,
    Pay,
    State,
    Step,
)
from kontor.connectors.xs2a.authorising import Authoriser
from kontor.connectors.xs2a.banks import INSTANT, SEPA, Xs2aBank
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import BankError, NoResponseError, RefusedError, StoppedError
from kontor.connectors.xs2a.messages import Authorising, PaymentStatus
from kontor.connectors.xs2a.oauth import OAuth
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.schedules import Period, Schedule, StandingAction, StandingInstruction

OUTCOMES = {
    "ACSC": PaymentOutcome.EXECUTED,
    "ACCC": PaymentOutcome.EXECUTED,
    "ACSP": PaymentOutcome.ACCEPTED,
    "ACWC": PaymentOutcome.ACCEPTED,
    "ACWP": PaymentOutcome.ACCEPTED,
    "ACFC": PaymentOutcome.ACCEPTED,
    "PART": PaymentOutcome.ACCEPTED,
    "RJCT": PaymentOutcome.REJECTED,
    "CANC": PaymentOutcome.NEVER,
}
FREQUENCIES = {
    Period.WEEK_ONE: "Weekly",
    Period.WEEK_TWO: "EveryTwoWeeks",
    Period.MONTH_ONE: "Monthly",
    Period.MONTH_TWO: "EveryTwoMonths",
    Period.MONTH_THREE: "Quarterly",
    Period.MONTH_SIX: "SemiAnnual",
    Period.YEAR_ONE: "Annual",
}
CANCELLED_STATUS = "CANC"
CANCELLED = Failed(FailureKind.CANCELLED)
# Checked: after the customer's authorisation the bank goes on by itself.
CHECKED = ("ACTC", "ACCP")
# Stage: the customer is at the bank's OAuth server.
PAYMENT_BY_OAUTH = "payment by OAuth"
# Held by the bank: taken in and not checked yet, or still to be signed by somebody else.
HELD = ("RCVD", "PDNG", "PATC")


class Paying:
    def __init__(self, client: Client, bank: Xs2aBank, context: Context) -> None:
        self._client = client
        self._bank = bank
        self._context = context
        self._oauth = OAuth(client, bank, context)

    def begin(self, job: Pay) -> Step:
        product = self._find_product(job)
        if job.standing is not None and job.standing.action is StandingAction.DELETE:
            return self._cancel_standing(job.standing.key or "")
        has_left = self._bank.may_exempt_payments
        if has_left and not self._context.may_send():
            return Failed(FailureKind.INTERNAL)
        try:
            if self._bank.needs_client_token:
                self._oauth.use_client_token()
            opened, approach, resource = self._place(job, product)
        except BankError as error:
            return error.to_failed(is_outcome_unknown=has_left)
        state: State = {"stage": "open", "kind": "pay", "resource": resource, "has_left": has_left}
        if job.standing is not None:
            state["standing_key"] = opened.payment_id
        authoriser = Authoriser(self._client, self._bank, state, self._context.may_send)
        if opened.transaction_status in OUTCOMES:
            return self._conclude(authoriser)
        try:
            if "scaOAuth" in opened.links:
                return self._ask_by_oauth(state, opened)
            step = authoriser.open(opened, approach)
        except BankError as error:
            return self._end(error, authoriser)
        return self._conclude(authoriser) if step is None else step

    def resume(self, state: State, answer: Answer) -> Step:
        if state["stage"] == PAYMENT_BY_OAUTH:
            return self._return_from_page(state, answer)
        authoriser = Authoriser(self._client, self._bank, state, self._context.may_send)
        try:
            # Somebody may have decided about it meanwhile; then there is nothing left to send.
            status = self._read_status(state)
            if _is_decided(status, state):
                return _tell(status, state)
            step = authoriser.answer(answer)
        except BankError as error:
            return self._end(error, authoriser)
        return self._conclude(authoriser) if step is None else step

    def cancel(self, state: State) -> Step:
        """What the bank has executed already stays so. A standing order whose deletion is not authorised stays, too."""
        if state.get("is_cancellation"):
            if not state.get("has_left"):
                return CANCELLED
            status = self._read_status(state)
            is_decided = _is_decided(status, state)
            return _tell(status, state) if is_decided else Failed(FailureKind.UNREACHABLE, None, True, state)
        try:
            self._client.call("DELETE", state["resource"]["self"])
        except BankError:
            if state.get("has_left"):
                return self._conclude(Authoriser(self._client, self._bank, state, None))
        return CANCELLED

    def look_up(self, state: State) -> Step:
        """By the bank's own number of the order, and never by placing it again.

        An order whose number was lost with the bank's answer cannot be asked about. One that the bank has not decided
        about stays unknown: it may wait for its authorisation, or be authorised and on its way.
        """
        if "resource" not in state:
            return Done(LookedUp(PaymentOutcome.UNKNOWN))
        if "tokens" in state:
            self._use_tokens(state["tokens"])
        status = self._read_status(state)
        outcome = OUTCOMES.get(status.transaction_status, PaymentOutcome.UNKNOWN)
        if state.get("is_cancellation"):
            outcome = PaymentOutcome.EXECUTED if _is_decided(status, state) else PaymentOutcome.UNKNOWN
        return Done(LookedUp(outcome, status.psu_message, state.get("standing_key")))

    # At the bank's OAuth server

    def _ask_by_oauth(self, state: State, opened: Authorising) -> Step:
        """The bank may execute the order once the customer agrees on its page: the send guard is asked before."""
        question = self._oauth.ask(
            state | {"stage": PAYMENT_BY_OAUTH}, opened.links["scaOAuth"].href, f"PIS:{opened.payment_id}"
        )
        if not state["has_left"] and not self._context.may_send():
            return Failed(FailureKind.INTERNAL)
        return replace(question, state=question.state | {"has_left": True})

    def _return_from_page(self, state: State, answer: Answer) -> Step:
        """What the browser brought along proves nothing about the order: the bank's status does."""
        unknown = Failed(FailureKind.UNREACHABLE, is_outcome_unknown=True, state=state)
        try:
            granted = self._oauth.return_from_page(state, answer)
        except StoppedError as error:
            if error.kind is FailureKind.CANCELLED:
                return self._drop(state)
            return replace(unknown, detail=error.detail)
        except BankError:
            return unknown
        self._oauth.use(granted["tokens"])
        return self._conclude(Authoriser(self._client, self._bank, granted, None))

    def _drop(self, state: State) -> Step:
        """The customer declined: the bank shall forget the order. One that it has executed after all stays executed."""
        step = self.cancel(state)
        if isinstance(step, Failed) and step.kind is FailureKind.REJECTED and not step.is_outcome_unknown:
            return CANCELLED
        return step

    def _use_tokens(self, tokens: State) -> None:
        is_over = self._oauth.is_ending(tokens)
        if is_over and tokens["refresh"] is not None:
            self._oauth.renew(tokens)
        else:
            self._oauth.use(tokens)

    # Parts

    def _find_product(self, job: Pay) -> str:
        if job.debit is not None:
            raise StoppedError(FailureKind.NOT_SUPPORTED)  # psd2 1.3 initiates no direct debits
        product = INSTANT if job.is_instant else SEPA
        if product not in self._bank.payment_products or (job.is_bulk and not self._bank.has_bulk):
            raise StoppedError(FailureKind.NOT_SUPPORTED)
        if job.standing is not None:
            is_offered = self._bank.has_periodic and product == SEPA and not job.is_bulk
            if not is_offered or not self._can(job.standing):
                raise StoppedError(FailureKind.NOT_SUPPORTED)
        return product

    def _can(self, standing: StandingInstruction) -> bool:
        if standing.action is StandingAction.DELETE:
            return self._bank.cancels_periodic and bool(standing.key)
        return standing.action is StandingAction.CREATE

    def _cancel_standing(self, key: str) -> Step:
        """A bank may cancel at once, so the send guard is asked. One that asks its customer has done nothing yet."""
        if not self._context.may_send():
            return Failed(FailureKind.INTERNAL)
        link = self._client.enter(f"v1/periodic-payments/{SEPA}/{quote(key, safe='')}")
        state: State = {"stage": "open", "kind": "pay", "is_cancellation": True, "standing_key": key}
        state["resource"] = {"self": link, "status": f"{link}/status"}
        try:
            answer = self._client.call("DELETE", link, headers=self._client.identify() | self._client.prefer())
            opened = self._client.read(answer, Authorising) if answer.body else None
        except BankError as error:
            failed = error.to_failed(is_outcome_unknown=True)
            return replace(failed, state=state) if failed.is_outcome_unknown else failed
        if opened is None:
            return Done(Paid(PaymentOutcome.EXECUTED, standing_key=key))
        # In this step the send guard has been asked already.
        authoriser = Authoriser(self._client, self._bank, state, lambda: True)
        if not any(name.startswith(("startAuthorisation", "sca")) for name in opened.links):
            return self._conclude(authoriser)
        try:
            step = authoriser.open(opened, answer.approach)
        except BankError as error:
            return self._end(error, authoriser)
        return self._conclude(authoriser) if step is None else _hold(step)

    def _place(self, job: Pay, product: str) -> tuple[Authorising, str | None, State]:
        service = "bulk-payments" if job.is_bulk else "payments"
        if job.standing is not None:
            service = "periodic-payments"
        headers = self._client.identify() | self._client.prefer()
        if job.prefers_rejection:
            headers["tpp-rejection-nofunds-preferred"] = "true"
        link = self._client.enter(f"v1/{service}/{product}")
        answer = self._client.call("POST", link, _write_order(job), headers, request_id=str(job.payment_id))
        opened = self._client.read(answer, Authorising)
        if not opened.payment_id or "self" not in opened.links or "status" not in opened.links:
            raise NoResponseError("the bank's payment has no number")
        resource = {name: opened.links[name].href for name in ("self", "status")}
        return opened, answer.approach, resource

    def _read_status(self, state: State) -> PaymentStatus:
        return self._client.get(state["resource"]["status"], PaymentStatus)

    def _conclude(self, authoriser: Authoriser) -> Step:
        """After the customer's part."""
        try:
            told = _tell(self._read_status(authoriser.state), authoriser.state)
        except BankError:
            told = Failed(FailureKind.UNREACHABLE, is_outcome_unknown=True)
        if isinstance(told, Failed) and told.is_outcome_unknown:
            return replace(told, state=authoriser.state)
        return told

    def _end(self, error: BankError, authoriser: Authoriser) -> Step:
        """The dialogue broke. A refusal may have been the bank's decision about the order: its status tells."""
        failed = error.to_failed(is_outcome_unknown=authoriser.has_left)
        if failed.is_outcome_unknown:
            failed = replace(failed, state=authoriser.state)
        if not isinstance(error, RefusedError) or failed.is_outcome_unknown:
            return failed
        try:
            status = self._read_status(authoriser.state)
        except BankError as second:
            unknown = replace(second.to_failed(is_outcome_unknown=True), state=authoriser.state)
            return unknown if authoriser.has_left else failed
        if not _is_decided(status, authoriser.state):
            return failed
        told = _tell(status, authoriser.state)
        # The code says more than the status, unless the status says why.
        is_plain = isinstance(told, Failed) and told.kind is FailureKind.REJECTED
        return failed if is_plain and status.transaction_status == "RJCT" else told


def _hold(step: Step) -> Step:
    """The bank waits for the customer. It goes on from a redirect by itself, which has been said to the send guard."""
    if isinstance(step, NeedRedirect):
        return replace(step, state=step.state | {"has_left": True})
    if isinstance(step, NeedMethod | NeedTan):
        return replace(step, is_held=True)
    return step


def _is_decided(status: PaymentStatus, state: State) -> bool:
    """About the order; or, where it is to be cancelled, about that."""
    if state.get("is_cancellation"):
        return status.transaction_status == CANCELLED_STATUS
    return status.transaction_status in OUTCOMES


def _tell(status: PaymentStatus, state: State) -> Step:
    """The bank's word on an order that the customer has authorised."""
    if state.get("is_cancellation"):
        is_gone = status.transaction_status == CANCELLED_STATUS
        outcome = PaymentOutcome.EXECUTED if is_gone else PaymentOutcome.ACCEPTED
        return Done(Paid(outcome, standing_key=state["standing_key"]))
    outcome = OUTCOMES.get(status.transaction_status, PaymentOutcome.ACCEPTED)
    if status.transaction_status in HELD:
        return Failed(FailureKind.UNREACHABLE, status.psu_message, is_outcome_unknown=True)
    if status.transaction_status not in OUTCOMES and status.transaction_status not in CHECKED:
        return Failed(FailureKind.UNREACHABLE, "unknown status", is_outcome_unknown=True)
    if outcome is PaymentOutcome.NEVER:
        return Failed(FailureKind.REJECTED, status.psu_message)
    if outcome is PaymentOutcome.REJECTED:
        codes = [message.code for message in status.tpp_messages]
        has_funds = status.funds_available is not False and "FUNDS_NOT_AVAILABLE" not in codes
        return Failed(FailureKind.REJECTED if has_funds else FailureKind.NO_FUNDS, status.psu_message)
    return Done(Paid(outcome, standing_key=state.get("standing_key")))


def _write_order(job: Pay) -> State:
    debtor = {"debtorAccount": {"iban": job.product_key}}
    if job.standing is not None:
        return debtor | _write_schedule(job.standing.schedule) | _write_transfer(job.orders[0])
    day = {} if job.execution_date is None else {"requestedExecutionDate": job.execution_date.isoformat()}
    if job.is_bulk:
        return (
            debtor | day | {"batchBookingPreferred": True, "payments": [_write_transfer(order) for order in job.orders]}
        )
    return debtor | day | _write_transfer(job.orders[0])


def _write_schedule(schedule: Schedule) -> State:
    written = {
        "startDate": schedule.first.isoformat(),
        "endDate": None if schedule.last is None else schedule.last.isoformat(),
        "executionRule": "following" if schedule.period is Period.MONTH_ONE else None,
        "frequency": FREQUENCIES[schedule.period],
        "dayOfExecution": None if schedule.period.weeks else str(schedule.day or schedule.first.day),
    }
    return {key: value for key, value in written.items() if value is not None}


def _write_transfer(order: Order) -> State:
    written: dict[str, Any] = {
        "instructedAmount": {"currency": order.currency, "amount": f"{order.amount:.2f}"},
        "creditorAccount": {"iban": order.iban},
        "creditorName": order.recipient,
        "creditorAgent": order.bic,
        "endToEndIdentification": order.end_to_end_id,
        "remittanceInformationUnstructured": order.purpose or None,
        "purposeCode": order.purpose_code,
        "ultimateDebtor": order.ultimate_debtor,
        "ultimateCreditor": order.ultimate_creditor,
    }
    return {key: value for key, value in written.items() if value is not None}
