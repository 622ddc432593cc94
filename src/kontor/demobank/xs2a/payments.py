"""Payments: one, or several at once, as SEPA credit transfers, instant or not.

The same `X-Request-ID` with the same order is the same payment: whoever lost an answer asks again, and finds what
there is. Its number in the books follows from that id, so that it is found even after the bank was started anew.
"""

from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeAlias
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import msgspec

from kontor.connectors.base import Answer, Context, Failed, FailureKind, Pay, State, Step
from kontor.connectors.demo.standing_orders import find_name
from kontor.demobank.xs2a.aspsp import DemoAspsp
from kontor.demobank.xs2a.authorising import (
    Authoriser,
    Subject,
    choose_approach,
    show_authorisation,
    show_opening,
)
from kontor.demobank.xs2a.bodies import (
    AuthorisationBody,
    BulkPayment,
    PeriodicPayment,
    SinglePayment,
    Transfer,
    make_link,
)
from kontor.demobank.xs2a.dialects import STANDARD, Dialect, OAuthUse
from kontor.demobank.xs2a.exchanges import RefusedError, Request, Response
from kontor.demobank.xs2a.modes import Xs2aMode
from kontor.demobank.xs2a.resources import Approach, Authorisation, BoundedStore, Cancellation, Payment
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.schedules import Period, Schedule, StandingAction, StandingInstruction

SERVICES = ("payments", "bulk-payments", "periodic-payments")
PRODUCTS = ("sepa-credit-transfers", "instant-sepa-credit-transfers")
OrderBody: TypeAlias = SinglePayment | BulkPayment | PeriodicPayment
SHAPES: dict[str, type[OrderBody]] = {
    "payments": SinglePayment,
    "bulk-payments": BulkPayment,
    "periodic-payments": PeriodicPayment,
}
PERIODS = {
    "Weekly": Period.WEEK_ONE,
    "EveryTwoWeeks": Period.WEEK_TWO,
    "Monthly": Period.MONTH_ONE,
    "EveryTwoMonths": Period.MONTH_TWO,
    "Quarterly": Period.MONTH_THREE,
    "SemiAnnual": Period.MONTH_SIX,
    "Annual": Period.YEAR_ONE,
}
HELD_READS = 3  # of the status, in `Xs2aMode.ORDER_HELD`
STATUSES = {
    PaymentOutcome.EXECUTED: "ACSC",
    PaymentOutcome.ACCEPTED: "ACSP",
    PaymentOutcome.REJECTED: "RJCT",
    PaymentOutcome.NEVER: "CANC",
}
ACTIVE = ("ACSC", "ACSP")


class PaymentSubject(Subject):
    def __init__(self, payment: Payment, aspsp: DemoAspsp, *, needs_confirmation: bool) -> None:
        self.resource = self._payment = payment
        self._aspsp = aspsp
        self.needs_confirmation = needs_confirmation

    def begin(self, login: str, context: Context) -> Step:
        payment = self._payment
        assert payment.job is not None
        account = self._aspsp.find_account(login, payment.job.product_key)
        if account is None:
            return Failed(FailureKind.NOT_SUPPORTED, "Die Bank kennt das Konto nicht.")
        return self._aspsp.payments.begin(login, payment.job, context)

    def answer(self, state: State, answer: Answer, context: Context) -> Step | None:
        return self._aspsp.payments.resume(state, answer, context)

    def finish(self, authorisation: Authorisation) -> None:
        """What became of it stands in the books."""

    def refuse(self, failed: Failed) -> RefusedError:
        """Before any TAN. The payment is over."""
        self._payment.refusal = (str(failed.kind), failed.detail or "")
        code = "PRODUCT_INVALID" if failed.kind is FailureKind.NOT_SUPPORTED else "PAYMENT_FAILED"
        return RefusedError(code, failed.detail or "")


