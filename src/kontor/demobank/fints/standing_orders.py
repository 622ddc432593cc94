"""Standing orders: HKCDE, HKCDN and HKCDL as the details of an order, HKCDB as a list."""

from datetime import date

from kontor.connectors.pain001 import Batch
from kontor.demobank.fints.accounts import find_product
from kontor.demobank.fints.credit_transfers import TransferError
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.order_lists import WRITTEN, accepts_format, show_page, write_document
from kontor.demobank.fints.parameters import name_account_internationally
from kontor.demobank.fints.segments import Segment, WireError, Writable, make_segment, parse_day
from kontor.domain.demo_books import StandingOrderAction
from kontor.domain.products import Product
from kontor.domain.schedules import Period, Schedule, StandingAction, StandingInstruction

ACTIONS = {"HKCDE": StandingAction.CREATE, "HKCDN": StandingAction.CHANGE, "HKCDL": StandingAction.DELETE}
PERIODS = {("W" if period.weeks else "M", str(period.weeks or period.months)): period for period in Period}
NO_DAY = date(1999, 1, 1)  # what stands in a pain.001 that names no day


def read_instruction(order: Segment) -> StandingInstruction | None:
    """None for an order that is about no standing order."""
    action = ACTIONS.get(order.code)
    if action is None:
        return None
    is_new = action is StandingAction.CREATE
    first, unit, interval, day, last = (*order.read_group(4 if is_new else 6), *("",) * 5)[:5]
    period = PERIODS.get((unit, interval.lstrip("0")))
    if period is None:
        raise TransferError("Dieser Turnus wird nicht angeboten.")
    if not day.isdigit():
        raise TransferError("Der Ausführungstag fehlt.")
    try:
        start, end = parse_day(first), parse_day(last) if last else None
    except WireError:
        raise TransferError("Die Ausführungstage sind ungültig.") from None
    chosen = None if period.weeks or int(day) == start.day else int(day)
    key = None if is_new else order.read(5)
    if not is_new and not key:
        raise TransferError("Die Auftragsidentifikation fehlt.")
    return StandingInstruction(action, Schedule(period, start, end, chosen), key)


def show_list(
    exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment, page_rows: int
) -> None:
    product = find_product(exchange, customer, order)
    if product is None:
        return
    if not accepts_format(exchange, order):
        return
    wanted = order.read(3)
    actions = customers.list_standing_order_actions(customer.login, product, exchange.today)
    actions = [action for action in actions if not wanted or action.name == wanted]
    show_page(exchange, order, actions, order.read(5), page_rows, lambda action: _describe(product, action))


def _describe(product: Product, action: StandingOrderAction) -> Segment:
    document = write_document(product, Batch(action.payment_id.hex, (action.order,), NO_DAY), action.valid_from)
    account = name_account_internationally(product)
    return make_segment(
        "HICDB", 1, account, WRITTEN, document, action.name, write_details(action.schedule), None, True, False, True
    )


def write_details(schedule: Schedule) -> tuple[Writable, ...]:
    period = schedule.period
    day = schedule.first.isoweekday() if period.weeks else schedule.day or schedule.first.day
    return (schedule.first, "W" if period.weeks else "M", period.weeks or period.months, day, schedule.last)
