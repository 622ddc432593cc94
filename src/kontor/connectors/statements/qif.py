"""QIF, the format of Quicken, which old programs still export. It names no bank and no currency."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from kontor.connectors.statements.csv_values import choose_decimal, parse_number
from kontor.connectors.statements.decoding import check_size, decode_text
from kontor.connectors.statements.results import (
    LIMITS,
    AccountIdentification,
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
from kontor.connectors.statements.values import find_midnight, make_day
from kontor.domain.transactions import Transaction

_KINDS = {"bank": "giro", "cash": "giro", "ccard": "card", "oth a": "giro", "oth l": "giro"}
# `3/11/26`, `03.11.2026`, `11/ 3'26`; the apostrophe marks years from 2000 on.
_DAY = re.compile(r"([0-9]{1,4})\s*[./-]\s*([0-9]{1,2})\s*[./'-]\s*([0-9]{1,4})")
_HEAD = re.compile(r"\s*!(?:Type:(?:Bank|Cash|CCard|Oth A|Oth L)\b|Account\b|Option:|Clear:)", re.IGNORECASE)
SHORT_YEARS = 70  # two digits from here on are of the last century


@dataclass(slots=True)
class _Draft:
    """An account while it is read: its records, each with its line and its fields by letter."""

    kind: str
    name: str
    records: list[tuple[int, dict[str, str]]] = field(default_factory=list)


def is_qif(head: str) -> bool:
    return _HEAD.match(head) is not None


def read_qif(data: bytes, limits: Limits = LIMITS) -> tuple[Statement, ...]:
    """One statement per account. Lists of categories, securities and classes are left out."""
    check_size(data, limits)
    drafts = _list_drafts(decode_text(data), limits)
    statements = tuple(_make_statement(draft, limits) for draft in drafts if draft.records)
    refuse_unreadable(statements)
    return statements


def _list_drafts(text: str, limits: Limits) -> list[_Draft]:
    drafts: dict[tuple[str, str], _Draft] = {}
    current: _Draft | None = None
    account, is_account_list = "", False
    record: dict[str, str] = {}
    start = count = 0
    for line, letter, value in _list_lines(text, limits):
        if letter == "!":
            kind = _KINDS.get(value.lower().removeprefix("type:").strip())
            is_account_list = value.lower().startswith("account")
            current = None if kind is None else drafts.setdefault((kind, account), _Draft(kind, account))
            record = {}
        elif letter == "^":
            if is_account_list:
                account = record.get("N", account)
            elif current is not None and record:
                count += 1
                if count > limits.entries:
                    raise TooManyEntriesError(f"There are more than {limits.entries} bookings.")
                current.records.append((start, record))
            record = {}
        else:
            start = start if record else line
            record.setdefault(letter, value)
    if record and current is not None:
        current.records.append((start, record))
    return list(drafts.values())


def _list_lines(text: str, limits: Limits) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip().lstrip("\ufeff")
        if len(stripped) > limits.line_length:
            raise StatementError("This line is too long.", line=number)
        if stripped:
            yield number, stripped[0], stripped[1:].strip()


def _make_statement(draft: _Draft, limits: Limits) -> Statement:
    fields = [record for _, record in draft.records]
    decimal = choose_decimal((_find_amount(record) for record in fields), ".")
    order = find_order([record.get("D", "") for record in fields])
    entries: list[Transaction] = []
    rejected: list[RejectedRow] = []
    for line, record in draft.records:
        try:
            day = parse_qif_day(record.get("D", ""), order)
            amount = parse_number(_find_amount(record), decimal)
        except ValueError as error:
            rejected.append(RejectedRow(line, f"The booking cannot be read: {error}."))
            check_rejected(len(rejected), limits)
            continue
        entries.append(
            Transaction(
                amount,
                "EUR",
                find_midnight(day),
                None,
                record.get("M") or None,
                counterparty_name=record.get("P") or None,
            )
        )
    return Statement(
        StatementKind.QIF,
        AccountIdentification(currency="EUR", origin=Origin("qif", draft.kind, pocket=draft.name)),
        tuple(entries),
        issues=check_amounts(tuple(entries)),
        rejected=tuple(rejected),
    )


def _find_amount(record: dict[str, str]) -> str:
    return record.get("T") or record.get("U", "")


def find_order(days: list[str]) -> str:
    """Whether the day comes first, as in Germany, or the month: decided by days of the file that can be only one."""
    for order in ("dmy", "mdy"):
        if all(_is_day(day, order) for day in days):
            return order
    return "dmy"


def _is_day(text: str, order: str) -> bool:
    try:
        parse_qif_day(text, order)
    except ValueError:
        return False
    return True


def parse_qif_day(text: str, order: str) -> date:
    match = _DAY.fullmatch(text.strip())
    if match is None:
        raise ValueError("this is no day")
    first, second, third = int(match[1]), int(match[2]), int(match[3])
    if len(match[1]) == 4:
        return make_day(first, second, third)
    day, month = (first, second) if order == "dmy" else (second, first)
    if len(match[3]) < 3:
        third += 1900 if third >= SHORT_YEARS else 2000
    return make_day(third, month, day)
