"""Orders from a pain.001 or pain.008 file: one payment per PmtInf."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from hashlib import sha256
from uuid import UUID, uuid5

from kontor.connectors import pain001_files, pain008_files
from kontor.connectors.pain001_reading import PaymentBlock
from kontor.connectors.pain008_reading import DebitBlock
from kontor.connectors.statements import StatementError
from kontor.domain.direct_debits import DebitFields, check_debit_support
from kontor.domain.order_checks import OrderError, OrderFields, OrderProblem, check_execution_date, check_orders
from kontor.domain.payments import PaymentKind
from kontor.domain.principals import Principal
from kontor.domain.products import Product
from kontor.services.payments.debtors import check_support
from kontor.services.payments.requests import PaymentRequest, check_collector, check_request
from kontor.services.runtime import Clock

MAX_BLOCKS = 10
AT_ONCE = date(1999, 1, 1)  # what programs write that mean no day
_NAMESPACE = UUID("5b3f1c0a-7f53-5c55-8e0b-9b6d2d0d7f40")


class PaymentFiles:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def read(
        self, principal: Principal, document: bytes, base: PaymentRequest, product: Product, product_id: UUID
    ) -> list[PaymentRequest]:
        """What a pain.001 or pain.008 file orders for a product. Raises as `read_file`."""
        return read_file(principal, document, base, product, product_id, self._clock.today())


def read_file(
    principal: Principal, document: bytes, base: PaymentRequest, product: Product, product_id: UUID, today: date
) -> list[PaymentRequest]:
    """What is to be ordered, in the file's order. Raises OrderError for what no bank is to see.

    Raises DebitsNotAllowedError for direct debits that this client, or the creditor, may not collect.

    `base` has what came beside the file. Without a payment id of the caller, ids follow from product and file: the same
    file is the same payments.
    """
    try:
        blocks = _read_blocks(principal, document)
    except StatementError as error:
        raise OrderError(OrderProblem.DATA, str(error)) from None
    if len(blocks) > MAX_BLOCKS:
        raise OrderError(OrderProblem.DATA, f"at most {MAX_BLOCKS} can be ordered at once", "PmtInf")
    first_id = base.payment_id or uuid5(_NAMESPACE, f"{product_id} {sha256(document).hexdigest()}")
    requests = []
    for number, block in enumerate(blocks):
        if isinstance(block, DebitBlock):
            request = _make_debit_request(principal, block, base, number, product, today)
        else:
            request = _make_request(block, base, number, product, today)
        payment_id, key = first_id, base.idempotency_key
        if len(blocks) > 1:
            payment_id = uuid5(first_id, str(number))
            key = None if key is None else f"{key}#{number}"
        requests.append(replace(request, payment_id=payment_id, idempotency_key=key))
    return requests


def _read_blocks(principal: Principal, document: bytes) -> Sequence[PaymentBlock | DebitBlock]:
    form = pain001_files.find_form(document)
    if form in pain001_files.FORMS:
        return pain001_files.read_payment_file(document)
    if form in pain008_files.FORMS:
        check_collector(principal)
        return pain008_files.read_debit_file(document)
    *others, last = (*pain001_files.FORMS, *pain008_files.FORMS)
    raise StatementError(f"This is no {', '.join(others)} or {last} document.")


def _make_debit_request(
    principal: Principal, block: DebitBlock, base: PaymentRequest, number: int, product: Product, today: date
) -> PaymentRequest:
    place = f"PmtInf[{number}]"
    if "".join(block.creditor_iban.split()).upper() != product.iban:
        raise OrderError(OrderProblem.DATA, "is not the account of this product", f"{place}.CdtrAcct")
    request = replace(
        base,
        kind=PaymentKind.DIRECT_DEBIT,
        given=block.orders,
        execution_date=block.day,
        is_payee_accepted=True,
        debit=block.debit,
        debit_fields=_name_debit_fields(place),
    )
    check_request(principal, request, today)
    check_debit_support(product, block.debit)
    return request


def _make_request(
    block: PaymentBlock, base: PaymentRequest, number: int, product: Product, today: date
) -> PaymentRequest:
    place = f"PmtInf[{number}]"
    if "".join(block.debtor_iban.split()).upper() != product.iban:
        raise OrderError(OrderProblem.DATA, "is not the account of this product", f"{place}.DbtrAcct")
    kind = PaymentKind.BULK if len(block.orders) > 1 else PaymentKind.SINGLE
    check_support(product, kind)
    fields = _name_fields(place)
    check_orders(block.orders, is_bulk=kind is PaymentKind.BULK, fields=fields)
    day = None if block.day == AT_ONCE else block.day
    check_execution_date(day, today, fields, is_instant=block.is_instant)
    return replace(
        base,
        kind=kind,
        given=block.orders,
        is_instant=block.is_instant,
        execution_date=day if day != today else None,
        fields=fields,
    )


def _name_fields(place: str) -> OrderFields:
    """Names of the document's elements, for who reads what is wrong."""
    return OrderFields(
        recipient="Cdtr",
        iban="CdtrAcct",
        bic="CdtrAgt",
        amount="InstdAmt",
        currency="InstdAmt.Ccy",
        purpose="RmtInf",
        end_to_end_id="EndToEndId",
        purpose_code="Purp",
        ultimate_debtor="UltmtDbtr",
        ultimate_creditor="UltmtCdtr",
        execution_date=f"{place}.ReqdExctnDt",
        place=f"{place}.CdtTrfTxInf",
    )


def _name_debit_fields(place: str) -> DebitFields:
    orders = OrderFields(
        recipient="Dbtr",
        iban="DbtrAcct",
        bic="DbtrAgt",
        amount="InstdAmt",
        currency="InstdAmt.Ccy",
        purpose="RmtInf",
        end_to_end_id="EndToEndId",
        purpose_code="Purp",
        ultimate_debtor="UltmtDbtr",
        ultimate_creditor="UltmtCdtr",
        execution_date=f"{place}.ReqdColltnDt",
        place=f"{place}.DrctDbtTxInf",
    )
    return DebitFields(
        orders,
        creditor_id=f"{place}.CdtrSchmeId",
        mandate_id="MndtId",
        mandate_date="DtOfSgntr",
        sequence="SeqTp",
    )
