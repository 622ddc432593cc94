"""CSV downloads of German banks. What their columns mean is data, see `csv_profiles.py`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import pairwise

from kontor.connectors.statements.csv_profiles import Marker, Profile, load_profiles
from kontor.connectors.statements.csv_tables import Table, list_tables
from kontor.connectors.statements.csv_values import choose_decimal, is_day, parse_day, parse_number
from kontor.connectors.statements.decoding import check_size
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
    check_amounts,
    check_balances,
    check_rejected,
    refuse_unreadable,
)
from kontor.connectors.statements.values import (
    add_national_account,
    add_references,
    clean_bic,
    clean_iban,
    find_midnight,
    find_ultimate_party,
)
from kontor.domain.account_numbers import clean_card_number
from kontor.domain.transactions import Transaction, find_day

MAX_SEARCHED = 4000
MAX_LINES_AROUND = 200
AMOUNTS = ("amount", "debit", "credit")
CHARGES = {"added": 1, "deducted": -1}
_Key = tuple[str, str]  # of an account: its number and its pocket
_NO_KEY = "", ""
_CURRENCY = re.compile(r"[A-Z]{3}")


def read_csv(data: bytes, limits: Limits = LIMITS, profiles: Sequence[Profile] | None = None) -> tuple[Statement, ...]:
    """One statement per account in the file: most files have one. Rows that cannot be read are told by it."""
    check_size(data, limits)
    tables = list_tables(data, limits, load_profiles() if profiles is None else profiles)
    statements = tuple(statement for table in tables for statement in _Reader(table, limits).read())
    refuse_unreadable(statements)
    return statements


@dataclass(slots=True)
class _Account:
    """What the rows of one account say."""

    entries: list[Transaction] = field(default_factory=list)
    # The balance after each booked entry; None where a row has none.
    balances: list[Decimal | None] = field(default_factory=list)
    rejected: list[RejectedRow] = field(default_factory=list)


class _Reader:
    def __init__(self, table: Table, limits: Limits) -> None:
        self._table = table
        self._profile = table.layout.profile
        self._names = table.layout.names
        self._limits = limits
        self._rejected_count = 0
        # A name that comes twice means the last one: ING names the balance's currency first, then the amount's.
        self._places = {name: index for index, name in enumerate(self._names)}
        self._decimal = self._choose_decimal(table.rows)

    def read(self) -> tuple[Statement, ...]:
        around = [(line, ";".join(row)) for line, row in self._table.above]
        tables: dict[_Key, _Account] = {}
        rejected: list[tuple[_Key, RejectedRow]] = []
        for line, row in self._table.rows:
            account = _NO_KEY
            try:
                if not self._is_of_table(row):
                    if len(around) < MAX_LINES_AROUND:
                        around.append((line, ";".join(row)))
                    continue
                if self._is_marked(row, self._profile.skipped):
                    continue
                account = self._take(row, "account") or "", self._take(row, "pocket") or ""
                entry = self._make_entry(row)
            except StatementError as error:
                rejected.append((account, self._reject(line, str(error), error.field)))
                continue
            table = tables.setdefault(account, _Account())
            table.entries.append(entry)
            if not entry.is_pending:
                self._take_balance(table, line, row)
        first = next(iter(tables.values())) if tables else tables.setdefault(_NO_KEY, _Account())
        for account, refused in rejected:
            tables.get(account, first).rejected.append(refused)
        is_only = len(tables) == 1
        return tuple(self._make_statement(key, table, around, is_only=is_only) for key, table in tables.items())

    def _reject(self, line: int | None, reason: str, field: str | None) -> RejectedRow:
        self._rejected_count += 1
        check_rejected(self._rejected_count, self._limits)
        return RejectedRow(line, reason, field)

    def _choose_decimal(self, rows: list[tuple[int, list[str]]]) -> str:
        columns = [name for field in (*AMOUNTS, *CHARGES, "balance") for name in self._profile.columns.get(field, ())]
        places = [self._places[name] for name in columns if name in self._places]
        texts = (row[place] for _, row in rows for place in places if place < len(row))
        return choose_decimal(texts, self._profile.decimal)

    def _take(self, row: Sequence[str], field: str) -> str | None:
        """The text of our field. Several columns are joined, empty ones left out."""
        columns = self._profile.columns.get(field)
        if columns is None:
            return None
        texts = [self._read_cell(row, name) for name in columns]
        text = " ".join(text for text in texts if text)
        if len(text) > self._limits.line_length:
            raise StatementError("This field is too long.", field=field)
        return text or None

    def _read_cell(self, row: Sequence[str], name: str) -> str:
        place = self._places.get(name, len(row))
        return row[place].strip() if place < len(row) else ""

    def _is_of_table(self, row: Sequence[str]) -> bool:
        """Lines around the table are short, or have neither day nor amount where a booking has them.

        A short row with its day is one that was cut.
        """
        if row == self._table.header or self._is_balance(row):
            return False
        if len(row) * 2 <= len(self._names):
            return is_day(self._take(row, "booked"), self._profile.days)
        if self._profile.preamble and not is_day(self._take(row, "booked"), self._profile.days):
            line = ";".join(row)[:MAX_SEARCHED]
            if any(pattern.search(line) for pattern in self._profile.preamble.values()):
                return False
        return any(self._take(row, name) is not None for name in ("booked", "value", *AMOUNTS))

    def _is_balance(self, row: Sequence[str]) -> bool:
        return any(word in row for word in self._profile.balance_words.values())

    def _make_entry(self, row: Sequence[str]) -> Transaction:
        booked, value = self._find_day(row, "booked"), self._find_day(row, "value")
        amount = self._find_amount(row) + self._find_charges(row)
        text = self._take(row, "purpose") or ""
        extracted = {name: _search(pattern, [text]) for name, pattern in self._profile.extract.items()}
        name = self._take(row, "counterparty_name") or self._take(row, "creditor_name" if amount < 0 else "debtor_name")
        number = self._take(row, "counterparty_iban") or extracted.get("counterparty_iban")
        bank = self._take(row, "counterparty_bic") or extracted.get("counterparty_bic")
        tagged = self._add_references(row, extracted.get("purpose") or text)
        iban = clean_iban(number)
        is_pending = self._is_marked(row, self._profile.pending)
        day = booked or value
        if day is None and is_pending and (written := extracted.get("day")) is not None:
            day = self._parse_day(written, "purpose")
        if day is None:
            raise StatementError("The row has no day.", field="booked")
        return Transaction(
            amount,
            self._find_currency(row),
            find_midnight(day),
            None if value is None else find_midnight(value),
            (tagged if iban else add_national_account(tagged, number, bank)) or None,
            self._take(row, "booking_text") or extracted.get("booking_text"),
            self._take(row, "gv_code"),
            self._take(row, "prima_nota"),
            counterparty_name=name or extracted.get("counterparty_name"),
            counterparty_iban=iban,
            counterparty_bic=clean_bic(bank),
            ultimate_counterparty=self._take(row, "ultimate_counterparty") or find_ultimate_party(tagged),
            bank_id=self._take(row, "bank_id"),
            is_pending=is_pending,
        )

    def _find_day(self, row: Sequence[str], field: str) -> date | None:
        text = self._take(row, field)
        return None if text is None else self._parse_day(text, field)

    def _parse_day(self, text: str, field: str) -> date | None:
        try:
            return parse_day(text, self._profile.days)
        except ValueError as error:
            raise StatementError(f"The day cannot be read: {error}.", field=field) from error

    def _find_amount(self, row: Sequence[str]) -> Decimal:
        """One column with a sign, one with the sign beside it, or one each for debits and credits."""
        text, debit, credit = (self._take(row, name) for name in AMOUNTS)
        try:
            if text is not None:
                return self._sign(row, parse_number(text, self._decimal))
            if debit is None and credit is None:
                raise StatementError("The row has no amount.", field="amount")
            total = Decimal(0)
            if debit is not None:
                total -= abs(parse_number(debit, self._decimal))
            if credit is not None:
                total += abs(parse_number(credit, self._decimal))
        except ValueError as error:
            raise StatementError(f"The amount cannot be read: {error}.", field="amount") from error
        return total

    def _find_charges(self, row: Sequence[str]) -> Decimal:
        """What columns of their own add to the amount, or take from it."""
        total = Decimal(0)
        for charge, sign in CHARGES.items():
            for name in self._profile.columns.get(charge, ()):
                text = self._read_cell(row, name)
                try:
                    total += sign * parse_number(text, self._decimal) if text else 0
                except ValueError as error:
                    raise StatementError(f"The fee cannot be read: {error}.", field="amount") from error
        return total

    def _sign(self, row: Sequence[str], amount: Decimal) -> Decimal:
        column = self._profile.sign_column
        if column is not None:
            is_debit = self._read_cell(row, column) == self._profile.debit_word
            return -abs(amount) if is_debit else abs(amount)
        if self._profile.is_inverted:
            return -amount
        has_debit = "debit" in self._profile.columns and self._take(row, "debit") is not None
        return -abs(amount) if has_debit else amount

    def _find_currency(self, row: Sequence[str]) -> str:
        text = (self._take(row, "currency") or "").replace("€", "EUR").upper()
        return text if _CURRENCY.fullmatch(text) else self._profile.currency or "EUR"

    def _add_references(self, row: Sequence[str], purpose: str) -> str:
        return add_references(purpose, *(self._take(row, field) for field in ("end_to_end", "mandate", "creditor_id")))

    def _is_marked(self, row: Sequence[str], marker: Marker | None) -> bool:
        if marker is None:
            return False
        texts = [self._read_cell(row, column).lower() for column in marker.columns if column in self._places]
        return any(word in text if word else not text for text in texts for word in marker.words)

    # Balances and what stands around the table

    def _take_balance(self, table: _Account, line: int, row: Sequence[str]) -> None:
        text = self._take(row, "balance")
        try:
            table.balances.append(None if text is None else parse_number(text, self._decimal))
        except ValueError as error:
            reason = f"The balance after the booking cannot be read: {error}. The booking was."
            table.rejected.append(self._reject(line, reason, "balance"))
            table.balances.append(None)

    def _make_statement(self, key: _Key, table: _Account, around: list[tuple[int, str]], *, is_only: bool) -> Statement:
        """With the balances of its rows; those around the table are of its only account."""
        lines = [text for _, text in around]
        preamble = {key: _search(pattern, lines) for key, pattern in self._profile.preamble.items()}
        number, pocket = key
        currency = self._find_table_currency(table)
        opening, closing = _derive_balances(table, currency)
        if closing is None and is_only:
            opening, closing = self._find_balances(preamble, table, around)
        entries = tuple(table.entries)
        return Statement(
            StatementKind.CSV,
            self._make_account(number or preamble.get("account") or "", preamble, pocket, currency),
            entries,
            opening,
            closing,
            issues=(*check_balances(opening, closing, entries), *check_amounts(entries)),
            rejected=tuple(sorted(table.rejected, key=lambda row: row.line or 0)),
            form=self._profile.key,
        )

    def _find_balances(
        self, preamble: dict[str, str | None], table: _Account, around: list[tuple[int, str]]
    ) -> tuple[Balance | None, Balance | None]:
        """Opening and closing balance as the lines around the table name them."""
        text, day = preamble.get("balance"), preamble.get("balance_day")
        named: dict[str, Balance | None] = {"opening": None, "closing": None}
        if text is not None:
            line = next((number for number, words in around if text in words), None)
            named["closing"] = self._parse_balance(table, line, text, day)
        for key, word in self._profile.balance_words.items():
            for line, words in around:
                row = words.split(";")
                if word in row and (amount := self._take(row, "amount")) is not None:
                    balance = self._parse_balance(table, line, amount, self._take(row, "booked"))
                    named[key] = balance and Balance(self._sign(row, balance.amount), balance.currency, balance.day)
        return named["opening"], named["closing"]

    def _parse_balance(self, table: _Account, line: int | None, text: str, day: str | None) -> Balance | None:
        """Written in the table's way, or in the other one: old downloads of DKB mix both."""
        try:
            decimal = choose_decimal([text], self._decimal)
            amount, at = parse_number(text, decimal), None if day is None else parse_day(day, self._profile.days)
        except ValueError as error:
            table.rejected.append(self._reject(line, f"The balance cannot be read: {error}.", "balance"))
            return None
        return Balance(amount, self._profile.currency or "EUR", at)

    def _find_table_currency(self, table: _Account) -> str:
        """That of the layout, unless all rows have another one."""
        currencies = {entry.currency for entry in table.entries}
        return currencies.pop() if len(currencies) == 1 else self._profile.currency or "EUR"

    def _make_account(
        self, text: str, preamble: dict[str, str | None], pocket: str, currency: str
    ) -> AccountIdentification:
        text = text.strip("'")  # against spreadsheets, which would make a number of it
        iban = clean_iban(text) or clean_iban(preamble.get("iban"))
        profile = self._profile
        return AccountIdentification(
            iban=iban,
            account_number=None if iban or not text else clean_card_number(text) if profile.kind == "card" else text,
            currency=currency,
            holder=preamble.get("holder"),
            origin=Origin(profile.bank, profile.kind, profile.institution, pocket),
        )


