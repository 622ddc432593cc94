"""Payments from a file that a customer's program has written."""

from kontor.api.answers import Answer, HttpError, json_answer
from kontor.api.customer_v2.payments import (
    ORDER_HEADERS,
    PRODUCT,
    TRANSFER,
    OrderQuery,
    explain_refusals,
    open_form,
    read_circumstances,
    show_view,
)
from kontor.api.operations import Call, Success, operation
from kontor.domain.payments import PaymentKind
from kontor.services.payments import PaymentRequest
from kontor.wire.payments import TransferStatus

XML = "application/xml"


@operation(
    "POST",
    PRODUCT + "/payment/file",
    query=OrderQuery,
    body=str,
    body_media_type=XML,
    headers=ORDER_HEADERS,
    success=Success(shape=list[TransferStatus]),
    other_shapes={451: list[TransferStatus]},
    errors=(404, 409),
    **TRANSFER,
)
@explain_refusals
async def order_payment_file(call: Call) -> Answer:
    """Order what a pain.001.001.03 or .09 file contains: one transfer per PmtInf, a bulk transfer where it has several.

    A pain.008.001.02 or .08 file is collected: direct debits, one order per PmtInf. The own account must be the
    product's. Nothing is ordered unless everything can be. The same file again is the same payments, unless its
    `paymentId` is another. Redirect tenants get 451, for one PmtInf only.
    """
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    paying = call.services.payments
    product = await paying.debtors.find_product(call.principal, access_id, product_id)
    facts = await read_circumstances(call)
    base = PaymentRequest(kind=PaymentKind.SINGLE, given=(), **facts)
    requests = paying.files.read(call.principal, await call.read_body(), base, product, product_id)
    debtor = await paying.debtors.find_stored(call.principal, access_id, product_id, requests[0].kind)
    if call.principal.is_regulated:
        views = await paying.initiate_all(call.principal, debtor, requests)
        return json_answer([await show_view(call, view) for view in views])
    if len(requests) > 1:
        raise HttpError(400, "PmtInf: this tenant can order one at a time")
    draft = await paying.store_draft(call.principal, debtor, requests[0])
    status, code, headers = await open_form(call, draft, requests[0])
    return json_answer([status], code, headers)
