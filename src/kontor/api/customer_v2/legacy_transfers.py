"""Transfers in their legacy form: the order names the TAN method, a TAN releases it."""

from typing import Any

from kontor.api.answers import Answer, HttpError, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, read_customer_address
from kontor.api.customer_v2.payments import (
    TRANSFER,
    explain_refusals,
    read_idempotency_key,
    read_language,
    read_order_body,
)
from kontor.api.operations import Call, Success, operation
from kontor.domain.accesses import Access
from kontor.domain.errors import NotFoundError
from kontor.domain.order_checks import OrderError, OrderProblem
from kontor.domain.payments import PaymentKind, PaymentState
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.services.payments import PaymentNotOpenError, PaymentRequest, PaymentView, check_support
from kontor.services.sca import make_answer
from kontor.wire.legacy_transfers import (
    FIELDS,
    LegacyTransferStatus,
    TanSubmission,
    Ueberweisung,
    show_legacy_transfer,
)
from kontor.wire.payment_evidence import write_shown_text

TRANSFERS = CUSTOMER + "/ueberweisung/{provider-id}/{product-id}"
HEADERS = {
    "Customer-IP-Address": "public IP address of the end user",
    "Idempotency-Key": "your own key: the same one never pays twice; remembered for 30 days",
}
STATUS: dict[str, Any] = {"success": Success(shape=LegacyTransferStatus)}


@operation("POST", TRANSFERS, headers=HEADERS, body=Ueberweisung, errors=(404, 409), **STATUS, **TRANSFER)
@explain_refusals
async def start_legacy_transfer(call: Call) -> Answer:
    """Order a transfer that a TAN releases.

    The credentials of the account come with it.
    """
    if not call.principal.is_regulated:
        raise HttpError(400, "This tenant pays in the redirect frontend; the legacy transfer is not for it.")
    debtors = call.services.payments.debtors
    provider_id, product_id = call.path_uuid("provider-id"), call.path_uuid("product-id")
    stored, access = await debtors.find_legacy(call.principal, provider_id, product_id)
    address, key = read_customer_address(call), read_idempotency_key(call)
    body: Ueberweisung = await read_order_body(call, Ueberweisung)
    request = PaymentRequest(
        kind=PaymentKind.LEGACY,
        given=(body.to_order(),),
        execution_date=body.ausfuehrungsdatum,
        idempotency_key=key,
        customer_ip=address,
        is_payee_accepted=True,  # this form has no way to ask
        wanted_method=body.sicherheitsverfahrenKodierung,
        wanted_medium=body.tanMediumName or None,
        fields=FIELDS,
        language=read_language(call),
    )
    check_support(stored.product, PaymentKind.LEGACY)
    _check_choice(access, body)
    debtor = await debtors.find_given(
        call.principal, provider_id, body.credentials, str(product_id), PaymentKind.LEGACY
    )
    return await _show(call, await call.services.payments.initiate(call.principal, debtor, request))


def _check_choice(access: Access, body: Ueberweisung) -> None:
    """As far as the bank's methods and media are known; else the bank tells."""
    method, medium = body.sicherheitsverfahrenKodierung, body.tanMediumName or None
    if access.methods and method not in [known_method.code for known_method in access.methods]:
        raise OrderError(OrderProblem.METHOD, "is no method of this access", "sicherheitsverfahrenKodierung")
    if medium is not None and access.media and medium not in [known_medium.name for known_medium in access.media]:
        raise OrderError(OrderProblem.DATA, "is no medium of this access", "tanMediumName")


@operation(
    "PUT",
    TRANSFERS + "/{transfer-id}",
    body=TanSubmission,
    errors=(404,),
    other_shapes={409: LegacyTransferStatus},
    **STATUS,
    **TRANSFER,
)
@explain_refusals
async def submit_text_tan(call: Call) -> Answer:
    """Submit the TAN.

    A wrong one keeps the transfer open, until its timeout or the third of them.
    """
    view = await _find(call)
    body = await call.json(TanSubmission)
    is_open = view.payment.state is PaymentState.OPEN and view.payment.dialogue.position.state is ScaState.TAN
    if is_open and not body.tan.strip():
        raise HttpError(400, "tan: is empty")  # costs none of the user's attempts
    answer = make_answer(AnswerKind.TAN, body.tan)
    try:
        settled = await call.services.payments.answer(call.principal, view.payment.id, AnswerKind.TAN, answer)
    except PaymentNotOpenError as error:
        return await _show(call, error.view, 409)
    return await _show(call, settled)


async def _find(call: Call) -> PaymentView:
    view = await call.services.payments.read_payment(call.principal, call.path_uuid("transfer-id"))
    payment = view.payment
    is_there = payment.provider_id == call.path_uuid("provider-id") and payment.product_id == call.path_uuid(
        "product-id"
    )
    if payment.kind is not PaymentKind.LEGACY or not is_there:
        raise NotFoundError
    return view


async def _show(call: Call, view: PaymentView, status: int = 200) -> Answer:
    """A warning about the payee comes with the question for the TAN, and is kept before it is sent."""
    if view.payment.dialogue.warnings and view.payment.state.is_under_way:
        language = read_language(call)
        text = write_shown_text(view.payment, language)
        await call.services.payments.evidence.note_shown(call.principal, view.payment, text, language)
    return json_answer(show_legacy_transfer(view.payment, view.secrets, call.urls), status)
