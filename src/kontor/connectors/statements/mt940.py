"""MT940 account statements and MT942 interim reports.

The text is cut into fields by one regular expression, and fields are taken in the order they come: that is all the
structure SWIFT's messages have. Wrappers (`{1:…}`), `@@` as line end and `-` between messages are tolerated.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from kontor.connectors.statements.results import (
    LIMITS,
    AccountIdentification,
    Balance,
    Limits,
    RejectedRow,
    Statement,
    StatementError,
    StatementKind,
    TooManyEntriesError,
    check_amounts,
    check_balances,
    check_rejected,
    refuse_unreadable,
)
from kontor.connectors.statements.structured_86 import Details, parse_details, parse_free_text
from kontor.connectors.statements.swift_fields import LineNumbers, read_swift_text, split_fields
from kontor.connectors.statements.values import (
    clean_bic,
    clean_iban,
    drop_noise,
    find_midnight,
    parse_entry_day,
    parse_swift_amount,
    parse_swift_day,
)
from kontor.domain.transactions import Transaction

DEFAULT_CURRENCY = "EUR"
PIECE_LENGTH = 1_000_000
_OPENING = ("60F", "60M")
_ENTRY = re.compile(
    r"([0-9]{6})([0-9]{4}|[ ]{4})?"  # value date, day of booking
    r" ?(R?[CD]|E[CD])([A-Z])?"  # credit or debit, reversal, expected; third letter of the currency
    r" ?([0-9.,]{1,40})"
    r"(?:([NFS][A-Z0-9]{3})|[NFS][ ]*(?=$|\n))?"
    r"([^\n]*)(?:\n([^\n]*(?:\n[^\n]*)*))?"
)
# The shape of nearly all bookings.
_USUAL_ENTRY = re.compile(r"([0-9]{6})([0-9]{4})(R?[CD])[A-Z]?([0-9]{1,15},[0-9]{0,4})N[A-Z0-9]{3}[^\n]*")
_BALANCE = re.compile(r"(R?[CD])([0-9]{6})([A-Z]{3})([0-9.,]{1,40})")
_CURRENCY = re.compile(r"[A-Z]{3}")
_ACCOUNT = re.compile(r"([0-9]{4,12}|[A-Z0-9]{8,11})/([^/]+)")


def read_mt940(data: bytes, limits: Limits = LIMITS) -> tuple[Statement, ...]:
    """All statements of a file, MT940 and MT942 alike. Bookings that cannot be read are told by their statement."""
    statements = _Reader(data, limits).read()
    refuse_unreadable(statements)
    return statements


def _cut(text: str) -> Iterator[str]:
    """Pieces that begin with a message, so that a large file is not held several times over."""
    start = 0
    while start < len(text):
        end = text.find("\n:20:", start + PIECE_LENGTH)
        yield text[start:] if end < 0 else text[start:end]
        start = len(text) if end < 0 else end


class _Reader:
    """Takes field after field. `_begin` forgets one statement and starts the next."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._data = data
        self._limits = limits
        self._statements: list[Statement] = []
        self._count = 0
        self._rejected_count = 0
        self._lines: LineNumbers | None = None
        self._handlers: dict[str, Callable[[str], None]] = {
            "20": self._begin,
            "25": self._take_account,
            "28": self._take_sequence,
            "28C": self._take_sequence,
            "60F": self._take_opening,
            "60M": self._take_opening,
            "61": self._take_entry,
            "62F": self._take_closing,
            "62M": self._take_closing,
            "86": self._take_details,
            "34F": self._take_floor,
            "13": self._take_time,
            "13D": self._take_time,
        }
        self._forget()

    def _forget(self) -> None:
        self._is_begun = False
        self._account_text: str | None = None
        self._sequence: str | None = None
        self._opening: Balance | None = None
        self._closing: Balance | None = None
        self._currency: str | None = None
        self._is_interim = False
        self._entries: list[Transaction] = []
        self._rejected: list[RejectedRow] = []
        self._open: tuple[Decimal, datetime, datetime, str | None] | None = None

    def read(self) -> tuple[Statement, ...]:
        has_fields = False
        handlers = self._handlers
        for piece in _cut(read_swift_text(self._data, self._limits)):
            parts = split_fields(piece)
            for number in range(1, len(parts), 2):
                tag, content = parts[number], parts[number + 1]
                has_fields = True
                handler = handlers.get(tag)
                if handler is None:
                    continue
                if len(content) > self._limits.line_length:
                    raise StatementError("This field is too long.", line=self._find_line(tag, content), field=tag)
                try:
                    handler(content)
                except ValueError as error:
                    self._reject(f"Field {tag} cannot be read: {error}.", tag, content)
        self._finish()
        if not has_fields or not self._statements:
            raise StatementError("This is no MT940: there are no statements in it.")
        return tuple(self._statements)

    def _reject(self, reason: str, tag: str, content: str) -> None:
        self._rejected_count += 1
        check_rejected(self._rejected_count, self._limits)
        self._rejected.append(RejectedRow(self._find_line(tag, content), reason, tag))

    def _find_line(self, tag: str, content: str) -> int:
        if self._lines is None:
            self._lines = LineNumbers(self._data)
        return self._lines.find(tag, content)

    # Fields

    def _begin(self, content: str) -> None:
        self._finish()
        self._is_begun = True

    def _take_account(self, content: str) -> None:
        if self._account_text is not None:
            self._finish()
        self._is_begun = True
        self._account_text = content.strip()

    def _take_sequence(self, content: str) -> None:
        self._sequence = content.strip()[:40] or None

    def _take_opening(self, content: str) -> None:
        self._opening = _parse_balance(content)
        self._currency = self._opening.currency
        self._is_begun = True

    def _take_closing(self, content: str) -> None:
        self._flush()
        self._closing = _parse_balance(content)

    def _take_floor(self, content: str) -> None:
        """Only interim reports have a floor limit; it names their currency."""
        self._is_interim = self._opening is None
        if match := _CURRENCY.match(content):
            self._currency = match[0]

    def _take_time(self, content: str) -> None:
        self._is_interim = self._opening is None

    def _take_entry(self, content: str) -> None:
        if self._open is not None:
            self._flush()
        self._is_begun = True
        if usual := _USUAL_ENTRY.fullmatch(content):
            value_text, entry_text, mark, amount_text = usual.groups()
            amount, supplement = Decimal(amount_text.replace(",", ".")), None
        else:
            match = _ENTRY.match(content)
            if match is None:
                raise ValueError("it is no booking")
            value_text, entry_text, mark, _, amount_text, _, _, supplement = match.groups()
            amount = drop_noise(parse_swift_amount(amount_text))
        # A reversed credit takes money away, a reversed debit gives it back.
        if mark in ("D", "RC", "ED"):
            amount = -amount
        self._open = (amount, *_find_days(value_text, entry_text), supplement)

    def _take_details(self, content: str) -> None:
        """After a booking the field tells what it was; after the balance it speaks of the whole statement."""
        if self._open is not None:
            self._add(parse_details(content))

    # Building

    def _flush(self) -> None:
        """A booking without field 86: its second line is all there is."""
        if self._open is not None:
            self._add(parse_free_text(self._open[3] or ""))

    def _add(self, details: Details) -> None:
        assert self._open is not None
        amount, booked_at, value_at, _ = self._open
        self._open = None
        self._count += 1
        if self._count > self._limits.entries:
            raise TooManyEntriesError(f"There are more than {self._limits.entries} bookings.")
        self._entries.append(
            Transaction(
                amount,
                self._currency or DEFAULT_CURRENCY,
                booked_at,
                value_at,
                *details,
                None,
                self._is_interim,
            )
        )

    def _finish(self) -> None:
        self._flush()
        has_content = self._account_text is not None or self._entries or self._opening is not None
        if (self._is_begun and has_content) or self._rejected:
            if len(self._statements) >= self._limits.statements:
                raise StatementError(f"There are more than {self._limits.statements} statements.")
            currency = self._find_currency()
            entries = tuple(self._entries)
            if self._currency is None and currency is not None:
                entries = tuple(replace(row, currency=currency) for row in entries)
            self._statements.append(
                Statement(
                    StatementKind.MT942 if self._is_interim else StatementKind.MT940,
                    _parse_account(self._account_text or "", currency),
                    entries,
                    self._opening,
                    self._closing,
                    self._sequence,
                    self._is_interim,
                    (*check_balances(self._opening, self._closing, entries), *check_amounts(entries)),
                    tuple(self._rejected),
                )
            )
        self._forget()

    def _find_currency(self) -> str | None:
        """Without an opening balance, that of the closing balance or of the account.

        A statement that names none is in the default currency, but one whose opening balance cannot be read named one.
        """
        if self._currency is not None:
            return self._currency
        if self._closing is not None:
            return self._closing.currency
        currency = _parse_account(self._account_text or "", None).currency
        unreadable = next((row for row in self._rejected if row.field in _OPENING), None)
        if currency is None and unreadable is not None and self._entries:
            raise StatementError(
                "The currency of these bookings is not known: the opening balance cannot be read, and neither the"
                " closing balance nor the account names one.",
                line=unreadable.line,
                field=unreadable.field,
            )
        return currency


