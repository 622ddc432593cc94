"""Orders at a bank: the business that fits, verification of the payee, and what the bank says became of it."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from fints.formals import Amount1
from fints.segments.auth import HKVPA1, HKVPP1, PSRD1
from fints.segments.base import FinTS3Segment
from fints.segments.transfer import HKCCM1, HKCCS1, HKIPM1, HKIPZ1

from kontor.connectors.base import FailureKind, Pay
from kontor.connectors.fints.accounts import Account, name_account
from kontor.connectors.fints.codes import EXECUTED, MORE_FOLLOWS, PAYEE_MATCHES, Code, find_failure
from kontor.connectors.fints.segments import HKCME1, HKCSE1
from kontor.connectors.fints.sessions import RefusedError, Reply, Session
from kontor.connectors.pain001 import NAMESPACE, SCHEMA, Batch, write_pain001
from kontor.connectors.pain_messages import Party
from kontor.connectors.statements import LIMITS, StatementError
from kontor.connectors.statements.xml_trees import find_deep_text, find_text, read_elements
from kontor.domain.payments import PayeeMatch, PayeeResult, PaymentOutcome

MATCHES = {
    "RCVC": PayeeMatch.MATCH,
    "RVMC": PayeeMatch.CLOSE_MATCH,
    "RVNM": PayeeMatch.NO_MATCH,
    "RVNA": PayeeMatch.NOT_POSSIBLE,
}
AT_ONCE = date(1999, 1, 1)  # what FinTS wants to be written instead of a day
NOT_OFFERED = "Die Bank bietet diese Art der Überweisung nicht an."
TAKEN = (*EXECUTED, "0010")  # of a segment; of the whole message 0010 says only that it arrived


@dataclass(frozen=True, slots=True)
class Verdict:
    """The bank's result of verifying payees. `id` is what an order that goes on must name.

    While `is_pending` there is no result yet. Who asks again names `polling_id` and `restart_point`, both where the
    bank gave both.
    """

    id: bytes
    results: tuple[PayeeResult, ...]
    is_pending: bool = False
    polling_id: bytes | None = None
    restart_point: str | None = None
    wait_seconds: int = 1

    @property
    def is_match(self) -> bool:
        return all(result.match is PayeeMatch.MATCH for result in self.results)


def make_order(session: Session, account: Account, pay: Pay, today: date, created_at: datetime) -> FinTS3Segment:
    """The segment of the order, the same at every call. Raises RefusedError where the bank has no such business.

    `today` is the day of the first call: an order that waits for its customer stays in its form.
    """
    form, day = _choose_form(pay, today)
    command = form.TYPE
    if session.parameters.find_newest(command, (form.VERSION,)) is None or not account.can(command):
        text = "Terminüberweisungen sind bei dieser Bank nicht möglich." if day is not AT_ONCE else NOT_OFFERED
        raise RefusedError(FailureKind.NOT_SUPPORTED, text)
    if day is not AT_ONCE:
        check_lead_time(session, command, (day - today).days)
    batch = Batch(pay.payment_id.hex, pay.orders, day, pay.is_bulk, pay.is_instant)
    document = write_pain001(Party(account.holder, account.iban, account.bic or None), batch, created_at)
    segment = form(
        account=name_account(form, account), sepa_descriptor=find_descriptor(session), sepa_pain_message=document
    )
    if pay.is_bulk:
        segment.sum_amount = Amount1(sum(order.amount for order in pay.orders), "EUR")
        segment.request_single_booking = False
    return segment


def is_dated(pay: Pay, today: date) -> bool:
    return pay.execution_date is not None and pay.execution_date > today


def _choose_form(pay: Pay, today: date) -> tuple[type[FinTS3Segment], date]:
    if is_dated(pay, today):
        assert pay.execution_date is not None
        return HKCME1 if pay.is_bulk else HKCSE1, pay.execution_date
    if pay.is_bulk:
        return HKIPM1 if pay.is_instant else HKCCM1, AT_ONCE
    return HKIPZ1 if pay.is_instant else HKCCS1, AT_ONCE


def check_lead_time(session: Session, command: str, days: int) -> None:
    """The bank's limits are known before anything leaves."""
    limits = session.parameters.find_parameter(command)
    refuse_lead_time(days, getattr(limits, "min_days", None), getattr(limits, "max_days", None))


def refuse_lead_time(days: int, shortest: int | None, longest: int | None) -> None:
    if shortest is not None and days < shortest:
        raise RefusedError(FailureKind.REJECTED, f"Die Bank führt den Auftrag frühestens in {shortest} Tagen aus.")
    if longest and days > longest:
        raise RefusedError(FailureKind.REJECTED, f"Die Bank nimmt Aufträge für höchstens {longest} Tage im Voraus an.")


