"""Payments: HKCCS and HKIPZ for one order, HKCCM and HKIPM for several; HKVPP and HKVPA for the payee's name.

The payee is verified first. If the name fits, the challenge comes at once. If not, the client shows the result and
sends the order again with HKVPA. For a bulk the result takes a while: the client asks for it with HKVPP.
"""

import secrets
from dataclasses import replace
from hashlib import sha256

from kontor.connectors.base import Failed, FailureKind, NeedMethod, NeedPayeeDecision, Pay, Step
from kontor.demobank.fints import challenges
from kontor.demobank.fints.credit_transfers import (
    RESULTS,
    TransferDocument,
    TransferError,
    read_transfer,
    write_report,
)
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.dialogues import PayeeCheck, make_room
from kontor.demobank.fints.parameters import PAIN_001, PAIN_002
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.demobank.fints.turns import Turn
from kontor.domain.payments import Order, PayeeMatch, PayeeResult

BULK = frozenset(("HKCCM", "HKIPM"))
INSTANT = frozenset(("HKIPZ", "HKIPM"))
WAIT_SECONDS = 1
POLLS = 1  # how often the client hears that the result is not there yet
NOTICE = (
    "Der Name des Empfängers stimmt nicht mit dem Konto überein. Wenn Sie den Auftrag dennoch freigeben, kann das Geld"
    " auf ein Konto gelangen, dessen Inhaber nicht der von Ihnen angegebene Empfänger ist."
)


def transfer(turn: Turn, customers: Customers, customer: Customer, order: Segment) -> None:
    tan_request = challenges.find_first_step(turn)
    try:
        document, job = _read_job(customer, order)
    except TransferError as error:
        turn.reply(order, "9210", str(error))
        return
    if tan_request is None:
        turn.abort(order, "9075")
        return
    approval, check = turn.find("HKVPA"), turn.find("HKVPP")
    digest = sha256(order.read_binary(5 if order.code in BULK else 3)).hexdigest()
    if approval is not None:
        known = turn.dialogue.checks.pop(approval.read_binary(1), None)
        if known is None or known.digest != digest:
            turn.reply(approval, "9210", "Auftrag abgelehnt - Die VOP-ID gehört nicht zu diesem Auftrag.")
            return
        turn.reply(approval, "0020", "Ausführungsbestätigung nach Namensabgleich erhalten.")
        job = replace(job, is_payee_accepted=True)
    if customers.is_known_payment(customer.login, job.payment_id, turn.today):
        turn.reply(order, "9210", "Auftrag abgelehnt - Die Nachricht wurde bereits eingereicht.")
        return
    if check is not None and job.is_bulk:
        _postpone(turn, check, tan_request, PayeeCheck(document, job, digest))
        return
    _go_on(turn, customers, customer, order, tan_request, PayeeCheck(document, job, digest))


def _read_job(customer: Customer, order: Segment) -> tuple[TransferDocument, Pay]:
    is_bulk = order.code in BULK
    descriptor = order.read(4 if is_bulk else 2)
    if not any(one.rpartition(":")[2] in descriptor for one in PAIN_001):
        raise TransferError("Das SEPA-Format wird nicht unterstützt.")
    document = read_transfer(order.read_binary(5 if is_bulk else 3))
    product = customer.find_product(order.read(1, 0), order.read(1, 2))
    if product is None or product.iban != document.debtor_iban:
        raise TransferError("Auftrag abgelehnt - Das Konto ist der Bank nicht bekannt.")
    total = order.read_amount(2) if is_bulk else None
    if total is not None and total != sum(one.amount for one in document.orders):
        raise TransferError("Die Summe stimmt nicht mit den Aufträgen überein.")
    if not is_bulk and len(document.orders) > 1:
        raise TransferError("Der Auftrag muss genau eine Überweisung enthalten.")
    job = Pay(
        payment_id=document.find_payment_id(customer.login),
        product_key=product.key,
        orders=document.orders,
        is_bulk=is_bulk,
        is_instant=order.code in INSTANT,
        execution_date=document.execution_date,
    )
    return document, job


