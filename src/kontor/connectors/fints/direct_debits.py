"""Direct debits over FinTS: HKDSE and HKDME (CORE), HKBSE and HKBME (B2B); lists by HKDBS and HKBBS."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from fints.formals import Amount1, SupportedSEPAPainMessages1
from fints.segments.base import FinTS3Segment
from fints.segments.debit import HKDBS1, HKDME1, HKDME2, HKDSE1, HKDSE2

from kontor.connectors.base import FailureKind, Pay
from kontor.connectors.fints.accounts import Account, name_account
from kontor.connectors.fints.listed_orders import is_listed, list_pages
from kontor.connectors.fints.payments import refuse_lead_time
from kontor.connectors.fints.segments import HKBBS1, HKBME1, HKBME2, HKBSE1, HKBSE2
from kontor.connectors.fints.sessions import RefusedError, Session
from kontor.connectors.pain008 import SCHEMAS, DebitBatch, write_pain008
from kontor.connectors.pain008_reading import DebitBlock, read_pain008
from kontor.connectors.pain_messages import Party
from kontor.connectors.statements import StatementError
from kontor.domain.mandates import DebitForm, DebitInstruction, DebitScheme, SequenceType

# The newest version first.
FORMS: dict[DebitForm, tuple[type[FinTS3Segment], ...]] = {
    DebitForm.CORE_SINGLE: (HKDSE2, HKDSE1),
    DebitForm.CORE_BULK: (HKDME2, HKDME1),
    DebitForm.B2B_SINGLE: (HKBSE2, HKBSE1),
    DebitForm.B2B_BULK: (HKBME2, HKBME1),
}
LISTS: dict[DebitScheme, type[FinTS3Segment]] = {DebitScheme.CORE: HKDBS1, DebitScheme.B2B: HKBBS1}
FIRST = frozenset((SequenceType.FRST, SequenceType.OOFF))
# Version 2 of the parameters: which sequence types a number stands for.
SEQUENCES = {"0": frozenset(SequenceType), "1": frozenset(SequenceType) - FIRST, "2": FIRST}
NOT_POSSIBLE = "Lastschriften sind für dieses Konto bei der Bank nicht in dieser Form möglich."


def list_debit_forms(session: Session, account: Account) -> tuple[DebitForm, ...]:
    """In which forms the bank takes direct debits for the account, in a version of pain.008 that Kontor writes."""
    if session.method is None or not account.iban:
        return ()
    return tuple(form for form in DebitForm if _choose(session, account, form) is not None)


def make_debit_order(session: Session, account: Account, pay: Pay, today: date, created_at: datetime) -> FinTS3Segment:
    """The segment of the order, the same at every call. Raises RefusedError where the bank has no such business."""
    debit, day = pay.debit, pay.execution_date
    assert debit is not None
    assert day is not None, "a direct debit has a day"
    chosen = _choose(session, account, debit.form)
    if chosen is None:
        raise RefusedError(FailureKind.NOT_SUPPORTED, NOT_POSSIBLE)
    segment_type, schema = chosen
    shortest, longest = _read_lead_times(_find_parameter(session, segment_type), debit)
    refuse_lead_time((day - today).days, shortest, longest)
    batch = DebitBatch(pay.payment_id.hex, pay.orders, debit, day)
    document = write_pain008(Party(account.holder, account.iban, account.bic or None), batch, created_at, schema)
    segment = segment_type(
        account=name_account(segment_type, account),
        sepa_descriptor=_name_schema(session, segment_type, schema),
        sepa_pain_message=document,
    )
    if pay.is_bulk:
        segment.sum_amount = Amount1(sum(order.amount for order in pay.orders), "EUR")
        segment.request_single_booking = False
    return segment


def list_debits(session: Session, account: Account, scheme: DebitScheme) -> list[DebitBlock]:
    """Single direct debits that wait for their day. Empty where the bank offers no list.

    What cannot be read is left out. Lists of collective ones have sums and no references, and would prove nothing.
    """
    form = LISTS[scheme]
    if not is_listed(session, account, form):
        return []
    formats = [_name_schema(session, form, schema) for schema in SCHEMAS if _is_named(session, form, schema)]

    def make_request(touchdown: str | None) -> FinTS3Segment:
        return form(
            account=name_account(form, account),
            supported_sepa_pain_messages=SupportedSEPAPainMessages1(formats),
            touchdown_point=touchdown,
        )

    blocks: list[DebitBlock] = []
    for segment in list_pages(session, form.TYPE, make_request) if formats else ():
        try:
            blocks += read_pain008(bytes(segment.sepa_pain_message or b""))
        except StatementError:
            continue
    return blocks


def has_debit(blocks: Sequence[DebitBlock], pay: Pay) -> bool:
    """Does the bank list it under a reference of our own, with its amount and debtor?

    An end-to-end id that the caller chose may have been used before, and proves nothing.
    """
    (order, *others), own = pay.orders, pay.payment_id.hex
    for block in blocks:
        listed = block.orders[0]
        has_reference = own in (block.id, block.message_id)
        if not order.end_to_end_id:
            has_reference = has_reference or listed.end_to_end_id == own
        if not others and has_reference and (listed.iban, listed.amount) == (order.iban, order.amount):
            return True
    return False


def _choose(session: Session, account: Account, form: DebitForm) -> tuple[type[FinTS3Segment], str] | None:
    """The newest segment that the bank offers, and the newest schema that its parameters name."""
    for segment_type in FORMS[form]:
        is_offered = session.parameters.find_newest(segment_type.TYPE, (segment_type.VERSION,)) is not None
        if not is_offered or not account.can(segment_type.TYPE):
            continue
        schema = next((schema for schema in SCHEMAS if _is_named(session, segment_type, schema)), None)
        if schema is not None:
            return segment_type, schema
    return None


def _find_parameter(session: Session, segment_type: type[FinTS3Segment]) -> Any:
    return session.parameters.find_parameter(segment_type.TYPE, segment_type.VERSION)


def _list_formats(session: Session, segment_type: type[FinTS3Segment]) -> list[str]:
    """Those of the business itself where it names any, else those of all SEPA businesses."""
    own = getattr(_find_parameter(session, segment_type), "supported_sepa_formats", None) or ()
    named = [descriptor for descriptor in own if descriptor]
    return named or session.parameters.sepa_formats


def _is_named(session: Session, segment_type: type[FinTS3Segment], schema: str) -> bool:
    return any(schema in descriptor for descriptor in _list_formats(session, segment_type))


def _name_schema(session: Session, segment_type: type[FinTS3Segment], schema: str) -> str:
    """In the bank's own words."""
    return next(descriptor for descriptor in _list_formats(session, segment_type) if schema in descriptor)


def _read_lead_times(parameter: Any, debit: DebitInstruction) -> tuple[int | None, int | None]:
    """Days before the collection: at least, at most. None where the bank does not say."""
    if parameter is None:
        return None, None
    coded = getattr(parameter, "min_advance_notice", None)
    if coded is not None:
        return _read_coded_days(str(coded), debit), None
    group = "FRST_OOFF" if debit.sequence in FIRST else "FNAL_RCUR"
    shortest = getattr(parameter, f"min_advance_notice_{group}", None)
    longest = getattr(parameter, f"max_advance_notice_{group}", None)
    return shortest, longest


def _read_coded_days(coded: str, debit: DebitInstruction) -> int | None:
    """Version 2 writes groups in one field: (CORE or COR1 for HKDSE,) sequence types, days, time of day."""
    parts = coded.split(";")
    width = 3 if debit.scheme is DebitScheme.B2B else 4
    for start in range(0, len(parts) - width + 1, width):
        *kind, sequences, days, _ = parts[start : start + width]
        is_core = kind in ([], ["0"], ["2"])
        if is_core and debit.sequence in SEQUENCES.get(sequences, ()) and days.isdigit():
            return int(days)
    return None
