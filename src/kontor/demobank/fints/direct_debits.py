"""Direct debits: HKDSE and HKDME (CORE), HKBSE and HKBME (B2B) as orders, HKDBS and HKBBS as lists of single ones."""

from datetime import UTC, datetime

from kontor.connectors.base import Pay
from kontor.connectors.pain008 import DebitBatch, write_pain008
from kontor.connectors.pain008_reading import read_pain008
from kontor.connectors.pain_messages import Party
from kontor.connectors.statements import StatementError
from kontor.demobank.fints.accounts import find_product
from kontor.demobank.fints.credit_transfers import TransferDocument, TransferError
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.order_lists import show_page
from kontor.demobank.fints.parameters import PAIN_008, name_account_internationally
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.domain.demo_books import ScheduledCollection
from kontor.domain.direct_debits import read_creditor_id
from kontor.domain.mandates import DebitForm, DebitScheme
from kontor.domain.products import Product

FORMS = {
    "HKDSE": DebitForm.CORE_SINGLE,
    "HKDME": DebitForm.CORE_BULK,
    "HKBSE": DebitForm.B2B_SINGLE,
    "HKBME": DebitForm.B2B_BULK,
}
BULK = frozenset(("HKDME", "HKBME"))
LISTS = {"HKDBS": DebitScheme.CORE, "HKBBS": DebitScheme.B2B}


def read_debit_job(customer: Customer, order: Segment) -> tuple[TransferDocument, Pay]:
    """Raises TransferError, whose text is for the sender."""
    is_bulk = order.code in BULK
    _check_format(order.read(4 if is_bulk else 2))
    try:
        (block, *others) = read_pain008(order.read_binary(5 if is_bulk else 3))
    except StatementError:
        raise TransferError("Die SEPA-Nachricht ist keine lesbare Lastschrift.") from None
    if others:
        raise TransferError("Die SEPA-Nachricht muss genau einen Auftragsblock enthalten.")
    if block.debit.form is not FORMS[order.code]:
        raise TransferError("Die Lastschriftart passt nicht zum Geschäftsvorfall.")
    if read_creditor_id(block.debit.creditor_id) != block.debit.creditor_id:
        raise TransferError("Die Gläubiger-Identifikationsnummer ist ungültig.")
    product = customer.find_product(order.read(1, 0), order.read(1, 2))
    if product is None or product.iban != block.creditor_iban:
        raise TransferError("Auftrag abgelehnt - Das Konto ist der Bank nicht bekannt.")
    total = order.read_amount(2) if is_bulk else None
    if total is not None and total != sum(debit.amount for debit in block.orders):
        raise TransferError("Die Summe stimmt nicht mit den Aufträgen überein.")
    document = TransferDocument(block.message_id, block.creditor_iban, block.orders, block.day)
    job = Pay(
        payment_id=document.find_payment_id(customer.login),
        product_key=product.key,
        orders=block.orders,
        is_bulk=is_bulk,
        execution_date=block.day,
        is_payee_accepted=True,
        debit=block.debit,
    )
    return document, job


def _check_format(descriptor: str) -> None:
    if not any(namespace.rpartition(":")[2] in descriptor for namespace in PAIN_008):
        raise TransferError("Das SEPA-Format wird nicht unterstützt.")


def show_list(
    exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment, page_rows: int
) -> None:
    product = find_product(exchange, customer, order)
    if product is None:
        return
    schema = next((name for name in reversed(PAIN_008) if name in order.read_group(2)), None)
    if schema is None:
        exchange.reply(order, "9210", "Auftrag abgelehnt - Das SEPA-Format wird nicht unterstützt.")
        return
    listed = [
        waiting
        for waiting in customers.list_collections(customer.login, product, exchange.today)
        if waiting.collection.debit.scheme is LISTS[order.code] and len(waiting.collection.orders) == 1
    ]
    answer = f"HI{order.code[2:]}"
    show_page(
        exchange, order, listed, order.read(6), page_rows, lambda waiting: _describe(answer, schema, product, waiting)
    )


def _describe(answer: str, schema: str, product: Product, waiting: ScheduledCollection) -> Segment:
    creditor = Party(product.holder, product.iban or "", product.bic)
    collection = waiting.collection
    batch = DebitBatch(waiting.payment_id.hex, collection.orders, collection.debit, waiting.day)
    noted_at = datetime.combine(waiting.day, datetime.min.time(), UTC)
    document = write_pain008(creditor, batch, noted_at, schema.rpartition(":")[2])
    name = f"LS{waiting.payment_id.hex[:16].upper()}"
    account = name_account_internationally(product)
    return make_segment(answer, 1, account, schema, document, name, False, False)
