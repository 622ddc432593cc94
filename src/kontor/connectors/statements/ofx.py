"""OFX, as banks and programs export it: 1.x in SGML, whose values have no end tag, and 2.x in XML.

The specification is public (OFX 2.3, chapters 3 and 11). Securities (`INVSTMTRS`) are not read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape

from kontor.connectors.statements.csv_values import choose_decimal, parse_number
from kontor.connectors.statements.decoding import check_size, decode_text
from kontor.connectors.statements.results import (
    LIMITS,
    AccountIdentification,
    Balance,
    Limits,
    Origin,
    RejectedRow,
    Statement,
    StatementError,
    StatementKind,
    TooManyEntriesError,
    check_amounts,
    check_rejected,
    refuse_unreadable,
)
from kontor.connectors.statements.values import add_national_account, clean_iban, drop_noise, find_midnight, make_day
from kontor.domain.account_numbers import clean_card_number
from kontor.domain.clocks import BERLIN
from kontor.domain.transactions import Transaction

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9._]*)\s*/?>([^<]*)")
_DAY = re.compile(
    r"([0-9]{4})([0-9]{2})([0-9]{2})(?:([0-9]{2})([0-9]{2})(?:([0-9]{2})(?:\.[0-9]+)?)?)?(?:\[([+-]?[0-9.]+).*)?"
)
_AMOUNT = re.compile(r"[+-]?(?:[0-9]{1,24}[.,]?[0-9]{0,12}|[.,][0-9]{1,12})")
_CURRENCY = re.compile(r"[A-Z]{3}")
_STATEMENTS = {"STMTRS": "giro", "CCSTMTRS": "card"}
# Parts of a statement and of an entry, whose fields have the same names.
_PARTS = frozenset({"BANKACCTFROM", "CCACCTFROM", "LEDGERBAL", "AVAILBAL"})
_ENTRY_PARTS = frozenset({"BANKACCTTO", "CCACCTTO", "PAYEE", "CURRENCY", "ORIGCURRENCY"})


@dataclass(slots=True)
class _Draft:
    """A statement while it is read: `values` by path, such as `LEDGERBAL.BALAMT`."""

    kind: str
    line: int
    values: dict[str, str] = field(default_factory=dict)
    entries: list[tuple[int, dict[str, str]]] = field(default_factory=list)


def is_ofx(head: str) -> bool:
    return head.startswith("OFXHEADER:") or re.search(r"<\?OFX\b|<OFX>", head[:2000]) is not None


def read_ofx(data: bytes, limits: Limits = LIMITS) -> tuple[Statement, ...]:
    """One statement per account. Entries that cannot be read are told by it."""
    check_size(data, limits)
    statements = tuple(_make_statement(draft, limits) for draft in _list_drafts(decode_text(data), limits))
    refuse_unreadable(statements)
    return statements


def _list_drafts(text: str, limits: Limits) -> list[_Draft]:
    collector = _Collector(limits)
    for line, is_end, name, value in _list_tags(text):
        if len(value) > limits.line_length:
            raise StatementError("This field is too long.", line=line, field=name)
        if is_end:
            collector.close(name)
        elif value:
            collector.add(name, value)
        else:
            collector.open(line, name)
    if collector.draft is not None:
        raise StatementError("The file ends within a statement.", line=collector.draft.line)
    return collector.drafts


class _Collector:
    """Where the reader is: in which statement, in which entry, in which part of one of both."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._count = 0
        self._entry: dict[str, str] | None = None
        self._part = ""
        self.draft: _Draft | None = None
        self.drafts: list[_Draft] = []

    def open(self, line: int, name: str) -> None:
        if name in _STATEMENTS:
            self.draft = _Draft(_STATEMENTS[name], line)
        elif self.draft is not None and name == "STMTTRN":
            self._count += 1
            if self._count > self._limits.entries:
                raise TooManyEntriesError(f"There are more than {self._limits.entries} bookings.")
            self._entry, self._part = {}, ""
            self.draft.entries.append((line, self._entry))
        elif name in (_PARTS if self._entry is None else _ENTRY_PARTS):
            self._part = name

    def close(self, name: str) -> None:
        if name in _STATEMENTS and self.draft is not None:
            self.drafts.append(self.draft)
            self.draft = self._entry = None
        elif name == "STMTTRN":
            self._entry = None
        if name in (self._part, "STMTTRN"):
            self._part = ""

    def add(self, name: str, value: str) -> None:
        if self.draft is not None:
            values = self.draft.values if self._entry is None else self._entry
            values.setdefault(f"{self._part}.{name}" if self._part else name, value)


