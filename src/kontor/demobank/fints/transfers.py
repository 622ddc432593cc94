"""Payments: HKCCS, HKIPZ and HKCSE (dated) for one order, HKCCM, HKIPM and HKCME (dated) for several; direct debits.

The payee is verified first (`payee_checks.py`). If the name fits, the challenge comes at once. If not, the client shows
the result and sends the order again with HKVPA. For a bulk the result takes a while: the client asks for it with HKVPP.
"""

from dataclasses import replace
from datetime import date
from hashlib import sha256

from kontor.connectors.base import NeedMethod, NeedPayeeDecision, Pay
from kontor.demobank.fints import challenges, payee_checks
from kontor.demobank.fints.credit_transfers import TransferDocument, TransferError, read_transfer
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.dialogues import PayeeCheck
from kontor.demobank.fints.direct_debits import BULK as DEBIT_BULK
from kontor.demobank.fints.direct_debits import FORMS as DEBITS
from kontor.demobank.fints.direct_debits import read_debit_job
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.parameters import LEAD_DAYS, PAIN_001
from kontor.demobank.fints.segments import Segment
from kontor.demobank.fints.standing_orders import read_instruction
from kontor.domain.payments import PayeeMatch, PayeeResult
from kontor.domain.schedules import StandingAction

BULK = frozenset(("HKCCM", "HKIPM", "HKCME", *DEBIT_BULK))
DATED = frozenset(("HKCSE", "HKCME"))
INSTANT = frozenset(("HKIPZ", "HKIPM"))
# What `Mode.STRICT_DOCUMENT` wants in a pain.001, and what not.
ACCOUNT_CURRENCY, NO_BIC = b"</Id><Ccy>EUR</Ccy></DbtrAcct>", b"<DbtrAgt><FinInstnId><Othr>"


def transfer(exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment) -> None:
    tan_request = challenges.find_first_step(exchange)
    try:
        document, job = _read_job(customer, order, exchange.today)
    except TransferError as error:
        exchange.reply(order, "9210", str(error))
        return
    if tan_request is None:
        exchange.abort(order, "9075")
        return
    if _refuse_by_mode(exchange, order, tan_request):
        return
    approval, asked = exchange.find("HKVPA"), exchange.find("HKVPP")
    digest = sha256(_read_document(order)).hexdigest()
    if approval is not None:
        known = exchange.dialogue.checks.pop(approval.read_binary(1), None)
        if known is None or known.digest != digest:
            exchange.reply(approval, "9210", "Auftrag abgelehnt - Die VOP-ID gehört nicht zu diesem Auftrag.")
            return
        exchange.reply(approval, "0020", "Ausführungsbestätigung nach Namensabgleich erhalten.")
        job = replace(job, is_payee_accepted=True)
    if (
        job.standing is not None
        and job.standing.action is StandingAction.CREATE
        and job.standing.schedule.first <= (exchange.today)
    ):
        exchange.reply(order, "9210", "Auftrag abgelehnt - Die erste Ausführung liegt nicht in der Zukunft.")
        return
    if customers.is_known_payment(customer.login, job.payment_id, exchange.today):
        exchange.reply(order, "9210", "Auftrag abgelehnt - Die Nachricht wurde bereits eingereicht.")
        return
    check = PayeeCheck(document, job, digest, tan_request)
    if asked is not None and (job.is_bulk or exchange.modes & payee_checks.LATER):
        payee_checks.postpone(exchange, asked, check)
        return
    _go_on(exchange, customers, customer, order, check)


