"""Direct debits among bookings: their scheme, mandate, and what was given back."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from kontor.analysis.contracts.mandates import read_mandate
from kontor.analysis.contracts.texts import squeeze_text
from kontor.analysis.earned_income import RETURNED_CODES, is_returned
from kontor.analysis.life_events.signs import read_text
from kontor.analysis.records import Record
from kontor.domain.debit_returns import BookedScheme, ReturnableDebit, find_rights

# Business transaction codes (GVC) of the German Banking Industry Committee. 107 is made from a card at the till (ELV).
_CODES = {"104": BookedScheme.B2B, "105": BookedScheme.CORE, "107": BookedScheme.CORE}
_RETURN_CODES = ("181", "184")
_OTHER_CODE = re.compile(r"(?!000|999)[0-9]{3}")
_CARD = re.compile(r"(?i)kart|card|visa|debitk")
_DEBIT = re.compile(r"(?i)(?<!r[üu]ck)(?<!rueck)lastschr|direct debit|einzug|abbuchung")
_B2B = re.compile(r"(?i)firmen-?last|\bb2b\b")
_CORE = re.compile(r"(?i)basis-?last|\bcore\b|\belv\b|erstlast|folgelast")


def list_debits(records: Sequence[Record], today: date) -> list[ReturnableDebit]:
    """Those that can be returned, the latest first. What was returned is shown with the day, and without rights."""
    debits = [debit for record in records if (debit := _read_debit(record, today)) is not None and debit.rights]
    given_back = _match_returns(debits, [record for record in records if is_returned(record)])
    shown = [_mark(debit, given_back.get(debit.id)) for debit in debits]
    return sorted(shown, key=lambda debit: (debit.day, debit.id), reverse=True)


def find_scheme(record: Record) -> BookedScheme | None:
    """None where the booking is no direct debit. The bank's code decides; without one, its text and the mandate do."""
    if record.amount >= 0 or record.is_pending:
        return None
    code = record.business_code
    if code in _CODES:
        return _CODES[code]
    if _OTHER_CODE.fullmatch(code):
        return None
    if is_returned(record):
        return None
    mandate = read_mandate(record.purpose)
    has_mandate = bool(mandate.reference or mandate.creditor_id)
    if _CARD.search(record.booking_text) or not (has_mandate or _DEBIT.search(record.booking_text)):
        return None
    if _B2B.search(record.booking_text):
        return BookedScheme.B2B
    return BookedScheme.CORE if _CORE.search(record.booking_text) else BookedScheme.UNKNOWN


def _read_debit(record: Record, today: date) -> ReturnableDebit | None:
    scheme = find_scheme(record)
    if scheme is None:
        return None
    mandate = read_mandate(record.purpose)
    return ReturnableDebit(
        id=record.id,
        account=record.account,
        day=record.day,
        amount=-record.amount,
        currency=record.currency,
        creditor=" ".join((record.ultimate_counterparty or record.counterparty_name).split()),
        creditor_iban=record.counterparty_iban,
        purpose=record.purpose,
        scheme=scheme,
        mandate=mandate.reference,
        creditor_id=mandate.creditor_id,
        rights=find_rights(scheme, record.day, today),
    )


def _match_returns(debits: Iterable[ReturnableDebit], returns: Iterable[Record]) -> dict[str, date]:
    """The day on which each debit was given back. What names a debit best is matched first, each return once."""
    latest_first = sorted(debits, key=lambda debit: debit.day, reverse=True)
    waiting = sorted(
        (record for record in returns if record.amount > 0 and not record.is_pending), key=lambda record: record.day
    )
    given_back: dict[str, date] = {}
    for find in (_find_named, _find_by_creditor, _find_by_amount):
        unmatched = []
        for record in waiting:
            fitting = [debit for debit in latest_first if debit.id not in given_back and _can_return(record, debit)]
            debit = find(record, fitting)
            if debit is None:
                unmatched.append(record)
            else:
                given_back[debit.id] = record.day
        waiting = unmatched
    return given_back


def _can_return(record: Record, debit: ReturnableDebit) -> bool:
    of_return = (record.account, record.amount, record.currency)
    return of_return == (debit.account, debit.amount, debit.currency) and record.day >= debit.day


def _find_named(record: Record, fitting: Sequence[ReturnableDebit]) -> ReturnableDebit | None:
    """The latest with the mandate, or with the IBAN where one of both has no mandate."""
    mandate = read_mandate(record.purpose).reference
    for debit in fitting:
        if mandate and debit.mandate:
            if mandate == debit.mandate:
                return debit
        elif record.counterparty_iban and record.counterparty_iban == debit.creditor_iban:
            return debit
    return None


def _find_by_creditor(record: Record, fitting: Sequence[ReturnableDebit]) -> ReturnableDebit | None:
    """The latest of the creditor, where the return has neither mandate nor IBAN."""
    if not _is_bare(record):
        return None
    names = {squeeze_text(record.counterparty_name), squeeze_text(record.ultimate_counterparty)} - {""}
    return next((debit for debit in fitting if squeeze_text(debit.creditor) in names), None)


def _find_by_amount(record: Record, fitting: Sequence[ReturnableDebit]) -> ReturnableDebit | None:
    """The only one, where the return has neither mandate nor IBAN."""
    return fitting[0] if len(fitting) == 1 and _is_bare(record) else None


def _is_bare(record: Record) -> bool:
    """Whether it gives a debit back without mandate and IBAN. Of 059 and 159 are also transfers that come back."""
    if record.counterparty_iban or read_mandate(record.purpose).reference:
        return False
    code = record.business_code
    if code in _RETURN_CODES:
        return True
    if _OTHER_CODE.fullmatch(code) and code not in RETURNED_CODES:
        return False
    return "LASTSCHR" in read_text(record) + squeeze_text(record.booking_text)


def _mark(debit: ReturnableDebit, returned_on: date | None) -> ReturnableDebit:
    return debit if returned_on is None else replace(debit, returned_on=returned_on, rights=())