def _go_on(
    turn: Turn, customers: Customers, customer: Customer, order: Segment, tan_request: Segment, check: PayeeCheck
) -> None:
    """Check the order and its payees, then challenge the customer."""
    step = customers.begin_payment(customer.login, check.job, turn.today)
    asked = turn.find("HKVPP")
    match step:
        case NeedMethod():
            if asked is not None:
                turn.reply(asked, "0020")
                turn.reply(asked, "0025")
                results = tuple(PayeeResult(PayeeMatch.MATCH) for _ in check.job.orders)
                _show_results(turn, asked, check, results)
            challenges.challenge(turn, customers, tan_request, step)
        case NeedPayeeDecision(results):
            if asked is None:
                turn.reply(order, "9076")
                return
            turn.reply(asked, "3090")
            turn.reply(tan_request, "3945")
            _show_results(turn, asked, check, results)
        case _:
            _refuse(turn, order, step)


def _refuse(turn: Turn, order: Segment, step: Step) -> None:
    if isinstance(step, Failed) and step.kind is FailureKind.UNREACHABLE:
        turn.abort(order, "9030")
    else:
        turn.reply(order, "9210", step.detail if isinstance(step, Failed) else None)


def _show_results(turn: Turn, asked: Segment, check: PayeeCheck, results: tuple[PayeeResult, ...]) -> None:
    """With a VOP-ID, which stands for the order and its result in the next message."""
    vop_id = secrets.token_hex(18).encode()
    make_room(turn.dialogue.checks)
    turn.dialogue.checks[vop_id] = check
    is_single = not check.job.is_bulk
    notice = None if all(one.match is PayeeMatch.MATCH for one in results) else NOTICE
    turn.add(
        make_segment(
            "HIVPP",
            1,
            vop_id,
            None,
            None,
            None if is_single else PAIN_002,
            None if is_single else write_report(check.document, results),
            _describe_result(check.job.orders[0], results[0]) if is_single else None,
            notice,
        ),
        asked,
    )


def _describe_result(order: Order, result: PayeeResult) -> tuple[str | None, ...]:
    is_unknown = result.match is PayeeMatch.NOT_POSSIBLE
    reason = "Die Bank des Empfängers antwortet nicht." if is_unknown else None
    return (order.iban, None, result.suggested_name, None, RESULTS[result.match], reason)


def _postpone(turn: Turn, asked: Segment, tan_request: Segment, check: PayeeCheck) -> None:
    polling_id = secrets.token_hex(18).encode()
    make_room(turn.dialogue.checks)
    turn.dialogue.checks[polling_id] = check
    turn.reply(tan_request, "3945")
    _ask_to_wait(turn, asked, polling_id)


def _ask_to_wait(turn: Turn, asked: Segment, polling_id: bytes) -> None:
    turn.reply(asked, "3040", None, "vop")
    turn.add(make_segment("HIVPP", 1, None, None, polling_id, None, None, None, None, WAIT_SECONDS), asked)


def poll(turn: Turn, customers: Customers, customer: Customer, asked: Segment) -> None:
    """Is the result of a payee check there yet?"""
    polling_id = asked.read_binary(2)
    check = turn.dialogue.checks.get(polling_id)
    if check is None:
        turn.reply(asked, "9210", "Auftrag abgelehnt - Die Polling-ID ist unbekannt.")
        return
    if check.polls < POLLS:
        turn.dialogue.checks[polling_id] = replace(check, polls=check.polls + 1)
        _ask_to_wait(turn, asked, polling_id)
        return
    del turn.dialogue.checks[polling_id]
    step = customers.begin_payment(customer.login, check.job, turn.today)
    match step:
        case NeedMethod():
            turn.reply(asked, "0020")
            turn.reply(asked, "0025")
            _show_results(turn, asked, check, tuple(PayeeResult(PayeeMatch.MATCH) for _ in check.job.orders))
        case NeedPayeeDecision(results):
            turn.reply(asked, "3090")
            _show_results(turn, asked, check, results)
        case _:
            _refuse(turn, asked, step)


def approve(turn: Turn, approval: Segment) -> None:
    """HKVPA beside a TAN: the name fitted, and the order waits for its TAN already."""
    if turn.dialogue.checks.pop(approval.read_binary(1), None) is None:
        turn.abort(approval, "9210", "Auftrag abgelehnt - Die VOP-ID ist unbekannt.")
    else:
        turn.reply(approval, "0020", "Ausführungsbestätigung nach Namensabgleich erhalten.")