def _refuse_by_mode(exchange: MessageExchange, order: Segment, tan_request: Segment) -> bool:
    """What strict banks refuse, and others take."""
    approval = exchange.find("HKVPA")
    if Mode.SUM_REQUIRED in exchange.modes and order.code in BULK and not order.read(2):
        exchange.reply(order, "9010", "Summenfeld nicht vorhanden.")
    elif Mode.APPROVAL_FIRST in exchange.modes and approval is not None and approval.number > order.number:
        exchange.reply(order, "9210", "Auftrag abgelehnt - Die Reihenfolge der Segmente ist nicht erlaubt.")
    elif order.code in DEBITS:
        return False  # what follows is about payees and pain.001
    elif Mode.STRICT_DOCUMENT in exchange.modes and approval is None and exchange.find("HKVPP") is None:
        exchange.reply(None, "9076", "Namensabgleich erforderlich.")
        exchange.reply(tan_request, "9210", "Keine Daten zur übermittelten Auftragsreferenz vorhanden.")
    elif Mode.STRICT_DOCUMENT in exchange.modes and not _is_strictly_right(_read_document(order)):
        exchange.reply(order, "9210", "SEPA-Nachricht ungültig/fehlerhaft.")
        challenges.add_no_challenge(exchange, tan_request)
    else:
        return False
    return True


def _read_document(order: Segment) -> bytes:
    return order.read_binary(5 if order.code in BULK else 3)


def _is_strictly_right(document: bytes) -> bool:
    return ACCOUNT_CURRENCY in document and NO_BIC not in document


def _read_job(customer: Customer, order: Segment, today: date) -> tuple[TransferDocument, Pay]:
    if order.code in DEBITS:
        return read_debit_job(customer, order)
    is_bulk = order.code in BULK
    descriptor = order.read(4 if is_bulk else 2)
    if not any(namespace.rpartition(":")[2] in descriptor for namespace in PAIN_001):
        raise TransferError("Das SEPA-Format wird nicht unterstützt.")
    standing = read_instruction(order)
    document = read_transfer(_read_document(order))
    product = customer.find_product(order.read(1, 0), order.read(1, 2))
    if product is None or product.iban != document.debtor_iban:
        raise TransferError("Auftrag abgelehnt - Das Konto ist der Bank nicht bekannt.")
    total = order.read_amount(2) if is_bulk else None
    if total is not None and total != sum(listed_order.amount for listed_order in document.orders):
        raise TransferError("Die Summe stimmt nicht mit den Aufträgen überein.")
    if not is_bulk and len(document.orders) > 1:
        raise TransferError("Der Auftrag muss genau eine Überweisung enthalten.")
    if order.code in DATED:
        _check_day(document.execution_date, today)
    job = Pay(
        payment_id=document.find_payment_id(customer.login),
        product_key=product.key,
        orders=document.orders,
        is_bulk=is_bulk,
        is_instant=order.code in INSTANT,
        execution_date=document.execution_date if standing is None else None,
        is_payee_accepted=standing is not None and standing.action is StandingAction.DELETE,
        standing=standing,
    )
    return document, job


def _check_day(day: date | None, today: date) -> None:
    shortest, longest = LEAD_DAYS
    if day is None or not shortest <= (day - today).days <= longest:
        raise TransferError(f"Der Termin muss {shortest} bis {longest} Tage in der Zukunft liegen.")


def _go_on(
    exchange: MessageExchange, customers: Customers, customer: Customer, order: Segment, check: PayeeCheck
) -> None:
    """Check the order and its payees, then challenge the customer."""
    step = customers.begin_payment(customer.login, check.job, exchange.today)
    asked = exchange.find("HKVPP")
    match step:
        case NeedMethod():
            matches = tuple(PayeeResult(PayeeMatch.MATCH) for _ in check.job.orders)
            if asked is not None and Mode.MATCH_HELD in exchange.modes:
                exchange.reply(asked, "0025")
                payee_checks.hold(exchange, order, asked, check, matches)
                return
            if asked is not None and Mode.APPROVAL_WAIVED in exchange.modes:
                payee_checks.waive_approval(exchange, asked)
                challenges.waive(exchange, check.tan_request)
                challenges.execute_without_tan(exchange, customers, order, step)
                if not exchange.has_errors:
                    exchange.reply(order, "0900")
                return
            if asked is not None:
                exchange.reply(asked, "0020")
                exchange.reply(asked, "0025")
                payee_checks.show_results(exchange, asked, check, matches)
            challenges.challenge(exchange, customers, check.tan_request, step)
        case NeedPayeeDecision(results):
            if asked is None:
                exchange.reply(order, "9076")
                return
            payee_checks.hold(exchange, order, asked, check, results)
        case _:
            payee_checks.refuse(exchange, order, step)
