"""Verification of payees: HKVPP asks for the result, HKVPA approves it."""

import secrets
from dataclasses import replace

from kontor.connectors.base import Failed, FailureKind, NeedMethod, NeedPayeeDecision, Step
from kontor.demobank.fints import challenges
from kontor.demobank.fints.credit_transfers import RESULTS, write_report
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.dialogues import PayeeCheck, make_room
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.parameters import PAIN_002
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.domain.payments import Order, PayeeMatch, PayeeResult

WAIT_SECONDS = 1
POLLS = 1  # how often the client hears that the result is not there yet
RESTART_POINT = "vop"
LATER = frozenset(
    (Mode.PAYEES_LATER, Mode.PAYEES_PENDING, Mode.ORDER_HELD_SILENTLY, Mode.CHALLENGE_WITH_VERDICT)
)  # also one order is verified by polling
NOTICE = (
    "Der Name des Empfängers stimmt nicht mit dem Konto überein. Wenn Sie den Auftrag dennoch freigeben, kann das Geld"
    " auf ein Konto gelangen, dessen Inhaber nicht der von Ihnen angegebene Empfänger ist."
)


def hold(
    exchange: MessageExchange, order: Segment, asked: Segment, check: PayeeCheck, results: tuple[PayeeResult, ...]
) -> None:
    """The order waits until the client sends it again with its approval."""
    exchange.reply(asked, "3090")
    exchange.reply(order if Mode.VERDICT_IN_REPORT in exchange.modes else check.tan_request, "3945")
    show_results(exchange, asked, check, results)


def show_results(
    exchange: MessageExchange, asked: Segment, check: PayeeCheck, results: tuple[PayeeResult, ...]
) -> None:
    """With a VOP-ID, which stands for the order and its result in the next message."""
    vop_id = secrets.token_hex(18).encode()
    make_room(exchange.dialogue.checks)
    exchange.dialogue.checks[vop_id] = check
    is_single = not check.job.is_bulk and not exchange.modes & {
        Mode.VERDICT_IN_REPORT,
        Mode.REPORT_WITHOUT_ROWS,
        *LATER,
    }
    has_rows = Mode.REPORT_WITHOUT_ROWS not in exchange.modes
    notice = None if all(result.match is PayeeMatch.MATCH for result in results) else NOTICE
    exchange.add(
        make_segment(
            "HIVPP",
            1,
            vop_id,
            None,
            None,
            None if is_single else PAIN_002,
            None if is_single else write_report(check.document, results, has_rows=has_rows),
            _describe_result(check.job.orders[0], results[0]) if is_single else None,
            notice,
        ),
        asked,
    )


def _describe_result(order: Order, result: PayeeResult) -> tuple[str | None, ...]:
    is_unknown = result.match is PayeeMatch.NOT_POSSIBLE
    reason = "Die Bank des Empfängers antwortet nicht." if is_unknown else None
    return (order.iban, None, result.suggested_name, None, RESULTS[result.match], reason)


def waive_approval(exchange: MessageExchange, asked: Segment) -> None:
    """The name fits, and nothing is left to approve. The report is not sent, only its format."""
    exchange.reply(asked, "3091")
    exchange.reply(asked, "0025")
    vop_id = secrets.token_hex(18).encode()
    exchange.add(make_segment("HIVPP", 1, vop_id, None, None, PAIN_002), asked)


def postpone(exchange: MessageExchange, asked: Segment, check: PayeeCheck) -> None:
    polling_id = secrets.token_hex(18).encode()
    make_room(exchange.dialogue.checks)
    exchange.dialogue.checks[polling_id] = check
    if exchange.modes & LATER:
        exchange.reply(None, "3905")
    if Mode.ORDER_HELD_SILENTLY not in exchange.modes and Mode.CHALLENGE_WITH_VERDICT not in exchange.modes:
        exchange.reply(check.tan_request, "3945")
    _ask_to_wait(exchange, asked, polling_id)


def _ask_to_wait(exchange: MessageExchange, asked: Segment, polling_id: bytes) -> None:
    exchange.reply(asked, "3040", None, RESTART_POINT)
    exchange.add(make_segment("HIVPP", 1, None, None, polling_id, None, None, None, None, WAIT_SECONDS), asked)


def poll(exchange: MessageExchange, customers: Customers, customer: Customer, asked: Segment) -> None:
    """Is the result of a payee check there yet?"""
    polling_id = asked.read_binary(2)
    check = exchange.dialogue.checks.get(polling_id)
    if check is None or asked.read(4) != RESTART_POINT:
        exchange.reply(asked, "9210", "Auftrag abgelehnt - Polling-ID oder Aufsetzpunkt sind unbekannt.")
        return
    if check.polls < POLLS or Mode.PAYEES_PENDING in exchange.modes:
        exchange.dialogue.checks[polling_id] = replace(check, polls=check.polls + 1)
        _ask_to_wait(exchange, asked, polling_id)
        return
    del exchange.dialogue.checks[polling_id]
    step = customers.begin_payment(customer.login, check.job, exchange.today)
    match step:
        case NeedMethod() if Mode.CHALLENGE_WITH_VERDICT in exchange.modes:
            waive_approval(exchange, asked)
            challenges.challenge(exchange, customers, replace(check.tan_request, number=asked.number), step)
        case NeedMethod():
            exchange.reply(asked, "0020")
            exchange.reply(asked, "0025")
            show_results(exchange, asked, check, tuple(PayeeResult(PayeeMatch.MATCH) for _ in check.job.orders))
        case NeedPayeeDecision(results):
            exchange.reply(asked, "3090")
            show_results(exchange, asked, check, results)
        case _:
            refuse(exchange, asked, step)


def approve(exchange: MessageExchange, approval: Segment) -> None:
    """HKVPA beside a TAN: the name fitted, and the order waits for its TAN already."""
    if exchange.dialogue.checks.pop(approval.read_binary(1), None) is None:
        exchange.abort(approval, "9210", "Auftrag abgelehnt - Die VOP-ID ist unbekannt.")
    else:
        exchange.reply(approval, "0020", "Ausführungsbestätigung nach Namensabgleich erhalten.")


def refuse(exchange: MessageExchange, order: Segment, step: Step) -> None:
    if isinstance(step, Failed) and step.kind is FailureKind.UNREACHABLE:
        exchange.abort(order, "9030")
    else:
        exchange.reply(order, "9210", step.detail if isinstance(step, Failed) else None)