class PaymentOrders:
    def __init__(
        self, aspsp: DemoAspsp, authoriser: Authoriser, *, confirms_redirects: bool, dialect: Dialect = STANDARD
    ) -> None:
        self._aspsp = aspsp
        self._authoriser = authoriser
        self._dialect = dialect
        self._confirms_redirects = confirms_redirects
        self._kept: BoundedStore[Payment] = BoundedStore()

    def create(self, request: Request, service: str, product: str) -> Response:
        _check_product(service, product)
        order: OrderBody = request.read_body(SHAPES[service])
        request_id = uuid4() if self._aspsp.bank.pays_twice else request.id
        number = uuid5(NAMESPACE_URL, f"xs2a payment {service} {product} {request_id}")
        login = request.login
        payment = Payment(
            str(number),
            f"/v1/{service}/{product}/{number}",
            login,
            choose_approach(login),
            uuid=number,
            service=service,
            digest=sha256(msgspec.json.encode(order)).digest(),
            body=msgspec.json.decode(request.body),
            job=_make_job(order, number, is_instant=product.startswith("instant"), is_bulk=service == "bulk-payments"),
        )
        assert payment.job is not None
        payment.job = replace(payment.job, prefers_rejection=request.has("tpp-rejection-nofunds-preferred"))
        kept = self._kept.put(payment.id, payment)
        with kept.lock:
            if kept.digest != payment.digest or (kept.login is not None and kept.login != login):
                raise RefusedError("FORMAT_ERROR", "This X-Request-ID belongs to another order.")
            kept.login = login
            return self._show_new(request, kept)

    def _show_new(self, request: Request, payment: Payment) -> Response:
        status = self._read_status(payment)[0]
        if self._dialect.oauth is OAuthUse.FOR_CONSENT:
            return self._link_to_oauth(request, payment, status)
        authorisation = None
        is_implicit = payment.approach is Approach.REDIRECT and not request.has("tpp-explicit-authorisation-preferred")
        if is_implicit and status == "RCVD":
            authorisation = self._authoriser.open(self._make_subject(payment), request)
        shown, headers = show_opening(payment, authorisation)
        body = {"transactionStatus": status, "paymentId": payment.id, **shown}
        return Response(201, body, headers | request.locate(payment.path))

    def _link_to_oauth(self, request: Request, payment: Payment, status: str) -> Response:
        payment.approach = Approach.REDIRECT
        links = {"self": payment.path, "status": f"{payment.path}/status"}
        if status == "RCVD":
            links["scaOAuth"] = self._dialect.discovery_path
        body = {
            "transactionStatus": status,
            "paymentId": payment.id,
            "_links": {name: make_link(path) for name, path in links.items()},
        }
        return Response(201, body, {"ASPSP-SCA-Approach": str(payment.approach)} | request.locate(payment.path))

    # At the OAuth server

    def find_open(self, payment_id: str) -> Payment | None:
        """An order that waits for its customer."""
        payment = self._kept.find(payment_id)
        return payment if payment is not None and self._read_status(payment)[0] == "RCVD" else None

    def grant(self, payment: Payment, login: str) -> None:
        """The customer has agreed on the bank's page, and the bank executes it."""
        with payment.lock:
            self._check_open(payment)
            assert payment.job is not None
            payment.login = login
            step = self._aspsp.payments.pay(login, payment.job, self._aspsp.make_context())
            if isinstance(step, Failed) and self._aspsp.find_receipt(login, payment.uuid) is None:
                payment.refusal = (str(step.kind), step.detail or "")

    def decline(self, payment: Payment) -> None:
        with payment.lock:
            if self._withdraw(payment):
                payment.is_cancelled = True

    def read(self, request: Request, service: str, product: str, payment_id: str) -> Response:
        payment = self._find(service, product, payment_id)
        return Response(200, payment.body | {"transactionStatus": self._read_status(payment)[0]})

    def read_status(self, request: Request, service: str, product: str, payment_id: str) -> Response:
        payment = self._find(service, product, payment_id)
        status, reason, detail = self._read_status(payment)
        shown: dict[str, Any] = {"transactionStatus": status}
        if reason == FailureKind.NO_FUNDS:
            shown["fundsAvailable"] = False
        if detail:
            shown["psuMessage"] = detail[:500]
        return Response(200, shown)

    def cancel(self, request: Request, service: str, product: str, payment_id: str) -> Response:
        """Without the customer, as long as nothing was decided. Afterwards standing orders alone, with the customer."""
        payment = self._find(service, product, payment_id)
        with payment.lock:
            if service == "periodic-payments" and self._read_status(payment)[0] in ACTIVE:
                return self._open_cancellation(payment)
            if payment.refusal is not None or not self._withdraw(payment):
                raise RefusedError("CANCELLATION_INVALID", "Über diesen Auftrag ist schon entschieden.")
            payment.is_cancelled = True
            for authorisation in payment.authorisations.values():
                authorisation.status = authorisation.status if authorisation.is_over else "failed"
        return Response(204)

    def _open_cancellation(self, payment: Payment) -> Response:
        assert payment.job is not None
        assert payment.job.standing is not None
        if payment.cancellation is None or payment.cancellation.refusal is not None:
            number = uuid4()
            ended = replace(payment.job.standing, action=StandingAction.DELETE, key=find_name(payment.job))
            job = replace(payment.job, payment_id=number, standing=ended)
            known = (payment.path, payment.login, payment.approach)
            payment.cancellation = Cancellation(str(number), *known, uuid=number, service=payment.service, job=job)
        shown, headers = show_opening(payment.cancellation, None)
        return Response(202, {"transactionStatus": self._read_status(payment)[0], **shown}, headers)

    # Authorisations

    def authorise(self, request: Request, *names: str) -> Response:
        return self._authorise(request, self._find(*names))

    def list_authorisations(self, request: Request, *names: str) -> Response:
        return Response(200, {"authorisationIds": list(self._find(*names).authorisations)})

    def read_authorisation(self, request: Request, *names: str) -> Response:
        return self._read_authorisation(self._find(*names[:-1]), names[-1])

    def update_authorisation(self, request: Request, *names: str) -> Response:
        return self._update_authorisation(request, self._find(*names[:-1]), names[-1])

    def authorise_cancellation(self, request: Request, *names: str) -> Response:
        return self._authorise(request, self._find_cancellation(*names))

    def list_cancellation_authorisations(self, request: Request, *names: str) -> Response:
        return Response(200, {"authorisationIds": list(self._find_cancellation(*names).authorisations)})

    def read_cancellation_authorisation(self, request: Request, *names: str) -> Response:
        return self._read_authorisation(self._find_cancellation(*names[:-1]), names[-1])

    def update_cancellation_authorisation(self, request: Request, *names: str) -> Response:
        return self._update_authorisation(request, self._find_cancellation(*names[:-1]), names[-1])

    def _authorise(self, request: Request, payment: Payment) -> Response:
        body = request.read_body(AuthorisationBody)
        with payment.lock:
            self._check_open(payment)
            return show_authorisation(self._authoriser.open(self._make_subject(payment), request, body), 201)

    def _read_authorisation(self, payment: Payment, authorisation_id: str) -> Response:
        with payment.lock:
            authorisation = _find_authorisation(payment, authorisation_id)
            self._authoriser.look(self._make_subject(payment), authorisation)
            return Response(200, {"scaStatus": authorisation.status})

    def _update_authorisation(self, request: Request, payment: Payment, authorisation_id: str) -> Response:
        body = request.read_body(AuthorisationBody)
        with payment.lock:
            authorisation = _find_authorisation(payment, authorisation_id)
            self._check_open(payment)
            if self._aspsp.bank.pays_twice and authorisation.status == "finalised" and body.sca_authentication_data:
                authorisation.status = "scaMethodSelected"  # the same TAN does it again
            self._authoriser.update(self._make_subject(payment), authorisation, request, body)
            return show_authorisation(authorisation, 200)

    # Parts

    def _find(self, service: str, product: str, payment_id: str) -> Payment:
        _check_product(service, product)
        payment = self._kept.find(payment_id)
        if payment is None or payment.path != f"/v1/{service}/{product}/{payment_id}":
            raise RefusedError("RESOURCE_UNKNOWN", "Diesen Auftrag gibt es nicht.")
        return payment

    def _find_cancellation(self, service: str, product: str, payment_id: str) -> Cancellation:
        cancellation = self._find(service, product, payment_id).cancellation
        if cancellation is None:
            raise RefusedError("RESOURCE_UNKNOWN", "Diesen Auftrag gibt es nicht.")
        return cancellation

    def _make_subject(self, payment: Payment) -> PaymentSubject:
        return PaymentSubject(payment, self._aspsp, needs_confirmation=self._confirms_redirects)

    def _check_open(self, payment: Payment) -> None:
        if self._read_status(payment)[0] != "RCVD" and not self._aspsp.bank.pays_twice:
            raise RefusedError("STATUS_INVALID", "Über diesen Auftrag ist schon entschieden.")

    def _withdraw(self, payment: Payment) -> bool:
        return payment.login is None or self._aspsp.withdraw(payment.login, payment.uuid)

    def _read_status(self, payment: Payment) -> tuple[str, str, str]:
        """Status, reason and words, from the books."""
        with payment.lock:
            for authorisation in payment.authorisations.values():
                if authorisation.approach is Approach.REDIRECT and authorisation.code is None:
                    self._authoriser.look(self._make_subject(payment), authorisation)
            receipt = None if payment.login is None else self._aspsp.find_receipt(payment.login, payment.uuid)
        if payment.cancellation is not None and self._read_status(payment.cancellation)[0] in ACTIVE:
            return STATUSES[PaymentOutcome.NEVER], "", ""
        if receipt is not None:
            return self._find_held(payment) or STATUSES[receipt.outcome], receipt.failure or "", receipt.detail or ""
        if payment.is_cancelled:
            return "CANC", "", ""
        if payment.refusal is not None:
            return "RJCT", *payment.refusal
        return "RCVD", "", ""

    def _find_held(self, payment: Payment) -> str | None:
        """The status of an authorised order that the bank has not decided about, in a mode that holds orders."""
        if Xs2aMode.ORDER_HALF_SIGNED in self._aspsp.modes:
            return "PATC"
        if Xs2aMode.ORDER_HELD in self._aspsp.modes and payment.held_reads < HELD_READS:
            payment.held_reads += 1
            return "PDNG"
        return None


