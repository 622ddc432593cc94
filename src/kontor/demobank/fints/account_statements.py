"""Account statements: HKKAU lists them, HKEKA and HKEKP hand them out as PDF, HKQTG acknowledges one.

Each comes with an acknowledgement code, and counts as received once a client has sent the code back.
"""

import base64
from dataclasses import dataclass, field
from datetime import date

from kontor.connectors.demo.account_statements import draw_statement, list_statements
from kontor.demobank.fints.accounts import find_product
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.order_lists import show_page
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.domain.account_statements import AccountStatement
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction

PDF = "3"
# Of the list: acknowledged, or still to be.
ACKNOWLEDGED, OPEN = "1", "2"
# Where an order names the number; year, highest count and touchdown point follow.
_NUMBER = {"HKEKA": 3, "HKEKP": 2}


@dataclass(slots=True)
class Receipts:
    """Codes of the statements that customers have acknowledged since the server began: of login and code."""

    _codes: set[tuple[str, bytes]] = field(default_factory=set)

    def add(self, customer: Customer, code: bytes) -> None:
        self._codes.add((customer.login, code))

    def has(self, customer: Customer, product: Product, statement: AccountStatement) -> bool:
        return (customer.login, _make_code(product, statement)) in self._codes


def needs_tan(exchange: MessageExchange) -> bool:
    return Mode.STATEMENTS_ASK in exchange.modes and not exchange.dialogue.has_fresh_sca


def show_list(
    exchange: MessageExchange,
    customers: Customers,
    customer: Customer,
    order: Segment,
    page_rows: int,
    receipts: Receipts,
) -> None:
    product = find_product(exchange, customer, order)
    if product is None or not _is_served(exchange, order, product):
        return

    def describe(statement: AccountStatement) -> Segment:
        state = ACKNOWLEDGED if receipts.has(customer, product, statement) else OPEN
        created = (statement.year, statement.created_on, "060000")
        return make_segment("HIKAU", order.version, statement.number, state, True, *created)

    listed = list_statements(_read_rows(exchange, customers, customer, product), exchange.today)
    show_page(exchange, order, listed, order.read(3), page_rows, describe)


def show_statement(
    exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment, receipts: Receipts
) -> None:
    """The file that is named, else those that nobody has acknowledged: the oldest first, one in each answer."""
    product = find_product(exchange, customer, order)
    if product is None or not _is_served(exchange, order, product):
        return
    if order.code == "HKEKA" and order.read(2) not in ("", PDF):
        exchange.reply(order, "9210", "Auftrag abgelehnt - Das Format wird nicht angeboten.")
        return
    place = _NUMBER[order.code]
    rows = _read_rows(exchange, customers, customer, product)
    listed = list_statements(rows, exchange.today)
    number, year = order.read(place).lstrip("0"), order.read(place + 1)
    oldest_first = [item for item in reversed(listed) if year in ("", str(item.year))]
    if number:
        found = [item for item in oldest_first if str(item.number) == number][-1:]
    else:
        # A code that arrives between two answers shortens what is left, and skips nothing.
        start = order.read(place + 3)
        left = oldest_first[int(start) if start.isdecimal() else 0 :]
        found = [item for item in left if not receipts.has(customer, product, item)]
    if not found:
        exchange.reply(order, "3010")
        return
    if found[1:]:
        exchange.reply(order, "3040", None, str(oldest_first.index(found[1])))
    else:
        exchange.reply(order, "0020")
    exchange.add(_write_file(order, product, draw_statement(product, rows, found[0])), order)


def acknowledge(
    exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment, receipts: Receipts
) -> None:
    """Only a code of the customer's own statements counts."""
    code = order.read_binary(1)
    for product in customer.products:
        if _has_statements(product) and code.startswith(product.key.encode()):
            listed = list_statements(_read_rows(exchange, customers, customer, product), exchange.today)
            if code in {_make_code(product, statement) for statement in listed}:
                receipts.add(customer, code)
                exchange.reply(order, "0020")
                return
    exchange.reply(order, "9210", "Auftrag abgelehnt - Der Quittungscode ist der Bank nicht bekannt.")


def _is_served(exchange: MessageExchange, order: Segment, product: Product) -> bool:
    if not _has_statements(product):
        exchange.reply(order, "9210", "Auftrag abgelehnt - Für dieses Konto gibt es keine Auszüge.")
        return False
    return True


def _read_rows(
    exchange: MessageExchange, customers: Customers, customer: Customer, product: Product
) -> tuple[Transaction, ...]:
    return customers.fetch(customer, product, None, exchange.today).transactions.get(product.key, ())


def _has_statements(product: Product) -> bool:
    return not (product.category.is_depot or product.category.is_card)


def _make_code(product: Product, statement: AccountStatement) -> bytes:
    return f"{product.key} {statement.year}/{statement.number}".encode()


def _write_file(order: Segment, product: Product, statement: AccountStatement) -> Segment:
    content = statement.content or b""
    period: tuple[date | None, ...] = (statement.starts_on, statement.ends_on)
    receipt = _make_code(product, statement)
    numbers = (statement.created_on, statement.year, statement.number)
    owner = (product.iban, product.bic, product.holder[:35], None, None)
    if order.code == "HKEKA":
        told = numbers if order.version >= 5 else ()
        return make_segment("HIEKA", order.version, PDF, period, *told, content, None, None, None, *owner, receipt)
    if order.version == 1:
        # The first version has Base64 in a binary element.
        return make_segment("HIEKP", 1, base64.b64encode(content), receipt)
    name = f"Kontoauszug_{statement.year}_{statement.number}.pdf"
    return make_segment("HIEKP", 2, content, period, *numbers, *owner, name, receipt)
