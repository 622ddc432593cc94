"""The list of dated transfers: HKCSB, page by page. One HICSB with a pain.001 for each."""

from datetime import UTC, datetime

from kontor.connectors.pain001 import Batch, Debtor, write_pain001
from kontor.demobank.fints.accounts import find_product
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.parameters import PAIN_001, name_account_internationally
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.demobank.fints.turns import Turn
from kontor.domain.demo_books import ScheduledTransfer
from kontor.domain.payments import Order
from kontor.domain.products import Product

WRITTEN = PAIN_001[-1]


def show_list(turn: Turn, customers: Customers, customer: Customer, order: Segment, page_rows: int) -> None:
    product = find_product(turn, customer, order)
    if product is None:
        return
    if WRITTEN not in order.read_group(2):
        turn.reply(order, "9210", "Auftrag abgelehnt - Das SEPA-Format wird nicht unterstützt.")
        return
    touchdown = order.read(6)
    first = int(touchdown) if touchdown.isascii() and touchdown.isdigit() else 0
    transfers = customers.list_scheduled(customer.login, product, turn.today)
    if not transfers[first:]:
        turn.reply(order, "3010")
        return
    if len(transfers) > first + page_rows:
        turn.reply(order, "3040", None, str(first + page_rows))
    else:
        turn.reply(order, "0020")
    for transfer in transfers[first : first + page_rows]:
        turn.add(_describe(product, transfer), order)


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
    batch = Batch(transfer.payment_id.hex, (order,), transfer.day)
    debtor = Debtor(product.holder, product.iban or "", product.bic)
    return write_pain001(debtor, batch, datetime.combine(transfer.day, datetime.min.time(), UTC))


def _name(transfer: ScheduledTransfer) -> str:
    """The bank's own name of the order."""
    return f"TU{transfer.payment_id.hex[:16].upper()}"