@lru_cache(maxsize=20_000)
def _find_days(value_text: str, entry_text: str | None) -> tuple[datetime, datetime]:
    """Booking and value of a booking; without a day of its own it was booked when it counts."""
    value_day = parse_swift_day(value_text)
    is_dated = entry_text is not None and entry_text not in ("    ", "0000")
    day = parse_entry_day(entry_text, value_day) if entry_text is not None and is_dated else value_day
    return find_midnight(day), find_midnight(value_day)


def _parse_balance(content: str) -> Balance:
    match = _BALANCE.match(content)
    if match is None:
        raise ValueError("it is no balance")
    amount = drop_noise(parse_swift_amount(match[4]))
    return Balance(-amount if match[1] in ("D", "RC") else amount, match[3], parse_swift_day(match[2]))


def _parse_account(text: str, currency: str | None) -> AccountIdentification:
    """`BLZ/number`, `BIC/number` or an IBAN, with or without the currency behind it."""
    text = text.partition("\n")[0].strip()
    bank, number = "", text
    if match := _ACCOUNT.fullmatch(text):
        bank, number = match[1], match[2].strip()
    # The number of a German account is at most ten digits, so letters behind digits are a currency.
    suffix = number[-3:]
    if _CURRENCY.fullmatch(suffix) and currency in (None, suffix) and number[:-3].rstrip(" /")[-1:].isdigit():
        currency, number = suffix, number[:-3].rstrip(" /")
    iban = clean_iban(number)
    return AccountIdentification(
        iban=iban,
        account_number=None if iban else number or None,
        bank_code=bank if bank.isdigit() else None,
        bic=clean_bic(bank),
        currency=currency,
    )