def _list_tags(text: str) -> Iterator[tuple[int, bool, str, str]]:
    """Line, whether it is an end tag, name, and value."""
    line, position = 1, 0
    for match in _TAG.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        yield line, bool(match[1]), match[2].upper(), unescape(match[3].strip())


def _make_statement(draft: _Draft, limits: Limits) -> Statement:
    values = draft.values
    currency = values.get("CURDEF", "EUR").upper()
    decimal = choose_decimal((entry.get("TRNAMT", "") for _, entry in draft.entries), ".")
    entries: list[Transaction] = []
    rejected: list[RejectedRow] = []
    for line, entry in draft.entries:
        try:
            entries.append(_make_entry(entry, currency, decimal))
        except ValueError as error:
            rejected.append(RejectedRow(line, f"The booking cannot be read: {error}."))
            check_rejected(len(rejected), limits)
    return Statement(
        StatementKind.OFX,
        _make_account(draft, currency),
        tuple(entries),
        closing=_make_balance(draft, currency, rejected),
        issues=check_amounts(tuple(entries)),
        rejected=tuple(rejected),
    )


def _make_entry(entry: dict[str, str], currency: str, decimal: str) -> Transaction:
    if "TRNAMT" not in entry or "DTPOSTED" not in entry:
        raise ValueError("it has no day or no amount")
    name = entry.get("NAME") or entry.get("PAYEE.NAME")
    number, bank = entry.get("BANKACCTTO.ACCTID"), entry.get("BANKACCTTO.BANKID")
    iban = clean_iban(number)
    memo = entry.get("MEMO")
    used = entry.get("DTUSER")
    # A `CURRENCY` says in which currency this amount is; an `ORIGCURRENCY` only what it was before.
    own = entry.get("CURRENCY.CURSYM", currency).upper()
    return Transaction(
        parse_ofx_amount(entry["TRNAMT"], decimal),
        own if _CURRENCY.fullmatch(own) else currency,
        find_midnight(parse_ofx_day(entry["DTPOSTED"])),
        None if used is None else find_midnight(parse_ofx_day(used)),
        memo if iban else add_national_account(memo, number, bank),
        entry.get("TRNTYPE"),
        counterparty_name=name,
        counterparty_iban=iban,
        bank_id=entry.get("FITID"),
    )


def _make_account(draft: _Draft, currency: str) -> AccountIdentification:
    values = draft.values
    number = values.get("BANKACCTFROM.ACCTID") or values.get("CCACCTFROM.ACCTID")
    iban = clean_iban(number)
    if number is not None and draft.kind == "card":
        number = clean_card_number(number)
    bank = values.get("BANKACCTFROM.BANKID")
    return AccountIdentification(
        iban=iban,
        account_number=None
        if iban or number is None
        else clean_card_number(number)
        if draft.kind == "card"
        else number,
        bank_code=bank if bank and re.fullmatch("[0-9]{8}", bank) else None,
        currency=currency,
        origin=Origin("ofx", draft.kind),
    )


def _make_balance(draft: _Draft, currency: str, rejected: list[RejectedRow]) -> Balance | None:
    text, day = draft.values.get("LEDGERBAL.BALAMT"), draft.values.get("LEDGERBAL.DTASOF")
    if text is None:
        return None
    try:
        amount = parse_ofx_amount(text, choose_decimal([text], "."))
        return Balance(amount, currency, None if day is None else parse_ofx_day(day))
    except ValueError as error:
        rejected.append(RejectedRow(draft.line, f"The balance cannot be read: {error}.", "LEDGERBAL"))
        return None


def parse_ofx_amount(text: str, decimal: str) -> Decimal:
    """The standard has no separators of thousands: `-30.000` is thirty. Some programs write them all the same."""
    plain = text.strip()
    if plain.count(decimal) == 1 and _AMOUNT.fullmatch(plain):
        return drop_noise(Decimal(plain.replace(decimal, ".")))
    return parse_number(text, decimal)


def parse_ofx_day(text: str) -> date:
    """`20261103`, `20261103120000`, `20261103230000.000[-5:EST]`: the day in Germany, where a time zone is named."""
    match = _DAY.fullmatch(text.strip())
    if match is None:
        raise ValueError("this is no day")
    day = make_day(int(match[1]), int(match[2]), int(match[3]))
    if match[4] is None or match[7] is None:
        return day
    try:
        moment = datetime(day.year, day.month, day.day, int(match[4]), int(match[5]), int(match[6] or 0), tzinfo=UTC)
        return (moment - timedelta(hours=float(match[7]))).astimezone(BERLIN).date()
    except (ValueError, OverflowError):
        raise ValueError("this is no time") from None