def _search(pattern: re.Pattern[str], lines: Sequence[str]) -> str | None:
    for line in lines:
        if match := pattern.search(line[:MAX_SEARCHED]):
            return match[1].strip() or None
    return None


def _derive_balances(table: _Account, currency: str) -> tuple[Balance | None, Balance | None]:
    """Opening and closing balance from the balances after each booking, whichever way the rows are ordered."""
    booked = [entry for entry in table.entries if not entry.is_pending]
    pairs = [(entry, after) for entry, after in zip(booked, table.balances, strict=True) if after is not None]
    if not pairs or len(pairs) != len(booked) or any(entry.currency != currency for entry in booked):
        return None, None
    steps = list(pairwise(pairs))
    is_oldest_first = all(first[1] + second[0].amount == second[1] for first, second in steps)
    is_newest_first = all(second[1] + first[0].amount == first[1] for first, second in steps)
    first_day, last_day = find_day(pairs[0][0]), find_day(pairs[-1][0])
    if is_oldest_first == is_newest_first and first_day is not None and last_day is not None:
        is_newest_first = first_day > last_day
    (oldest, before), (newest, after) = (pairs[-1], pairs[0]) if is_newest_first else (pairs[0], pairs[-1])
    opening = Balance(before - oldest.amount, currency, find_day(oldest))
    return opening, Balance(after, currency, find_day(newest))
