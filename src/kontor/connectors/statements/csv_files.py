"""CSV downloads of German banks. What their columns mean is data, see `csv_profiles.py`."""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from io import StringIO

from kontor.connectors.statements.csv_profiles import Profile, fold_name, load_profiles
from kontor.connectors.statements.decoding import check_size, decode_text
from kontor.connectors.statements.results import (
    LIMITS,
    AccountIdentification,
    Balance,
    Limits,
    Statement,
    StatementError,
    StatementKind,
)
from kontor.connectors.statements.values import (
    MAX_DIGITS,
    clean_bic,
    clean_iban,
    find_midnight,
    find_ultimate_party,
    is_tagged,
    make_day,
)
from kontor.domain.transactions import Transaction

DELIMITERS = (";", ",", "\t", "|")
HEADER_ROWS = 40
HEADER_CHARACTERS = 65_536
MAX_NUMBER_LENGTH = 60
MAX_SEARCHED = 4000
MAX_LINES_AROUND = 200
_DAY = re.compile(r"([0-9]{1,2})[./]([0-9]{1,2})[./]([0-9]{4}|[0-9]{2})(?:\s.*)?")
_ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[T ].*)?")
_NUMBER = re.compile(r"([+-]?)([0-9]+(?:[0-9.,' ]*[0-9])?)([+-]?)(?:\s*(?:€|EUR|[A-Z]{3}))?")
_MINUS = str.maketrans({"−": "-", "–": "-", "\xa0": " ", "\u202f": " "})
_CURRENCY = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True, slots=True)
class Layout:
    """A profile, and where it was found."""

    profile: Profile
    delimiter: str
    header: int
    names: tuple[str, ...]


def find_profile(data: bytes) -> Layout | None:
    """The profile whose columns are all in some row near the top; with several, the one that knows most of them."""
    return _find_layout(_normalise(decode_text(data)))


def read_csv(data: bytes, limits: Limits = LIMITS) -> tuple[Statement, ...]:
    """One statement per account in the file: most files have one."""
    check_size(data, limits)
    text = _normalise(decode_text(data))
    layout = _find_layout(text)
    if layout is None:
        raise StatementError("The columns of this CSV are those of no bank Kontor knows.")
    return _Reader(layout, limits).read(_split_rows(text, layout.delimiter, limits))


