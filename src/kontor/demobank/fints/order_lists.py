"""Lists of orders (HKCSB, HKCDB), page by page: each order is a segment of its own with a pain.001."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import TypeVar

from kontor.connectors.pain001 import Batch, write_pain001
from kontor.connectors.pain_messages import Party
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.parameters import PAIN_001
from kontor.demobank.fints.segments import Segment
from kontor.domain.products import Product

WRITTEN = PAIN_001[-1]
T = TypeVar("T")


def accepts_format(exchange: MessageExchange, order: Segment) -> bool:
    """Can the client read what the list is written in? Otherwise the order is refused."""
    if WRITTEN in order.read_group(2):
        return True
    exchange.reply(order, "9210", "Auftrag abgelehnt - Das SEPA-Format wird nicht unterstützt.")
    return False


def show_page(
    exchange: MessageExchange,
    order: Segment,
    orders: Sequence[T],
    touchdown: str,
    page_rows: int,
    describe: Callable[[T], Segment],
) -> None:
    first = int(touchdown) if touchdown.isascii() and touchdown.isdigit() else 0
    if not orders[first:]:
        exchange.reply(order, "3010")
        return
    if len(orders) > first + page_rows:
        exchange.reply(order, "3040", None, str(first + page_rows))
    else:
        exchange.reply(order, "0020")
    for shown in orders[first : first + page_rows]:
        exchange.add(describe(shown), order)


def write_document(product: Product, batch: Batch, day: date) -> bytes:
    debtor = Party(product.holder, product.iban or "", product.bic)
    return write_pain001(debtor, batch, datetime.combine(day, datetime.min.time(), UTC))
