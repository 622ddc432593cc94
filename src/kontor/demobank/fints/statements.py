"""Bookings: HKKAZ (MT940), HKCAZ (camt.052) and DKKKU (cards), page by page; HKWPD for depots (MT535)."""

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from kontor.demobank.faults import Fault
from kontor.demobank.faults.rows import distort_rows, disturb_list, find_first_day
from kontor.demobank.fints.accounts import find_product
from kontor.demobank.fints.camt_parts import write_camt_parts
from kontor.demobank.fints.cards import BROKEN_CARD_ROWS, write_card_page
from kontor.demobank.fints.customers import Customer, Customers, list_balances
from kontor.demobank.fints.dialogues import Cursor, make_room
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.parameters import CAMT_052, name_account_internationally
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.demobank.statements import write_camt052, write_mt535, write_mt940, write_mt942
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day

SHORT_DAYS = 90
BROKEN_ROWS = {
    b":61:": b":61:KAPUTT\r\n:86:166?00KAPUTT\r\n:61:2602310231CRKEINEZAHLNTRFNONREF\r\n:86:166?00KAPUTT\r\n",
    b"<Ntry>": b"<Ntry><Amt>KAPUTT</Amt></Ntry><Ntry><Amt Ccy='EUR'>1.00</Amt><CdtDbtInd>KAPUTT</CdtDbtInd></Ntry>",
}
_ISIN = re.compile(rb":35B:ISIN [A-Z0-9]{12}\r\n(?=/DE/)")
_TOTAL = re.compile(rb":16R:ADDINFO\r\n.*?:16S:ADDINFO\r\n", re.DOTALL)
# Where an order names its dates and its touchdown point.
_DATES = {"HKKAZ": 3, "HKCAZ": 4, "DKKKU": 4}


def needs_tan(exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment) -> bool:
    """Bookings of more than 90 days ago need an authentication in this very dialogue, of those who need one at all."""
    if exchange.visit.fault is Fault.UNEXPECTED_TAN and exchange.find("HKTAN") is not None:
        return True
    is_waived = exchange.dialogue.has_fresh_sca and Mode.OLD_BOOKINGS_ASK not in exchange.modes
    if is_waived or not customers.demands_sca(customer.login):
        return False
    if order.read(_DATES[order.code] + 3) in exchange.dialogue.cursors:
        return False
    since = order.read_day(_DATES[order.code])
    return since is None or since < exchange.today - timedelta(days=SHORT_DAYS)


def show_bookings(
    exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment, page_rows: int
) -> None:
    """One page, and where the next one begins. `order.number` is that of the segment to answer."""
    product = find_product(exchange, customer, order)
    first = _DATES[order.code]
    since, until, touchdown = order.read_day(first), order.read_day(first + 1), order.read(first + 3)
    if product is None:
        return
    is_kind = product.category.is_card if order.code == "DKKKU" else not product.category.is_depot
    if not is_kind or (since is not None and until is not None and since > until):
        exchange.reply(order, "9210")
        return
    if not _is_served(exchange, order, since):
        return
    cursor = _find_rows(exchange, customers, customer, order, product, (since, until, touchdown))
    if cursor is None:
        return
    limit = order.read(first + 2)
    size = min(page_rows, int(limit)) if limit.isascii() and limit.isdigit() and int(limit) else page_rows
    if exchange.visit.fault is Fault.EMPTY_PAGE and not touchdown:
        size = 0
    page, rest = cursor.rows[:size], cursor.rows[size:]
    if not cursor.rows:
        exchange.reply(order, "3010")
        return
    balances = _subtract(cursor.balances, (*rest, *cursor.later))
    if rest:
        make_room(exchange.dialogue.cursors)
        token = secrets.token_hex(8)
        exchange.dialogue.cursors[token] = replace(cursor, rows=rest, is_broken=False)
        exchange.reply(order, "3040", None, token)
    else:
        exchange.reply(order, "0020")
    shown = tuple(disturb_list(distort_rows(page, exchange.visit.plan), exchange.visit))
    if Mode.PENDING_CUT in exchange.modes:
        shown = tuple(row for row in shown if not row.is_pending)
        exchange.reply(order, "3040", "Es liegen zu viele vorgemerkte Umsätze vor.")
        exchange.reply(order, "3040", "Eine Bereitstellung ist technisch nicht möglich.")
    day = min(until or exchange.today, exchange.today)
    answer = _write_page(exchange, order, product, shown, (_subtract(balances, page), balances), day)
    exchange.add(_break_page(answer) if cursor.is_broken else answer, order)


def _is_served(exchange: MessageExchange, order: Segment, since: date | None) -> bool:
    if Mode.ONE_CAMT_VERSION in exchange.modes and order.code == "HKCAZ" and len(order.read_group(2)) != 1:
        exchange.reply(order, "9010", "Camt-Nachrichtenformat ungültig.")
        return False
    oldest = exchange.today - timedelta(days=SHORT_DAYS)
    if Mode.RECENT_ONLY in exchange.modes and since is not None and since < oldest:
        exchange.reply(order, "9210", "Wert widerspricht Bankvorgaben.")
        return False
    return True