def _normalise(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\x00", "")


def _split_rows(text: str, delimiter: str, limits: Limits) -> list[list[str]]:
    rows: list[list[str]] = []
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            rows.append(row)
            if len(rows) > limits.entries:
                raise StatementError(f"There are more than {limits.entries} rows.")
    except csv.Error as error:
        raise StatementError(f"The CSV cannot be read: {error}.", line=reader.line_num) from error
    return rows


def _find_layout(text: str) -> Layout | None:
    head = text[:HEADER_CHARACTERS]
    # A header has no line breaks in it, so lines are enough; quotes that never end do no harm.
    lines = head.split("\n", HEADER_ROWS)[:HEADER_ROWS]
    best: tuple[int, Layout] | None = None
    for delimiter in DELIMITERS:
        for number, line in enumerate(lines):
            if line.count(delimiter) < 2:
                continue
            names = tuple(fold_name(one.strip().strip('"')) for one in line.split(delimiter))
            present = set(names)
            for profile in load_profiles():
                if not present.issuperset(profile.required):
                    continue
                known = {one for columns in profile.columns.values() for one in columns}
                score = len(known & present)
                if best is None or score > best[0]:
                    best = score, Layout(profile, delimiter, number, names)
    return None if best is None else best[1]


class _Reader:
    def __init__(self, layout: Layout, limits: Limits) -> None:
        self._profile = layout.profile
        self._names = layout.names
        self._limits = limits
        # A name that comes twice means the last one: ING names the balance's currency first, then the amount's.
        self._places = {name: index for index, name in enumerate(layout.names)}

    def read(self, rows: list[list[str]]) -> tuple[Statement, ...]:
        header = self._find_header(rows)
        around = [";".join(row) for row in rows[:header]]
        entries: dict[str, list[Transaction]] = {}
        balances: dict[str, Balance] = {}
        for number, row in enumerate(rows[header + 1 :], header + 2):
            if not self._is_booking(row):
                if len(around) < MAX_LINES_AROUND:
                    around.append(";".join(row))
                continue
            account = self._take(row, "account") or ""
            entry = self._make_entry(row, number)
            entries.setdefault(account, []).append(entry)
        found = {name: self._search(pattern, around) for name, pattern in self._profile.preamble.items()}
        accounts = list(entries) or [""]
        for account in accounts:
            if (balance := self._find_balance(found)) is not None and len(accounts) == 1:
                balances[account] = balance
        return tuple(
            Statement(
                StatementKind.CSV,
                self._make_account(account or found.get("account") or "", found),
                tuple(entries.get(account, ())),
                closing=balances.get(account),
            )
            for account in accounts
        )

    def _find_header(self, rows: list[list[str]]) -> int:
        for number, row in enumerate(rows[: HEADER_ROWS * 2]):
            if tuple(fold_name(one) for one in row) == self._names:
                return number
        raise StatementError("The header cannot be found again.", line=1)

    def _take(self, row: Sequence[str], field: str) -> str | None:
        """The text of our field. Several columns are joined, empty ones left out."""
        columns = self._profile.columns.get(field)
        if columns is None:
            return None
        texts = [
            row[place].strip() for name in columns if (place := self._places.get(name)) is not None and place < len(row)
        ]
        text = " ".join(one for one in texts if one)
        if len(text) > self._limits.line_length:
            raise StatementError("This field is too long.", field=field)
        return text or None

    def _is_booking(self, row: Sequence[str]) -> bool:
        """Rows below the table (balances, sums) have no day or no amount where a booking has them."""
        days = (self._take(row, "booked"), self._take(row, "value"))
        has_day = any(one is not None and (_DAY.fullmatch(one) or _ISO_DAY.fullmatch(one)) for one in days)
        has_amount = any(self._take(row, name) is not None for name in ("amount", "debit", "credit"))
        return has_day and has_amount and len(row) * 2 > len(self._names)

    def _make_entry(self, row: Sequence[str], number: int) -> Transaction:
        booked = self._parse(row, "booked", number, parse_day)
        value = self._parse(row, "value", number, parse_day)
        amount = self._find_amount(row, number)
        purpose = self._take(row, "purpose") or ""
        extracted = {name: self._search(pattern, [purpose]) for name, pattern in self._profile.extract.items()}
        name = self._take(row, "counterparty_name") or self._take(row, "creditor_name" if amount < 0 else "debtor_name")
        tagged = self._add_references(row, extracted.get("purpose") or purpose)
        at = booked or value
        return Transaction(
            amount,
            self._find_currency(row),
            None if at is None else find_midnight(at),
            None if value is None else find_midnight(value),
            tagged or None,
            self._take(row, "booking_text"),
            counterparty_name=name or extracted.get("counterparty_name"),
            counterparty_iban=clean_iban(self._take(row, "counterparty_iban") or extracted.get("counterparty_iban")),
            counterparty_bic=clean_bic(self._take(row, "counterparty_bic") or extracted.get("counterparty_bic")),
            ultimate_counterparty=self._take(row, "ultimate_counterparty") or find_ultimate_party(tagged),
            bank_id=self._take(row, "bank_id"),
            is_pending=self._is_pending(row),
        )

    def _parse(self, row: Sequence[str], field: str, number: int, parse: Callable[[str], date | None]) -> date | None:
        text = self._take(row, field)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            raise StatementError(f"The day cannot be read: {error}.", line=number, field=field) from error

    def _find_amount(self, row: Sequence[str], number: int) -> Decimal:
        """One column with a sign, one with the sign beside it, or one each for debits and credits."""
        try:
            text = self._take(row, "amount")
            if text is not None:
                amount = parse_number(text, self._profile.decimal)
                return self._sign(row, amount)
            debit, credit = self._take(row, "debit"), self._take(row, "credit")
            total = Decimal(0)
            if debit is not None:
                total -= abs(parse_number(debit, self._profile.decimal))
            if credit is not None:
                total += abs(parse_number(credit, self._profile.decimal))
        except ValueError as error:
            raise StatementError(f"The amount cannot be read: {error}.", line=number, field="amount") from error
        return total

    def _sign(self, row: Sequence[str], amount: Decimal) -> Decimal:
        column = self._profile.sign_column
        if column is not None:
            place = self._places.get(column, len(row))
            mark = row[place].strip() if place < len(row) else ""
            return -abs(amount) if mark == self._profile.debit_word else abs(amount)
        has_debit = "debit" in self._profile.columns and self._take(row, "debit") is not None
        return -abs(amount) if has_debit else amount

    def _find_currency(self, row: Sequence[str]) -> str:
        text = (self._take(row, "currency") or "").replace("€", "EUR").upper()
        return text if _CURRENCY.fullmatch(text) else self._profile.currency or "EUR"

    def _add_references(self, row: Sequence[str], purpose: str) -> str:
        """References from columns of their own, under the tags that MT940 gives them."""
        if is_tagged(purpose):
            return purpose
        fields = (("EREF", "end_to_end"), ("MREF", "mandate"), ("CRED", "creditor_id"))
        values = [(tag, self._take(row, field)) for tag, field in fields]
        named = [f"{tag}+{value}" for tag, value in values if value and value.upper() != "NOTPROVIDED"]
        if not named:
            return purpose
        return " ".join([*named, *([f"SVWZ+{purpose}"] if purpose else [])])

    def _is_pending(self, row: Sequence[str]) -> bool:
        column = self._profile.pending_column
        place = len(row) if column is None else self._places.get(column, len(row))
        return place < len(row) and any(word in row[place].lower() for word in self._profile.pending_words)

    # Around the table

    def _search(self, pattern: re.Pattern[str], lines: list[str]) -> str | None:
        for line in lines:
            if found := pattern.search(line[:MAX_SEARCHED]):
                return found[1].strip() or None
        return None

    def _find_balance(self, found: dict[str, str | None]) -> Balance | None:
        text, day = found.get("balance"), found.get("balance_day")
        if text is None:
            return None
        try:
            amount = parse_number(text, self._profile.decimal)
            return Balance(amount, self._profile.currency or "EUR", None if day is None else parse_day(day))
        except ValueError as error:
            raise StatementError(f"The balance cannot be read: {error}.", field="balance") from error

    def _make_account(self, text: str, found: dict[str, str | None]) -> AccountIdentification:
        iban = clean_iban(text) or clean_iban(found.get("iban"))
        return AccountIdentification(
            iban=iban,
            account_number=None if iban else text or None,
            currency=self._profile.currency,
            holder=found.get("holder"),
        )


def parse_day(text: str) -> date | None:
    """`31.12.2026`, `31.12.26`, `31/12/2026`, `2026-12-31`, with or without a time. Words ("offen") are no day."""
    text = text.strip()
    if found := _DAY.fullmatch(text):
        year = int(found[3])
        return make_day(year + 2000 if year < 100 else year, int(found[2]), int(found[1]))
    if found := _ISO_DAY.fullmatch(text):
        return make_day(int(found[1]), int(found[2]), int(found[3]))
    if any(one.isdigit() for one in text):
        raise ValueError("this is no day")
    return None


def parse_number(text: str, decimal: str) -> Decimal:
    """`-1.234,56`, `1.234,56-`, `1 234,56 €`."""
    if len(text) > MAX_NUMBER_LENGTH:
        raise ValueError("this is no number")
    found = _NUMBER.fullmatch(text.translate(_MINUS).strip())
    if found is None or len(found[2]) > MAX_DIGITS:
        raise ValueError("this is no number")
    groups = "." if decimal == "," else ","
    digits = found[2].replace(groups, "").replace("'", "").replace(" ", "")
    if digits.count(decimal) > 1:
        raise ValueError("this is no number")
    number = Decimal(digits.replace(decimal, "."))
    return -number if "-" in (found[1], found[3]) else number
