"""Statements that banks send as PDF. What their pages look like is data, see `pdf_profiles.py`.

A page is made for people, so nothing on it says what belongs together. The balances do: a statement whose bookings do
not lead from the opening to the closing balance is refused.
"""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from kontor.connectors.statements.csv_values import parse_day, parse_number
from kontor.connectors.statements.decoding import check_size
from kontor.connectors.statements.pdf_lines import Line, read_lines
from kontor.connectors.statements.pdf_profiles import PdfProfile, load_pdf_profiles
from kontor.connectors.statements.pdf_rows import PdfRow, join_amounts, list_centred_rows, list_rows
from kontor.connectors.statements.results import (
    LIMITS,
    AccountIdentification,
    Balance,
    Limits,
    Origin,
    Statement,
    StatementError,
    StatementKind,
    TooManyEntriesError,
)
from kontor.connectors.statements.values import add_references, clean_iban, find_midnight, make_day, parse_entry_day
from kontor.domain.account_numbers import clean_card_number
from kontor.domain.transactions import Transaction

CURRENCY = "EUR"
MAX_LINE = 2000  # characters that patterns are tried on
_MONTHS = ("jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez")
_WRITTEN_DAY = re.compile(r"([0-9]{1,2})\.? ([A-Za-zä]{3,9})\.? ([0-9]{4})")
_DAY_OF_YEAR = re.compile(r"([0-9]{2})\.([0-9]{2})\.")


def is_pdf(data: bytes) -> bool:
    return data[:1024].lstrip().startswith(b"%PDF-")


def read_pdf(data: bytes, limits: Limits = LIMITS) -> tuple[Statement, ...]:
    """The statement in the file: a PDF holds one."""
    check_size(data, limits)
    lines = [line for line in read_lines(data, _names_bank) if len(line.text) <= MAX_LINE]
    profile = _find_profile(lines)
    if profile.table.has_amounts_above:
        lines = join_amounts(lines)
    found = {name: _search(pattern, lines) for name, pattern in profile.account.items()}
    closing_day = _find_day(found.get("closing_day"))
    opening = _find_balance(profile, found["opening"], _find_day(found.get("opening_day")))
    closing = _find_balance(profile, found["closing"], closing_day)
    if profile.columns is not None:
        rows = list_centred_rows(lines, profile.table, profile.columns, opening.amount)
    else:
        rows = list_rows(lines, profile.table)
    if len(rows) > limits.entries:
        raise TooManyEntriesError(f"There are more than {limits.entries} bookings.")
    _check_sum(rows, opening, closing)
    sequence = found.get("sequence")
    return (
        Statement(
            StatementKind.PDF,
            _make_account(profile, found.get("iban"), found.get("number")),
            tuple(_make_entry(row, profile, closing_day) for row in rows),
            opening,
            closing,
            sequence[1] if sequence else None,
            form=profile.key,
        ),
    )


def _names_bank(lines: Sequence[Line]) -> bool:
    return any(profile.marks[0].search(line.text) for profile in load_pdf_profiles() for line in lines)


def _find_profile(lines: Sequence[Line]) -> PdfProfile:
    for profile in load_pdf_profiles():
        if all(any(mark.search(line.text) for line in lines) for mark in profile.marks):
            return profile
    names = ", ".join(profile.name for profile in load_pdf_profiles())
    raise StatementError(f"This PDF is no statement that Kontor knows. It knows: {names}.")


def _search(pattern: re.Pattern[str], lines: Sequence[Line]) -> re.Match[str] | None:
    return next((match for line in lines if (match := pattern.search(line.text))), None)


def _make_account(
    profile: PdfProfile, iban: re.Match[str] | None, number: re.Match[str] | None
) -> AccountIdentification:
    return AccountIdentification(
        iban=clean_iban(iban[1]) if iban else None,
        account_number=clean_card_number(number[1]) if number else None,
        currency=CURRENCY,
        origin=Origin(profile.bank, profile.kind, profile.institution),
    )


def _find_balance(profile: PdfProfile, match: re.Match[str] | None, day: date | None) -> Balance:
    if match is None:
        raise StatementError("The statement does not name its balances.")
    amount = _parse_amount(match[1])
    is_debit = profile.debit_word is not None and match[2] == profile.debit_word
    return Balance(-amount if is_debit else amount, CURRENCY, day)


def _find_day(match: re.Match[str] | None) -> date | None:
    return None if match is None else _parse_day(match[1], None)


def _check_sum(rows: Sequence[PdfRow], opening: Balance, closing: Balance) -> None:
    total = sum((row.amount for row in rows), Decimal(0))
    if opening.amount + total != closing.amount:
        raise StatementError(
            f"The bookings on the pages add up to {total}, the balances differ by {closing.amount - opening.amount}. "
            "Nothing was read."
        )


def _make_entry(row: PdfRow, profile: PdfProfile, closing_day: date | None) -> Transaction:
    booked = _parse_day(row.fields.get("booked", ""), closing_day)
    value = row.fields.get("value")
    purpose = " ".join(row.purpose)
    extracted = {name: match[1] for name, pattern in profile.extract.items() if (match := pattern.search(purpose))}
    fields = extracted | row.fields
    tagged = add_references(purpose, *(fields.get(name) for name in ("end_to_end", "mandate", "creditor_id")))
    return Transaction(
        row.amount,
        CURRENCY,
        find_midnight(booked),
        None if value is None else find_midnight(_parse_day(value, closing_day)),
        tagged or None,
        fields.get("booking_text"),
        counterparty_name=fields.get("counterparty_name"),
        counterparty_iban=clean_iban(fields.get("counterparty_iban")),
    )


def _parse_day(text: str, closing_day: date | None) -> date:
    """`31.12.2026`, `31 Dez. 2026`, or `31.12.` in the year nearest to the end of the statement."""
    try:
        if match := _WRITTEN_DAY.fullmatch(text):
            return make_day(int(match[3]), _MONTHS.index(match[2][:3].lower().replace("mrz", "mär")) + 1, int(match[1]))
        if (match := _DAY_OF_YEAR.fullmatch(text)) and closing_day is not None:
            return parse_entry_day(match[2] + match[1], closing_day)
        day = parse_day(text)
    except ValueError as error:
        raise StatementError("A day cannot be read.", field="booked") from error
    if day is None:
        raise StatementError("A day cannot be read.", field="booked")
    return day


def _parse_amount(text: str) -> Decimal:
    try:
        return parse_number(text.replace(" ", ""), ",")
    except ValueError as error:
        raise StatementError("A balance cannot be read.", field="balance") from error