def _find_rows(
    exchange: MessageExchange,
    customers: Customers,
    customer: Customer,
    order: Segment,
    product: Product,
    bounds: tuple[date | None, date | None, str],
) -> Cursor | None:
    """What is to be shown from here on. A list goes on as it was when it began."""
    since, until, touchdown = bounds
    if touchdown:
        cursor = exchange.dialogue.cursors.get(touchdown)
        if cursor is None or cursor.order != f"{order.code} {product.key}":
            exchange.reply(order, "9210", "Auftrag abgelehnt - Der Aufsetzpunkt ist unbekannt.")
            return None
        return cursor
    if since is not None:
        since = find_first_day(since, exchange.visit)
    fetched = customers.fetch(customer, product, since, exchange.today)
    rows = fetched.transactions.get(product.key)
    if rows is None:
        exchange.reply(order, "9210", "Auftrag abgelehnt - Die Umsätze sind zurzeit nicht verfügbar.")
        return None
    sound = [row for row in rows if row.is_pending or (row.amount.is_finite() and find_day(row) is not None)]
    last = until or date.max
    shown = tuple(row for row in sound if row.is_pending or (find_day(row) or date.min) <= last)
    later = tuple(row for row in sound if not row.is_pending and (find_day(row) or date.min) > last)
    return Cursor(f"{order.code} {product.key}", shown, later, list_balances(product), is_broken=len(sound) < len(rows))


def _subtract(balances: Mapping[str, Decimal], rows: Iterable[Transaction]) -> dict[str, Decimal]:
    """Balances before these rows."""
    before = dict(balances)
    for row in rows:
        if not row.is_pending:
            before[row.currency] = before.get(row.currency, Decimal(0)) - row.amount
    return before


def _write_page(
    exchange: MessageExchange,
    order: Segment,
    product: Product,
    page: tuple[Transaction, ...],
    balances: tuple[Mapping[str, Decimal], Mapping[str, Decimal]],
    day: date,
) -> Segment:
    """One statement per currency; `balances` are what they begin and end with."""
    opening, closing = balances
    currencies = [name for name in opening if any(row.currency == name for row in page)] or list(opening)[:1]
    pieces = [
        (replace(product, currency=name), [row for row in page if row.currency == name], opening[name], closing[name])
        for name in currencies
    ]
    pending = [row for row in page if row.is_pending]
    if order.code == "DKKKU":
        return write_card_page(order, product, page)
    if order.code == "HKKAZ":
        booked = b"".join(write_mt940(pocket, rows, begin, day=day, closing=end) for pocket, rows, begin, end in pieces)
        interim = b"".join(write_mt942(pocket, rows, day=day) for pocket, rows, _, _ in pieces) if pending else None
        return make_segment("HIKAZ", order.version, booked, interim)
    format_name = next((name for name in order.read_group(2) if name in CAMT_052), CAMT_052[0])
    version = format_name[-2:]
    if Mode.CAMT_IN_PARTS in exchange.modes:
        reports = [write_camt_parts(pocket, rows, begin, version) for pocket, rows, begin, _ in pieces]
        booked_parts, pending_parts = ([part for report in reports for part in report[place]] for place in (0, 1))
        account = name_account_internationally(product)
        return make_segment("HICAZ", order.version, account, format_name, booked_parts or None, pending_parts or None)
    documents = [
        write_camt052(pocket, [row for row in rows if not row.is_pending], begin, day=day, version=version, closing=end)
        for pocket, rows, begin, end in pieces
    ]
    report = None
    if pending:
        pocket, rows, begin, _ = pieces[0]
        report = write_camt052(pocket, [row for row in rows if row.is_pending], begin, day=day, version=version)
    return make_segment("HICAZ", order.version, name_account_internationally(product), format_name, documents, report)


def _break_page(page: Segment) -> Segment:
    """Two bookings more that nobody can read, as bad banks send them."""
    if page.code == "DIKKU":
        return replace(page, elements=(*page.elements, *BROKEN_CARD_ROWS))
    place = 0 if page.code == "HIKAZ" else 2
    group = list(page.elements[place])
    assert isinstance(group[0], bytes)
    for mark, broken in BROKEN_ROWS.items():
        group[0] = group[0].replace(mark, broken + mark, 1)
    return replace(page, elements=(*page.elements[:place], tuple(group), *page.elements[place + 1 :]))


def show_holdings(exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment) -> None:
    product = find_product(exchange, customer, order)
    if product is None:
        return
    if not product.category.is_depot:
        exchange.reply(order, "9210", "Auftrag abgelehnt - Das Konto ist kein Depot.")
        return
    positions = customers.fetch(customer, product, None, exchange.today).positions.get(product.key)
    if positions is None:
        exchange.reply(order, "9210", "Auftrag abgelehnt - Die Aufstellung ist zurzeit nicht verfügbar.")
        return
    exchange.reply(order, "0020")
    statement = write_mt535(product, positions, day=exchange.today)
    if Mode.DEPOT_BY_WKN in exchange.modes:
        statement = _name_by_wkn(statement)
    exchange.add(make_segment("HIWPD", order.version, statement), order)


def _name_by_wkn(statement: bytes) -> bytes:
    """Without ISINs and without a total, and with the price of purchase in lines that look like fields of their own."""
    named = _ISIN.sub(b":35B:", _TOTAL.sub(b"", statement))
    bought = b":70E::HOLD//1STK+511+00081+DE+20240503+\r\n231,07+EUR+\r\n3\r\n4\r\n:16S:FIN"
    return named.replace(b":16S:FIN", bought)
