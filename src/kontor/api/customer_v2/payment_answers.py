"""Status of payments, and the user's answers to what the bank asks."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, HttpError, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ
from kontor.api.customer_v2.payments import (
    BULK,
    PAYMENT,
    PRODUCT,
    SINGLE,
    TRANSFER,
    explain_refusals,
    show_status,
    show_view,
)
from kontor.api.operations import Call, Success, operation
from kontor.domain.dialogues import Secrets
from kontor.domain.errors import NotFoundError
from kontor.domain.payments import PaymentKind, PaymentState
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.services.payments import PaymentNotOpenError, PaymentView
from kontor.services.sca import make_answer
from kontor.wire.consents import ScaAnswer
from kontor.wire.payment_evidence import Evidence, show_evidence
from kontor.wire.payments import TransferStatus

ONE_SINGLE = PAYMENT + SINGLE + "/{payment-id}"
ONE_BULK = PAYMENT + BULK + "/{payment-id}"
XML = "application/xml"
STATUS: dict[str, Any] = {"success": Success(shape=TransferStatus), "errors": (404,)}
ANSWERED: dict[str, Any] = STATUS | {"other_shapes": {409: TransferStatus}}
# A transfer of the legacy form is read as a single one.
SINGLE_KINDS = (PaymentKind.SINGLE, PaymentKind.LEGACY)
BULK_KINDS = (PaymentKind.BULK,)


class ListQuery(msgspec.Struct):
    limit: Annotated[int, Meta(ge=1, le=10_000, description="only so many, the newest")] | None = None


@operation("GET", CUSTOMER + "/payments", query=ListQuery, success=Success(shape=list[TransferStatus]), **TRANSFER)
async def list_payments(call: Call) -> Answer:
    """List the user's payments, newest first.

    Challenges are shown with the single payment only.
    """
    limit = call.query(ListQuery).limit
    payments = await call.services.payments.list_payments(call.principal, limit)
    return json_answer([await show_view(call, PaymentView(payment, Secrets())) for payment in payments])


@operation("GET", ONE_SINGLE, **STATUS, **TRANSFER)
async def get_single_transfer(call: Call) -> Answer:
    """Read where a transfer stands.

    The bank is not asked.
    """
    return await show_status(call, await find_payment(call, SINGLE_KINDS))


@operation("GET", ONE_BULK, **STATUS, **TRANSFER)
async def get_bulk_transfer(call: Call) -> Answer:
    """Read where a bulk transfer stands.

    The bank is not asked.
    """
    return await show_status(call, await find_payment(call, BULK_KINDS))


@operation(
    "GET",
    CUSTOMER + "/payments/{payment-id}/pain001",
    other_paths=(PAYMENT + "/{payment-id}/pain001",),  # which might also be a transfer with the id pain001
    success=Success(media_type=XML, shape=str),
    errors=(404, 409),
    **TRANSFER,
)
async def export_payment(call: Call) -> Answer:
    """Export transfers as pain.001, whatever became of them.

    409 where the debtor's account is not stored here.
    """
    document = await call.services.payment_exports.write_transfers(call.principal, call.path_uuid("payment-id"))
    return Answer(200, document, XML, {"Cache-Control": "no-store"})


@operation(
    "GET",
    CUSTOMER + "/payments/{payment-id}/pain008",
    other_paths=(PAYMENT + "/{payment-id}/pain008",),  # which might also be a transfer with the id pain008
    success=Success(media_type=XML, shape=str),
    errors=(404, 409),
    **TRANSFER,
)
async def export_direct_debits(call: Call) -> Answer:
    """Export direct debits as pain.008, whatever became of them.

    409 where the account is not stored here.
    """
    document = await call.services.payment_exports.write_debits(call.principal, call.path_uuid("payment-id"))
    return Answer(200, document, XML, {"Cache-Control": "no-store"})


@operation(
    "GET",
    CUSTOMER + "/payments/{payment-id}/evidence",
    other_paths=(PAYMENT + "/{payment-id}/evidence",),  # which might also be a transfer with the id evidence
    success=Success(shape=Evidence),
    errors=(404,),
    **READ,
)
async def read_payment_evidence(call: Call) -> Answer:
    """Read what is kept about the verification of a payment's payees.

    The bank's verdict, the text that the user was shown, the user's choice, and times. 404 where no payee was verified.
    """
    payment_id = call.path_uuid("payment-id")
    evidence = await call.services.payments.evidence.read(call.principal, payment_id)
    return json_answer(show_evidence(payment_id, evidence))


@operation("GET", PRODUCT + "/payment" + SINGLE + "/{payment-id}", **STATUS, **TRANSFER)
async def get_single_transfer_of_product(call: Call) -> Answer:
    """Read where a transfer from a product stands.

    The bank is not asked.
    """
    return await show_status(call, await _find_of_product(call, SINGLE_KINDS))


@operation("GET", PRODUCT + "/payment" + BULK + "/{payment-id}", **STATUS, **TRANSFER)
async def get_bulk_transfer_of_product(call: Call) -> Answer:
    """Read where a bulk transfer from a product stands.

    The bank is not asked.
    """
    return await show_status(call, await _find_of_product(call, BULK_KINDS))


@operation("POST", ONE_SINGLE, body=ScaAnswer, **ANSWERED, **TRANSFER)
@explain_refusals
async def answer_single_transfer(call: Call) -> Answer:
    """Answer the open step of a transfer: a method, a medium, a TAN, or a confirmation in the app.

    The relations of the status tell which step is open; 409 where it is another.
    """
    return await answer_body(call, SINGLE_KINDS)


@operation("POST", ONE_BULK, body=ScaAnswer, **ANSWERED, **TRANSFER)
@explain_refusals
async def answer_bulk_transfer(call: Call) -> Answer:
    """Answer the open step of a bulk transfer: a method, a medium, a TAN, or a confirmation in the app.

    As for the single transfer.
    """
    return await answer_body(call, BULK_KINDS)


@operation("GET", ONE_SINGLE + "/poll", **ANSWERED, **TRANSFER)
async def poll_single_transfer(call: Call) -> Answer:
    """Ask the bank whether the user has confirmed the transfer in the app.

    409 where no app has anything to confirm.
    """
    return await answer_step(call, await find_payment(call, SINGLE_KINDS), AnswerKind.CONFIRMED, "")


@operation("GET", ONE_BULK + "/poll", **ANSWERED, **TRANSFER)
async def poll_bulk_transfer(call: Call) -> Answer:
    """Ask the bank whether the user has confirmed the bulk transfer in the app.

    As for the single transfer.
    """
    return await answer_step(call, await find_payment(call, BULK_KINDS), AnswerKind.CONFIRMED, "")


@operation("POST", ONE_SINGLE + "/cancel", **ANSWERED, **TRANSFER)
async def cancel_single_transfer(call: Call) -> Answer:
    """Cancel a transfer that was not sent yet.

    409 with the status where the order was sent to the bank.
    """
    return await answer_step(call, await find_payment(call, SINGLE_KINDS), AnswerKind.CANCEL, "")


@operation("POST", ONE_BULK + "/cancel", **ANSWERED, **TRANSFER)
async def cancel_bulk_transfer(call: Call) -> Answer:
    """Cancel a bulk transfer that was not sent yet.

    As for the single transfer.
    """
    return await answer_step(call, await find_payment(call, BULK_KINDS), AnswerKind.CANCEL, "")


@operation("POST", ONE_SINGLE + "/confirm-vop", **ANSWERED, **TRANSFER)
async def confirm_payee_of_single_transfer(call: Call) -> Answer:
    """Pay although the bank could not match the payee.

    Money may then go to another payee. The bank is not liable.
    """
    return await accept_payees(call, await find_payment(call, SINGLE_KINDS))


@operation("POST", ONE_BULK + "/confirm-vop", **ANSWERED, **TRANSFER)
async def confirm_payees_of_bulk_transfer(call: Call) -> Answer:
    """Pay although the bank could not match every payee.

    As for the single transfer, for all of them.
    """
    return await accept_payees(call, await find_payment(call, BULK_KINDS))


# Parts


async def find_payment(call: Call, kinds: tuple[PaymentKind, ...]) -> PaymentView:
    view = await call.services.payments.read_payment(call.principal, call.path_uuid("payment-id"))
    if view.payment.kind not in kinds:
        raise NotFoundError
    return view


async def _find_of_product(call: Call, kinds: tuple[PaymentKind, ...]) -> PaymentView:
    view = await find_payment(call, kinds)
    is_of_product = view.payment.product_id == call.path_uuid("product-id")
    if not is_of_product or view.payment.access_id != call.path("access-id"):
        raise NotFoundError
    return view


async def answer_body(call: Call, kinds: tuple[PaymentKind, ...]) -> Answer:
    view = await find_payment(call, kinds)
    body = await call.json(ScaAnswer)
    if body.count_given() > 1:
        raise HttpError(400, "body: give one answer at a time")
    dialogue = view.payment.dialogue
    kind, value = body.read(dialogue)
    is_open = view.payment.state in (PaymentState.OPEN, PaymentState.SENDING)
    if kind is AnswerKind.TAN and is_open and dialogue.position.state is ScaState.TAN and not value.strip():
        raise HttpError(400, "scaAuthenticationData: the TAN is empty")  # costs none of the user's attempts
    return await answer_step(call, view, kind, value)


async def answer_step(call: Call, view: PaymentView, kind: AnswerKind, value: str) -> Answer:
    """An answer to a step that is not open is a conflict; the current status comes with it."""
    try:
        settled = await call.services.payments.answer(call.principal, view.payment.id, kind, make_answer(kind, value))
    except PaymentNotOpenError as error:
        return await show_status(call, error.view, 409)
    return await show_status(call, settled)


async def accept_payees(call: Call, view: PaymentView) -> Answer:
    try:
        settled = await call.services.payments.accept_payees(call.principal, view.payment.id)
    except PaymentNotOpenError as error:
        return await show_status(call, error.view, 409)
    return await show_status(call, settled)