def _check_product(service: str, product: str) -> None:
    is_known = service in SERVICES and product in PRODUCTS
    if not is_known or (service == "periodic-payments" and product != PRODUCTS[0]):
        raise RefusedError("PRODUCT_UNKNOWN", "Diese Zahlungsart bietet die Bank nicht an.")


def _find_authorisation(payment: Payment, authorisation_id: str) -> Authorisation:
    authorisation = payment.authorisations.get(authorisation_id)
    if authorisation is None:
        raise RefusedError("RESOURCE_UNKNOWN", "Diese Freigabe gibt es nicht.")
    return authorisation


def _make_job(order: OrderBody, number: UUID, *, is_instant: bool, is_bulk: bool) -> Pay:
    transfers: list[Any] = list(order.payments) if isinstance(order, BulkPayment) else [order]
    if not isinstance(order.debtor_account.iban, str):
        raise RefusedError("FORMAT_ERROR", "debtorAccount has no IBAN.")
    return Pay(
        number,
        order.debtor_account.iban,
        tuple(_make_order(transfer) for transfer in transfers),
        is_bulk=is_bulk,
        is_instant=is_instant,
        execution_date=None if isinstance(order, PeriodicPayment) else order.requested_execution_date,
        is_payee_accepted=True,  # the standard has no words for a payee who does not match
        standing=_make_instruction(order) if isinstance(order, PeriodicPayment) else None,
    )


def _make_instruction(order: PeriodicPayment) -> StandingInstruction:
    period = PERIODS[order.frequency]
    day = None if order.day_of_execution is None or period.weeks else int(order.day_of_execution)
    day = None if day == order.start_date.day else day
    return StandingInstruction(StandingAction.CREATE, Schedule(period, order.start_date, order.end_date, day))


def _make_order(transfer: Transfer) -> Order:
    if not isinstance(transfer.creditor_account.iban, str):
        raise RefusedError("FORMAT_ERROR", "creditorAccount has no IBAN.")
    return Order(
        transfer.creditor_name,
        transfer.creditor_account.iban,
        transfer.instructed_amount.value,
        transfer.instructed_amount.currency,
        transfer.remittance_information_unstructured or "",
        transfer.creditor_agent,
        transfer.end_to_end_identification,
        transfer.purpose_code,
        transfer.ultimate_debtor,
        transfer.ultimate_creditor,
    )
