"""Payments in their newer form: ordering, verification of payees, authentication, status."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, HttpError, json_answer
from kontor.api.customer_v2.accesses import ACCESS, CUSTOMER, read_customer_address
from kontor.api.operations import Call, Security, Success, operation
from kontor.connectors.base import FailureKind
from kontor.domain.direct_debits import DebitsNotAllowedError
from kontor.domain.languages import choose_language
from kontor.domain.order_checks import DuplicateOrderError, OrderError, OrderProblem
from kontor.domain.payments import Payment, PaymentFailure, PaymentKind, PaymentState
from kontor.domain.redirects import FormOptions, UseCase
from kontor.domain.scopes import CUSTOMER_TRANSFER
from kontor.services.payments import Debtor, LoginRefusedError, PaymentRequest, PaymentView
from kontor.wire.errors import Message
from kontor.wire.form_sessions import Language
from kontor.wire.payment_evidence import write_message, write_shown_text
from kontor.wire.payment_messages import DEBITS_NOT_ALLOWED, DUPLICATE, FAILURES, REFUSALS, show_refusal, show_warnings
from kontor.wire.payments import (
    NewBulkTransfer,
    NewTransfer,
    NewVerification,
    TransferStatus,
    VerificationStatus,
    show_payment,
    show_verification,
)
from kontor.wire.relations import Relation
from kontor.wire.translations import LANGUAGES

T = TypeVar("T")
PRODUCT = ACCESS + "/{product-id}"
PAYMENT = CUSTOMER + "/payment"
SINGLE, BULK = "/single-transfer", "/bulk-transfer"
TRANSFER: dict[str, Any] = {"tag": "Payments", "security": Security.USER_TOKEN, "scope": CUSTOMER_TRANSFER}
ORDER_HEADERS = {
    "Customer-IP-Address": "public IP address of the end user (required)",
    "Rejection-NoFunds-Preferred": "true: the bank should reject for insufficient funds",
    "Idempotency-Key": "your own key: the same one never pays twice; remembered for 30 days",
}
ORDERED: dict[str, Any] = {
    "headers": ORDER_HEADERS,
    "success": Success(shape=TransferStatus),
    "other_shapes": {451: TransferStatus},
    "errors": (404, 409),
}
MAX_KEY_LENGTH = 255
PaymentId = Annotated[
    str, Meta(description="your own id of the payment, a UUID", extra_json_schema={"format": "uuid"}, max_length=64)
]


class OrderQuery(msgspec.Struct):
    callbackUrl: Annotated[str, Meta(description="where the bank's page sends the user back to")] | None = None  # noqa: N815
    queryTanSettings: Annotated[bool, Meta(description="ask for method and medium, even saved ones")] = False  # noqa: N815
    editableDetails: Annotated[bool, Meta(description="redirect frontend: fields are editable")] = False  # noqa: N815
    autoConfirm: Annotated[  # noqa: N815
        bool, Meta(description="pay without interaction; 400 where the provider cannot, as all of today")
    ] = False
    paymentId: PaymentId | None = None  # noqa: N815
    language: Language | None = None


class VerificationQuery(msgspec.Struct):
    paymentId: PaymentId | None = None  # noqa: N815


Handler = Callable[[Call], Awaitable[Answer]]


def explain_refusals(handler: Handler) -> Handler:
    """Refused orders carry the German text with its code."""

    @wraps(handler)
    async def explained(call: Call) -> Answer:
        try:
            return await handler(call)
        except OrderError as error:
            raise HttpError(400, error.message, messages=[show_refusal(error)]) from None
        except DebitsNotAllowedError as error:
            raise HttpError(403, error.message, messages=[DEBITS_NOT_ALLOWED]) from None
        except DuplicateOrderError as error:
            raise HttpError(409, error.message, messages=[DUPLICATE]) from None
        except LoginRefusedError as error:
            raise HttpError(400, "credentials: refused by the bank", messages=[_show_login(error.failure)]) from None

    return explained


def _show_login(failure: FailureKind) -> Message:
    code, text = FAILURES[PaymentFailure(failure.value)]
    return Message("ERROR", code, text)


def read_payment_id(text: str | None) -> UUID | None:
    if text is None:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise HttpError(400, "paymentId: expected a UUID") from None


def read_idempotency_key(call: Call) -> str | None:
    key = call.header("idempotency-key")
    if key is not None and not (1 <= len(key) <= MAX_KEY_LENGTH and key.isascii() and key.isprintable()):
        raise HttpError(400, f"Idempotency-Key: expected 1 to {MAX_KEY_LENGTH} printable characters")
    return key


def read_language(call: Call) -> str:
    """In which the caller reads our messages."""
    return choose_language(call.header("accept-language") or "", LANGUAGES)


def read_flag(call: Call, name: str) -> bool:
    text = call.header(name.lower())
    if text is None:
        return False
    if text.strip().lower() not in ("true", "false"):
        raise HttpError(400, f"{name}: expected true or false")
    return text.strip().lower() == "true"


async def show_status(call: Call, view: PaymentView, status: int = 200) -> Answer:
    return json_answer(await show_view(call, view), status)


async def show_view(call: Call, view: PaymentView) -> TransferStatus:
    """What is said about the payees is kept before it is sent."""
    if view.payment.dialogue.is_payee_open:
        language = read_language(call)
        text = write_shown_text(view.payment, language)
        await call.services.payments.evidence.note_shown(call.principal, view.payment, text, language)
    return show_payment(view.payment, view.secrets, call.urls, offers_steps=call.principal.is_regulated)


# Ordering


@operation("POST", PRODUCT + "/payment" + SINGLE, query=OrderQuery, body=NewTransfer, **ORDERED, **TRANSFER)
@explain_refusals
async def initiate_single_transfer(call: Call) -> Answer:
    """Pay from a product with the stored credentials of its access.

    A bank's refusal is no error of the call: the status says so. Redirect tenants get 451.
    """
    return await _order_from_product(call, PaymentKind.SINGLE, NewTransfer)


@operation("POST", PRODUCT + "/payment" + BULK, query=OrderQuery, body=NewBulkTransfer, **ORDERED, **TRANSFER)
@explain_refusals
async def initiate_bulk_transfer(call: Call) -> Answer:
    """Pay several transfers at once from a product.

    As the single transfer, with an array of details.
    """
    return await _order_from_product(call, PaymentKind.BULK, NewBulkTransfer)


@operation("POST", PAYMENT + SINGLE, query=OrderQuery, body=NewTransfer, **ORDERED, **TRANSFER)
@explain_refusals
async def initiate_single_transfer_with_credentials(call: Call) -> Answer:
    """Pay from an account whose bank and credentials come with the order; nothing but the payment is stored.

    Redirect tenants leave provider, credentials and product out and get 451: the user gives them in the web form.
    """
    return await _order_with_credentials(call, PaymentKind.SINGLE, NewTransfer)


@operation("POST", PAYMENT + BULK, query=OrderQuery, body=NewBulkTransfer, **ORDERED, **TRANSFER)
@explain_refusals
async def initiate_bulk_transfer_with_credentials(call: Call) -> Answer:
    """Pay several transfers at once from an account whose bank and credentials come with the order.

    As the single transfer, with an array of details. Nothing but the payment is stored.
    """
    return await _order_with_credentials(call, PaymentKind.BULK, NewBulkTransfer)


async def _order_from_product(
    call: Call, kind: PaymentKind, shape: type[NewTransfer] | type[NewBulkTransfer]
) -> Answer:
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    await call.services.payments.debtors.require_product(call.principal, access_id, product_id)
    request, _ = await _read_order(call, kind, shape)
    debtor = await call.services.payments.debtors.find_stored(call.principal, access_id, product_id, kind)
    return await order_payment(call, debtor, request)


async def _order_with_credentials(
    call: Call, kind: PaymentKind, shape: type[NewTransfer] | type[NewBulkTransfer]
) -> Answer:
    request, body = await _read_order(call, kind, shape)
    debtor = None if not call.principal.is_regulated else await _find_given(call, body, kind)
    return await order_payment(call, debtor, request)


async def _find_given(call: Call, body: NewTransfer | NewBulkTransfer | NewVerification, kind: PaymentKind) -> Debtor:
    if body.provider is None or body.credentials is None or body.product is None:
        missing = next(name for name in ("provider", "credentials", "product") if getattr(body, name) is None)
        raise HttpError(400, f"{missing}: is required")
    return await call.services.payments.debtors.find_given(
        call.principal, body.provider, body.credentials, body.product, kind
    )


async def _read_order(
    call: Call, kind: PaymentKind, shape: type[NewTransfer] | type[NewBulkTransfer]
) -> tuple[PaymentRequest, NewTransfer | NewBulkTransfer]:
    """Headers, query and body, in that order."""
    facts = await read_circumstances(call)
    is_regulated = call.principal.is_regulated
    query = call.query(OrderQuery)
    body: NewTransfer | NewBulkTransfer = await read_order_body(call, shape)
    has_debtor = any(part is not None for part in (body.provider, body.credentials, body.product))
    if has_debtor and not is_regulated:
        raise HttpError(400, "body: this tenant must not send a provider, credentials or a product")
    request = PaymentRequest(
        kind=kind,
        given=body.list_orders(),
        is_instant=body.instant,
        execution_date=body.requestedExecutionDate,
        verification_id=body.vopId,
        is_editable=query.editableDetails and not is_regulated,
        **facts,
    )
    return request, body


async def read_circumstances(call: Call) -> dict[str, Any]:
    """What every order brings beside its body, as fields of a PaymentRequest: headers, then the query."""
    address = read_customer_address(call)
    if address is None:
        raise HttpError(400, "Customer-IP-Address: the header is required")
    prefers_rejection = read_flag(call, "Rejection-NoFunds-Preferred")
    key = read_idempotency_key(call)
    query = call.query(OrderQuery)
    if query.autoConfirm:
        raise OrderError(OrderProblem.NOT_POSSIBLE, "no provider pays without the user", "autoConfirm")
    is_regulated = call.principal.is_regulated
    payment_id = read_payment_id(query.paymentId) if is_regulated else None
    if query.callbackUrl is not None:
        await call.services.redirects.check_callback(call.principal, query.callbackUrl)
    elif is_regulated:
        raise HttpError(400, "callbackUrl: the parameter is required")
    return {
        "payment_id": payment_id,
        "idempotency_key": key,
        "customer_ip": address,
        "callback_url": query.callbackUrl,
        "prefers_rejection": prefers_rejection,
        "asks_settings": query.queryTanSettings,
        "language": read_language(call),
    }


async def read_order_body(call: Call, shape: type[T]) -> T:
    """A field that is missing or of a wrong type is invalid data of a transfer, too."""
    try:
        return await call.json(shape)
    except HttpError as error:
        if error.status == 400 and not error.messages:
            code, text = REFUSALS[OrderProblem.DATA]
            error.messages = [Message("ERROR", code, text, error.message)]
        raise


async def order_payment(call: Call, debtor: Debtor | None, request: PaymentRequest) -> Answer:
    paying = call.services.payments
    if not call.principal.is_regulated:
        draft = await paying.store_draft(call.principal, debtor, request)
        return json_answer(*await open_form(call, draft, request))
    assert debtor is not None
    return await show_status(call, await paying.initiate(call.principal, debtor, request))


async def open_form(
    call: Call, draft: Payment, request: PaymentRequest
) -> tuple[TransferStatus, int, dict[str, str] | None]:
    """Status, code and headers. 451: the user goes on in the redirect frontend."""
    view = await call.services.payments.read_payment(call.principal, draft.id)
    status = await show_view(call, view)
    if draft.state is not PaymentState.DRAFT:
        return status, 200, None
    handle = await call.services.redirects.start_session(
        call.principal,
        UseCase.INITIATE_PAYMENT,
        "",
        request.callback_url,
        request.customer_ip,
        draft.id,
        FormOptions(language=call.query(OrderQuery).language),
    )
    form = call.urls.webform(handle.reveal(), UseCase.INITIATE_PAYMENT)
    status.relations.append(Relation("get_webform", form))
    return status, 451, {"Location": form, "Cache-Control": "no-store"}


# Verification of payees


@operation(
    "POST",
    PRODUCT + "/payment/vop",
    query=VerificationQuery,
    body=NewVerification,
    success=Success(shape=VerificationStatus),
    errors=(404, 409),
    **TRANSFER,
)
@explain_refusals
async def verify_payees(call: Call) -> Answer:
    """Ask whether the payees' names fit their IBANs, before paying from a product.

    Give `vopId` and `paymentId` with the transfer: it then pays without asking again.
    """
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    await call.services.payments.debtors.require_product(call.principal, access_id, product_id)
    payment_id = read_payment_id(call.query(VerificationQuery).paymentId)
    body: NewVerification = await read_order_body(call, NewVerification)
    debtor = await call.services.payments.debtors.find_stored(call.principal, access_id, product_id, body.kind)
    return await _verify(call, debtor, body, payment_id)


@operation(
    "POST",
    PAYMENT + "/vop",
    query=VerificationQuery,
    body=NewVerification,
    success=Success(shape=VerificationStatus),
    errors=(409,),
    **TRANSFER,
)
@explain_refusals
async def verify_payees_with_credentials(call: Call) -> Answer:
    """Ask whether the payees' names fit their IBANs, at a bank whose credentials come with the question.

    Redirect tenants get 400: they have no credentials to send.
    """
    payment_id = read_payment_id(call.query(VerificationQuery).paymentId)
    body: NewVerification = await read_order_body(call, NewVerification)
    if not call.principal.is_regulated:
        raise HttpError(400, "body: this tenant must not send a provider, credentials or a product")
    debtor = await _find_given(call, body, body.kind)
    return await _verify(call, debtor, body, payment_id)


async def _verify(call: Call, debtor: Debtor, body: NewVerification, payment_id: UUID | None) -> Answer:
    verification = await call.services.payments.verifications.verify(
        call.principal, debtor, body.list_orders(), body.kind, payment_id, read_customer_address(call)
    )
    if verification.warnings:
        text = write_message(show_warnings(verification.warnings), read_language(call))
        await call.services.payments.verifications.note_shown(verification, text)
    return json_answer(show_verification(verification))
