"""Direct debits: collecting them, and the status of what was ordered."""

from functools import wraps

from msgspec.structs import replace

from kontor.api.answers import Answer, HttpError
from kontor.api.customer_v2.payment_answers import ANSWERED, STATUS, answer_body, answer_step, find_payment
from kontor.api.customer_v2.payments import (
    ORDERED,
    PAYMENT,
    PRODUCT,
    TRANSFER,
    Handler,
    OrderQuery,
    explain_refusals,
    order_payment,
    read_circumstances,
    read_order_body,
    show_status,
)
from kontor.api.operations import Call, operation
from kontor.domain.direct_debits import check_debit_support
from kontor.domain.payments import PaymentKind
from kontor.domain.sca_machine import AnswerKind
from kontor.services.payments import PaymentRequest, check_collector
from kontor.wire.consents import ScaAnswer
from kontor.wire.direct_debits import NewDirectDebit
from kontor.wire.payment_messages import name_debits

DIRECT_DEBIT = "/direct-debit"
STATUS_OF_ONE = PAYMENT + DIRECT_DEBIT + "/{payment-id}"
KINDS = (PaymentKind.DIRECT_DEBIT,)


def explain_debit_refusals(handler: Handler) -> Handler:
    """As `explain_refusals`, in words about direct debits."""
    explained = explain_refusals(handler)

    @wraps(handler)
    async def named(call: Call) -> Answer:
        try:
            return await explained(call)
        except HttpError as error:
            error.messages = [replace(message, message=name_debits(message.message)) for message in error.messages]
            raise

    return named


@operation("POST", PRODUCT + "/payment" + DIRECT_DEBIT, query=OrderQuery, body=NewDirectDebit, **ORDERED, **TRANSFER)
@explain_debit_refusals
async def initiate_direct_debit(call: Call) -> Answer:
    """Collect direct debits for a product with the stored credentials of its access.

    403 unless the client was made for direct debits and the creditor identifier is valid. Payees are not verified.
    Redirect tenants get 451.
    """
    check_collector(call.principal)
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    product = await call.services.payments.debtors.find_product(call.principal, access_id, product_id)
    facts = await read_circumstances(call)
    body = await read_order_body(call, NewDirectDebit)
    debit = body.to_instruction()
    request = PaymentRequest(
        kind=PaymentKind.DIRECT_DEBIT,
        given=body.list_orders(),
        execution_date=body.requestedCollectionDate,
        is_payee_accepted=True,
        debit=debit,
        **facts,
    )
    call.services.payments.check(call.principal, request)
    check_debit_support(product, debit)
    debtor = await call.services.payments.debtors.find_stored(call.principal, access_id, product_id, request.kind)
    return await order_payment(call, debtor, request)


# Status and answers


@operation("GET", STATUS_OF_ONE, **STATUS, **TRANSFER)
async def get_direct_debit(call: Call) -> Answer:
    """Read where direct debits stand.

    The bank is not asked.
    """
    return await show_status(call, await find_payment(call, KINDS))


@operation("POST", STATUS_OF_ONE, body=ScaAnswer, **ANSWERED, **TRANSFER)
@explain_debit_refusals
async def answer_direct_debit(call: Call) -> Answer:
    """Answer the open step: a method, a medium, a TAN, or a confirmation in the app.

    The relations of the status tell which step is open; 409 where it is another.
    """
    return await answer_body(call, KINDS)


@operation("GET", STATUS_OF_ONE + "/poll", **ANSWERED, **TRANSFER)
async def poll_direct_debit(call: Call) -> Answer:
    """Ask the bank whether the user has confirmed in the app.

    409 where no app has anything to confirm.
    """
    return await answer_step(call, await find_payment(call, KINDS), AnswerKind.CONFIRMED, "")


@operation("POST", STATUS_OF_ONE + "/cancel", **ANSWERED, **TRANSFER)
async def cancel_direct_debit(call: Call) -> Answer:
    """Cancel what was not sent yet.

    409 with the status where the order was sent to the bank.
    """
    return await answer_step(call, await find_payment(call, KINDS), AnswerKind.CANCEL, "")
