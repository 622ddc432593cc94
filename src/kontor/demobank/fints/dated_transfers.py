"""The list of dated transfers: HKCSB, page by page. One HICSB with a pain.001 for each."""

from kontor.connectors.pain001 import Batch
from kontor.demobank.fints.accounts import find_product
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.order_lists import WRITTEN, accepts_format, show_page, write_document
from kontor.demobank.fints.parameters import name_account_internationally
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.domain.demo_books import ScheduledTransfer
from kontor.domain.payments import Order
from kontor.domain.products import Product


def show_list(
    exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment, page_rows: int
) -> None:
    product = find_product(exchange, customer, order)
    if product is None:
        return
    if not accepts_format(exchange, order):
        return
    transfers = customers.list_scheduled(customer.login, product, exchange.today)
    show_page(exchange, order, transfers, order.read(6), page_rows, lambda transfer: _describe(product, transfer))


def _describe(product: Product, transfer: ScheduledTransfer) -> Segment:
    account = name_account_internationally(product)
    return make_segment("HICSB", 1, account, WRITTEN, _write_document(product, transfer), _name(transfer), False, False)


def _write_document(product: Product, transfer: ScheduledTransfer) -> bytes:
    reference, _, purpose = transfer.purpose.removeprefix("EREF+").partition(" SVWZ+")
    order = Order(
        recipient=transfer.recipient,
        iban=transfer.iban,
        amount=transfer.amount,
        currency=transfer.currency,
        purpose=purpose,
        bic=transfer.bic,
        end_to_end_id=reference,
    )
    return write_document(product, Batch(transfer.payment_id.hex, (order,), transfer.day), transfer.day)


def _name(transfer: ScheduledTransfer) -> str:
    """The bank's own name of the order."""
    return f"TU{transfer.payment_id.hex[:16].upper()}"
