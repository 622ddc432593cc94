"""Account statements: HKKAU lists them, HKEKA and HKEKP hand them out as PDF.

Each comes with an acknowledgement code. The bank takes no acknowledgement, so that all count as not received.
"""

from datetime import date

from kontor.connectors.demo.account_statements import draw_statement, list_statements
from kontor.demobank.fints.accounts import find_product
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.order_lists import show_page
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.demobank.fints.turns import Turn
from kontor.domain.account_statements import AccountStatement
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction

PDF = "3"
OPEN = "2"  # the acknowledgement is still to come
# Where an order names number, year and touchdown point.
_NUMBER = {"HKEKA": 3, "HKEKP": 2}


def needs_tan(turn: Turn) -> bool:
    return Mode.STATEMENTS_ASK in turn.modes and not turn.dialogue.has_fresh_sca


def show_list(turn: Turn, customers: Customers, customer: Customer, order: Segment, page_rows: int) -> None:
    product = find_product(turn, customer, order)
    if product is None or not _is_served(turn, order, product):
        return
    listed = list_statements(_read_rows(turn, customers, customer, product), turn.today)
    show_page(turn, order, listed, order.read(3), page_rows, lambda statement: _describe(order, statement))


def show_statement(turn: Turn, customers: Customers, customer: Customer, order: Segment) -> None:
    """One file: the one that is named, else the oldest that nobody has acknowledged."""
    product = find_product(turn, customer, order)
    if product is None or not _is_served(turn, order, product):
        return
    if order.code == "HKEKA" and order.read(2) not in ("", PDF):
        turn.reply(order, "9210", "Auftrag abgelehnt - Das Format wird nicht angeboten.")
        return
    place = _NUMBER[order.code]
    rows = _read_rows(turn, customers, customer, product)
    listed = list_statements(rows, turn.today)
    wanted = (order.read(place), order.read(place + 1))
    if wanted == ("", ""):
        found = listed[-1:]
    else:
        found = [statement for statement in listed if (str(statement.number), str(statement.year)) == wanted]
    if not found:
        turn.reply(order, "3010")
        return
    turn.reply(order, "0020")
    turn.add(_write_file(order, product, draw_statement(product, rows, found[0])), order)


def _is_served(turn: Turn, order: Segment, product: Product) -> bool:
    if product.category.is_depot or product.category.is_card:
        turn.reply(order, "9210", "Auftrag abgelehnt - Für dieses Konto gibt es keine Auszüge.")
        return False
    return True


def _read_rows(turn: Turn, customers: Customers, customer: Customer, product: Product) -> tuple[Transaction, ...]:
    return customers.fetch(customer, product, None, turn.today).transactions.get(product.key, ())


def _describe(order: Segment, statement: AccountStatement) -> Segment:
    return make_segment(
        "HIKAU", order.version, statement.number, OPEN, True, statement.year, statement.created_on, "060000"
    )


def _write_file(order: Segment, product: Product, statement: AccountStatement) -> Segment:
    content = statement.content or b""
    period: tuple[date | None, ...] = (statement.starts_on, statement.ends_on)
    receipt = f"{product.key} {statement.year}/{statement.number}".encode()
    numbers = (statement.created_on, statement.year, statement.number)
    owner = (product.iban, product.bic, product.holder[:35], None, None)
    if order.code == "HKEKA":
        told = numbers if order.version >= 5 else ()
        return make_segment("HIEKA", order.version, PDF, period, *told, content, None, None, None, *owner, receipt)
    if order.version == 1:
        return make_segment("HIEKP", 1, content, receipt)
    name = f"Kontoauszug_{statement.year}_{statement.number}.pdf"
    return make_segment("HIEKP", 2, content, period, *numbers, *owner, name, receipt)
