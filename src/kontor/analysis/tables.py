"""Rows of callers who use the analyses as a library: dicts, and data frames of pandas, polars and Arrow.

None of these libraries is imported: a data frame is known by its methods.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from kontor.analysis.records import Account
from kontor.domain.cleaning import clean_amount
from kontor.domain.clocks import BERLIN
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import Transaction, clean_transaction

TEXTS = (
    "purpose",
    "counterparty_name",
    "counterparty_iban",
    "counterparty_bic",
    "ultimate_counterparty",
    "booking_text",
    "gv_code",
)
ACCOUNT_FIELDS = frozenset(("id", "category", "name", "holder", "iban", "currency", "balance"))


class RowError(ValueError):
    """A row or an account that cannot be read. `place` is "row" or "account" with its number, from 0 on."""

    def __init__(self, place: str, field: str, reason: str) -> None:
        super().__init__(f"{place}: {field}: {reason}")
        self.place, self.field, self.reason = place, field, reason


@dataclass(frozen=True, slots=True)
class Row:
    id: str
    account: str
    transaction: Transaction


def list_rows(table: Any) -> list[Mapping[str, Any]]:
    """The rows of a list of dicts, or of a data frame."""
    if hasattr(table, "to_dicts"):  # polars
        return list(table.to_dicts())
    if hasattr(table, "to_pylist"):  # Arrow
        return list(table.to_pylist())
    if hasattr(table, "to_dict") and hasattr(table, "columns"):  # pandas
        return list(table.to_dict("records"))
    rows = list(table)
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise RowError(f"row {number}", "row", f"is no dict but {type(row).__name__}")
    return rows


def add_columns(table: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """A table of the same kind with further columns; the caller's own is left as it is."""
    if hasattr(table, "to_dicts"):
        return table.with_columns(**{name: type(table)({name: list(values)})[name] for name, values in columns.items()})
    if hasattr(table, "to_pylist"):
        for name, values in columns.items():
            table = table.append_column(name, [list(values)])
        return table
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        return table.assign(**{name: list(values) for name, values in columns.items()})
    rows = list_rows(table)
    return [
        {**row, **dict(zip(columns, values, strict=True))}
        for row, values in zip(rows, zip(*columns.values(), strict=True), strict=True)
    ]


def read_rows(table: Any, columns: Mapping[str, str]) -> list[Row]:
    """`columns` names the caller's column of each field that is called otherwise."""
    read = []
    seen: set[str] = set()
    for number, given in enumerate(list_rows(table)):
        row = _RowReader(f"row {number}", given, columns)
        row_id = row.read_text("id") or str(number)
        if row_id in seen:
            raise RowError(f"row {number}", "id", f"{row_id!r} occurs twice")
        seen.add(row_id)
        read.append(Row(row_id, row.read_text("account") or "", row.read_transaction()))
    return read


def read_accounts(given: Iterable[Mapping[str, Any]], rows: Sequence[Row]) -> list[Account]:
    """Those given, and every account that rows name. Data reaches as far as the newest booking does."""
    newest: dict[str, date] = {}
    for row in rows:
        assert row.transaction.booked_at is not None, "rows without a day are not read"
        day = row.transaction.booked_at.astimezone(BERLIN).date()
        newest[row.account] = max(day, newest.get(row.account, day))
    accounts = {}
    for number, account in enumerate(given):
        unknown = account.keys() - ACCOUNT_FIELDS
        if unknown:
            raise RowError(f"account {number}", min(unknown), "is no field of an account")
        reader = _RowReader(f"account {number}", account, {})
        account_id = reader.read_text("id") or ""
        accounts[account_id] = Account(
            id=account_id,
            category=reader.read_category(),
            name=reader.read_text("name") or "",
            holder=reader.read_text("holder") or "",
            iban=reader.read_text("iban") or "",
            currency=reader.read_text("currency") or "EUR",
            balance=None if _is_missing(account.get("balance")) else reader.read_amount("balance"),
            data_until=newest.get(account_id),
        )
    named = {account_id: Account(account_id, data_until=day) for account_id, day in newest.items()}
    return [account for _, account in sorted((named | accounts).items())]


class _RowReader:
    def __init__(self, place: str, row: Mapping[str, Any], columns: Mapping[str, str]) -> None:
        self._place, self._row, self._columns = place, row, columns

    def read_transaction(self) -> Transaction:
        texts: dict[str, Any] = {name: self.read_text(name) for name in TEXTS}
        transaction = clean_transaction(
            Transaction(
                amount=self.read_amount("amount"),
                currency=self.read_text("currency") or "EUR",
                booked_at=self.read_day("date"),
                **texts,
            )
        )
        if transaction is None:
            raise RowError(self._place, "date or currency", "is out of range")
        return transaction

    def read_text(self, field: str) -> str | None:
        value = self._find(field)
        return None if _is_missing(value) else str(value)

    def read_amount(self, field: str) -> Decimal:
        value = self._find(field)
        try:
            amount = clean_amount(Decimal(str(value)))
        except InvalidOperation:
            amount = None
        if amount is None:
            raise RowError(self._place, field, f"{value!r} is no amount")
        return amount

    def read_day(self, field: str) -> datetime:
        """A day is a day in Berlin. Times without a zone are times there."""
        value = self._find(field)
        try:
            return _parse_day(value)
        except (AttributeError, OverflowError, TypeError, ValueError) as error:
            raise RowError(self._place, field, f"{value!r} is no date") from error

    def read_category(self) -> ProductCategory:
        value = self.read_text("category")
        try:
            return ProductCategory.CHECKING if value is None else ProductCategory(value.upper())
        except ValueError as error:
            known = ", ".join(sorted(ProductCategory))
            raise RowError(self._place, "category", f"{value!r} is none of {known}") from error

    def _find(self, field: str) -> Any:
        return self._row.get(self._columns.get(field, field))


def _parse_day(value: Any) -> datetime:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day, tzinfo=BERLIN).astimezone(UTC)
    # Times of pandas are datetimes of a class of their own, which the analyses need not know.
    zone = moment.tzinfo or BERLIN
    return datetime(
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, tzinfo=zone
    ).astimezone(UTC)


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value)) or bool(value != value)