def find_descriptor(session: Session) -> str:
    """The bank's own name for the format where it lists one."""
    formats = session.parameters.sepa_formats
    return next((descriptor for descriptor in formats if SCHEMA in descriptor), NAMESPACE)


def make_payee_check(session: Session, order: FinTS3Segment, pending: Verdict | None = None) -> FinTS3Segment | None:
    """The segment that asks the bank to verify the payees, where this order needs it, or for a result still pending."""
    parameter = session.parameters.find_parameter("HKVPP")
    if parameter is None or order.header.type not in list(parameter.payment_order_segment):
        return None
    formats = str(parameter.supported_report_formats or "").split(";")
    segment = HKVPP1(supported_reports=PSRD1(psrd=formats))
    if pending is not None:
        segment.polling_id, segment.aufsetzpunkt = pending.polling_id, pending.restart_point
    return segment


def make_payee_approval(verdict_id: bytes) -> FinTS3Segment:
    return HKVPA1(vop_id=verdict_id)


def read_verdict(reply: Reply, count: int) -> Verdict | None:
    """None where the bank says nothing about the payees."""
    segment = reply.find("HIVPP")
    restart_point = next((code.parameters[0] for code in reply.codes if _goes_on(code)), None)
    if segment is None and restart_point is None:
        return None
    polling_id = bytes(getattr(segment, "polling_id", None) or b"") or None
    verdict_id = bytes(getattr(segment, "vop_id", None) or b"")
    if segment is None or restart_point is not None or (polling_id is not None and not verdict_id):
        wait = int(getattr(segment, "wait_for_seconds", None) or 1)
        return Verdict(b"", (), is_pending=True, polling_id=polling_id, restart_point=restart_point, wait_seconds=wait)
    report = bytes(segment.payment_status_report or b"")
    single = getattr(segment.vop_single_result, "result", None)
    if not report and not single and reply.has(PAYEE_MATCHES):
        return Verdict(verdict_id, (PayeeResult(PayeeMatch.MATCH),) * count)
    results = _read_report(report, count) if report else (_read_result(segment.vop_single_result),) * count
    return Verdict(verdict_id, results)


def _goes_on(code: Code) -> bool:
    return code.code == MORE_FOLLOWS and bool(code.parameters)


def _read_result(result: Any) -> PayeeResult:
    return _make_result(getattr(result, "result", None), getattr(result, "close_match_name", None))


def _make_result(code: str | None, name: str | None) -> PayeeResult:
    match = MATCHES.get(code or "", PayeeMatch.NOT_POSSIBLE)
    return PayeeResult(match, name if match is PayeeMatch.CLOSE_MATCH else None)


def _read_report(report: bytes, count: int) -> tuple[PayeeResult, ...]:
    """A pain.002: one result per order, in their order; or one for all of them, in the group or in the block."""
    try:
        groups = [group for _, group in read_elements(report, ("OrgnlGrpInfAndSts",), LIMITS)]
        blocks = [block for _, block in read_elements(report, ("OrgnlPmtInfAndSts",), LIMITS)]
        rows = [row for _, row in read_elements(report, ("TxInfAndSts",), LIMITS)]
    except StatementError:
        return (PayeeResult(PayeeMatch.NOT_POSSIBLE),) * count
    if len(rows) == count:
        return tuple(
            _make_result(find_text(row, "TxSts"), find_deep_text(row, "StsRsnInf", "AddtlInf")) for row in rows
        )
    found = [find_text(group, "GrpSts") for group in groups] + [find_text(block, "PmtInfSts") for block in blocks]
    whole = next((status for status in found if status), None)
    return (_make_result(whole, None),) * count


def is_contradictory(reply: Reply, segment: FinTS3Segment) -> bool:
    """An error, and yet the order, or its TAN, seems to have been taken: nobody knows what became of it.

    What the bank says about segments beside it, such as the payee's approval, is no word about the order.
    """
    return is_taken(reply, segment) and find_failure(reply.codes, is_login=False) is not None


def is_taken(reply: Reply, *segments: FinTS3Segment) -> bool:
    """Has the bank said so of one of the segments? An order without such a word may still be held."""
    numbers = {segment.header.number for segment in segments}
    return any(code.code in TAKEN and code.segment in numbers for code in reply.codes)


def read_outcome(reply: Reply, *segments: FinTS3Segment) -> PaymentOutcome:
    """What the bank says, about these segments, of an order that it has taken: executed, or accepted only."""
    numbers = {segment.header.number for segment in segments}
    is_executed = any(code.code in EXECUTED and code.segment in numbers for code in reply.codes)
    return PaymentOutcome.EXECUTED if is_executed else PaymentOutcome.ACCEPTED
