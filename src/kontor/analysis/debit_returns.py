"""Direct debits among bookings: their scheme, mandate, and what was given back."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from kontor.analysis.contracts.mandates import MandateNames, read_mandate
from kontor.analysis.earned_income import is_returned
from kontor.analysis.records import Record
from kontor.domain.debit_returns import BookedScheme, ReturnableDebit, find_rights

# Business transaction codes (GVC) of the German Banking Industry Committee. 107 is made from a card at the till (ELV).
_CODES = {"104": BookedScheme.B2B, "105": BookedScheme.CORE, "107": BookedScheme.CORE}
_OTHER_CODE = re.compile(r"[0-9]{3}")
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
    code = record.gv_code.strip()[-3:]
    if code in _CODES:
        return _CODES[code]
    if _OTHER_CODE.fullmatch(code) and code not in ("000", "999"):
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
    """The day on which each debit was given back. A return belongs to the latest debit before it that fits."""
    latest_first = sorted(debits, key=lambda debit: debit.day, reverse=True)
    given_back: dict[str, date] = {}
    for record in sorted(returns, key=lambda record: record.day):
        if record.amount <= 0 or record.is_pending:
            continue
        mandate = read_mandate(record.purpose)
        for debit in latest_first:
            if debit.id not in given_back and _is_return_of(record, mandate, debit):
                given_back[debit.id] = record.day
                break
    return given_back


def _is_return_of(record: Record, mandate: MandateNames, debit: ReturnableDebit) -> bool:
    if (record.account, record.amount, record.currency) != (debit.account, debit.amount, debit.currency):
        return False
    if record.day < debit.day:
        return False
    if mandate.reference and debit.mandate:
        return mandate.reference == debit.mandate
    return bool(record.counterparty_iban) and record.counterparty_iban == debit.creditor_iban


def _mark(debit: ReturnableDebit, returned_on: date | None) -> ReturnableDebit:
    return debit if returned_on is None else replace(debit, returned_on=returned_on, rights=())
