"""What a statement file says, whichever format it came in, and the one error of all parsers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

from kontor.domain.cleaning import CENT, clean_amount
from kontor.domain.errors import KontorError
from kontor.domain.positions import Position
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import Transaction

SHOWN_REASONS = 3


class StatementError(KontorError):
    """A file that cannot be read. `line` counts from 1, `field` is a tag, an element or a column."""

    def __init__(self, message: str, *, line: int | None = None, field: str | None = None) -> None:
        place = ", ".join(
            [*([f"line {line}"] if line is not None else []), *([f"field {field}"] if field is not None else [])]
        )
        super().__init__(f"{message} ({place})" if place else message)
        self.line = line
        self.field = field


class TooManyEntriesError(StatementError):
    """A file with more bookings than are taken at once."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may have at most. `line_length` counts characters of a field; nothing real comes near these."""

    size: int = 256_000_000
    statements: int = 100_000
    entries: int = 2_000_000
    depth: int = 48
    line_length: int = 100_000
    files: int = 5_000
    rejected: int = 1_000


LIMITS = Limits()


class StatementKind(StrEnum):
    MT940 = "MT940"
    MT942 = "MT942"
    CAMT_052 = "camt.052"
    CAMT_053 = "camt.053"
    CAMT_054 = "camt.054"
    CSV = "CSV"
    OFX = "OFX"
    QIF = "QIF"
    PDF = "PDF"


class IssueKind(StrEnum):
    """Doubts about what was read. They are values: the entries are there all the same."""

    BALANCE_MISMATCH = "BALANCE_MISMATCH"
    BATCH_MISMATCH = "BATCH_MISMATCH"
    INFORMATION_LEFT_OUT = "INFORMATION_LEFT_OUT"
    POSITION_MISMATCH = "POSITION_MISMATCH"
    AMOUNT_ROUNDED = "AMOUNT_ROUNDED"


@dataclass(frozen=True, slots=True)
class StatementIssue:
    """`expected` is what follows from the parts, `found` is what the file says of the whole."""

    kind: IssueKind
    expected: Decimal | None = None
    found: Decimal | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A booking or a balance that could not be read; the rest of the file was. `line` counts from 1 in the file."""

    line: int | None
    reason: str
    field: str | None = None

    def __str__(self) -> str:
        return self.reason if self.line is None else f"line {self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Origin:
    """What the layout of a CSV or PDF tells about its account: the bank or group of banks that uses it, and the kind.

    `pocket` is the part of a wallet that the rows belong to, as its currency.
    """

    bank: str
    kind: str = "giro"
    institution: str | None = None
    pocket: str = ""

    @property
    def key(self) -> str:
        return "-".join(part for part in (self.bank, self.kind, self.pocket) if part)

    @property
    def category(self) -> ProductCategory:
        return ProductCategory.CREDIT_CARD if self.kind == "card" else ProductCategory.CHECKING


@dataclass(frozen=True, slots=True)
class AccountIdentification:
    """Whose statement it is. Without a number, `origin` is all there is to tell it from others."""

    iban: str | None = None
    account_number: str | None = None
    bank_code: str | None = None
    bic: str | None = None
    currency: str | None = None
    holder: str | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Balance:
    amount: Decimal
    currency: str
    day: date | None


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of one account. A file holds any number of them.

    `is_interim` statements (MT942, camt.052) do not close a day; which entry is pending the entry itself says.
    `form` is the name of the layout of a CSV or PDF.
    """

    kind: StatementKind
    account: AccountIdentification
    entries: tuple[Transaction, ...]
    opening: Balance | None = None
    closing: Balance | None = None
    sequence: str | None = None
    is_interim: bool = False
    issues: tuple[StatementIssue, ...] = ()
    rejected: tuple[RejectedRow, ...] = ()
    form: str | None = None


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a depot holds on a day."""

    account: AccountIdentification
    positions: tuple[Position, ...]
    day: date | None = None
    total: Balance | None = None
    issues: tuple[StatementIssue, ...] = ()

    def find_value(self, currency: str) -> Decimal | None:
        """The value that the statement tells, or that the positions add up to. None where neither is known."""
        if self.total is not None:
            return self.total.amount if self.total.currency == currency else None
        values = [position.total_value for position in self.positions if _is_valued_in(position, currency)]
        return sum(filter(None, values), Decimal(0)) if len(values) == len(self.positions) else None


def _is_valued_in(position: Position, currency: str) -> bool:
    """Values are in the depot's currency where the bank tells the rate of exchange."""
    is_converted = position.exchange_rate is not None or position.currency in (None, currency)
    return position.total_value is not None and is_converted


@dataclass(frozen=True, slots=True)
class UnknownTable:
    """A CSV that nobody has described yet: each column with the first text in it."""

    delimiter: str
    encoding: str
    columns: tuple[tuple[str, str], ...]


def check_balances(
    opening: Balance | None, closing: Balance | None, entries: tuple[Transaction, ...]
) -> tuple[StatementIssue, ...]:
    """Opening and bookings must give the closing balance. Pending entries count for neither."""
    if opening is None or closing is None or opening.currency != closing.currency:
        return ()
    currency = opening.currency
    booked = [entry.amount for entry in entries if not entry.is_pending and entry.currency == currency]
    expected = sum(booked, opening.amount)
    if expected == closing.amount:
        return ()
    return (StatementIssue(IssueKind.BALANCE_MISMATCH, expected, closing.amount),)


def check_amounts(entries: tuple[Transaction, ...]) -> tuple[StatementIssue, ...]:
    """Fractions of a cent that mean something: accounts are kept in cents, so they are rounded when they are stored."""
    rounded = [
        entry.amount
        for entry in entries
        if not entry.amount.same_quantum(CENT) and clean_amount(entry.amount) != entry.amount
    ]
    if not rounded:
        return ()
    exact = sum(rounded, Decimal(0))
    stored = sum((clean_amount(amount) or Decimal(0) for amount in rounded), Decimal(0))
    return (StatementIssue(IssueKind.AMOUNT_ROUNDED, stored, exact, f"{len(rounded)} amounts"),)


def refuse_unreadable(statements: Sequence[Statement]) -> None:
    """Raises StatementError where rows were rejected and no booking is left."""
    rejected = [row for statement in statements for row in statement.rejected]
    if not rejected or any(statement.entries for statement in statements):
        return
    reasons = " ".join(str(row) for row in rejected[:SHOWN_REASONS])
    raise StatementError(f"No booking can be read. {reasons}", line=rejected[0].line, field=rejected[0].field)


def check_rejected(count: int, limits: Limits) -> None:
    """Raises StatementError where so much cannot be read that the file is hardly what it seems to be."""
    if count > limits.rejected:
        raise StatementError(f"More than {limits.rejected} rows cannot be read.")
