"""Accounts that statements speak about: the same account in many files is one product."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from kontor.connectors.statements import (
    AccountIdentification,
    Balance,
    Holdings,
    RejectedRow,
    Statement,
    StatementIssue,
    StatementKind,
)
from kontor.connectors.statements.chains import find_end, link_statements
from kontor.connectors.statements.results import IssueKind
from kontor.domain.balances import BalanceSpan
from kontor.domain.clocks import BERLIN
from kontor.domain.doubts import Doubt
from kontor.domain.matching import MOVED_DAYS
from kontor.domain.merging import StoredTransaction, merge_transactions
from kontor.domain.positions import Position
from kontor.domain.products import BalanceSource, Product, ProductCategory
from kontor.domain.transactions import Transaction, find_day

_NAMES = {ProductCategory.DEPOT: "Depot", ProductCategory.CREDIT_CARD: "Kreditkarte"}


@dataclass(frozen=True, slots=True)
class FileAccount:
    """All that a set of files says about one account. `rejected` rows could not be read.

    `form` names the format, and the layout of a CSV. `opening` and `closing` are the first and the last balance told.
    """

    product: Product
    transactions: tuple[Transaction, ...]
    positions: tuple[Position, ...] | None = None
    doubts: tuple[Doubt, ...] = ()
    spans: tuple[BalanceSpan, ...] = ()
    rejected: tuple[RejectedRow, ...] = ()
    form: str = ""
    opening: Balance | None = None
    closing: Balance | None = None

    @property
    def has_number(self) -> bool:
        return bool(self.product.iban or self.product.account_number)


def name_account(account: AccountIdentification, form: str) -> str:
    """The account's key: its IBAN, or its number at its bank. Without a number, the bank and the kind of account.

    MT940 names German accounts by bank code and number, other formats by IBAN: one key stands for both, which is the
    IBAN by the general rule. Where a bank has a rule of its own it is a key only, and shown to nobody as IBAN.
    """
    if account.iban:
        return account.iban
    if account.account_number:
        bank = account.bank_code or (account.origin and account.origin.bank)
        given = "/".join(part for part in (bank, account.account_number) if part)
        return derive_iban(account.bank_code, account.account_number) or given
    return account.origin.key if account.origin is not None else account.bank_code or account.bic or form


def _name_form(statement: Statement) -> str:
    has_layouts = statement.kind in (StatementKind.CSV, StatementKind.PDF)
    return f"{statement.kind} {statement.form}" if has_layouts else str(statement.kind)


def _name_family(statement: Statement) -> str:
    """Formats that one bank sends of one account: a day's bookings as MT942 or camt.052, and the statement later."""
    return "MT940" if statement.kind is StatementKind.MT942 else str(statement.kind).partition(".")[0]


def derive_iban(bank_code: str | None, number: str | None) -> str | None:
    """By the general rule for German accounts; None where it does not apply."""
    digits = (bank_code or "") + (number or "").zfill(10)
    if not number or not bank_code or len(bank_code) != 8 or len(digits) != 18 or not re.fullmatch("[0-9]+", digits):
        return None
    return f"DE{98 - int(f'{digits}131400') % 97:02d}{digits}"


def join_statements(statements: Iterable[Statement], holdings: Iterable[Holdings]) -> list[FileAccount]:
    """Per account: bookings of overlapping statements once, and the newest balance."""
    by_key: dict[str, list[Statement]] = {}
    for statement in statements:
        by_key.setdefault(name_account(statement.account, _name_family(statement)), []).append(statement)
    accounts = [_complete(_join(key, group), group) for key, group in by_key.items()]
    depots: dict[str, Holdings] = {}
    for held in holdings:
        key = name_account(held.account, "MT535")
        if key not in depots or (held.day or date.min) >= (depots[key].day or date.min):
            depots[key] = held
    return accounts + [_make_depot(key, held) for key, held in depots.items()]


def _complete(account: FileAccount, statements: Sequence[Statement]) -> FileAccount:
    """With what could not be read, the forms, and the balances before and after all."""
    ordered = sorted(statements, key=find_end)
    return replace(
        account,
        rejected=tuple(row for statement in statements for row in statement.rejected),
        form=", ".join(dict.fromkeys(_name_form(statement) for statement in statements)),
        opening=next((statement.opening for statement in ordered if statement.opening is not None), None),
        closing=next((statement.closing for statement in reversed(ordered) if statement.closing is not None), None),
    )


def _join(key: str, statements: Sequence[Statement]) -> FileAccount:
    rows: list[Transaction] = []
    spans: list[BalanceSpan] = []
    for chain in link_statements(statements):
        rows = _add(rows, chain.rows)
        spans += chain.spans
    rows.sort(key=lambda row: find_day(row) or date.min)
    newest = max(statements, key=find_end)
    # Not every format names everything.
    named = max(statements, key=lambda statement: (bool(statement.account.iban), find_end(statement)))
    product = _make_product(key, named.account, ProductCategory.CHECKING, newest.closing)
    doubts = tuple(
        _make_doubt(issue, statement.sequence or key)
        for statement in statements
        for issue in statement.issues
        if issue.kind is not IssueKind.BALANCE_MISMATCH  # balances are compared with what is stored
    )
    return FileAccount(product, tuple(rows), doubts=doubts, spans=tuple(spans))


def _add(rows: list[Transaction], entries: Sequence[Transaction]) -> list[Transaction]:
    """What another statement has besides. Rules of identity are those of fetches."""
    days = [day for day in map(find_day, entries) if day is not None]
    first = min(days) - timedelta(MOVED_DAYS) if days else date.max
    touched = [row for row in rows if row.is_pending or (find_day(row) or date.max) >= first]
    untouched = [row for row in rows if not (row.is_pending or (find_day(row) or date.max) >= first)]
    numbered = [StoredTransaction(_number(index), row) for index, row in enumerate(touched)]
    merge = merge_transactions(numbered, entries)
    changed = {stored.id: stored.transaction for stored in merge.changed}
    return [*untouched, *(changed.get(stored.id, stored.transaction) for stored in numbered), *merge.new]


def _make_doubt(issue: StatementIssue, place: str) -> Doubt:
    difference = None if issue.found is None or issue.expected is None else issue.found - issue.expected
    return Doubt(str(issue.kind), difference, place)


def _number(index: int) -> UUID:
    return UUID(int=index + 1)


def _make_product(
    key: str, account: AccountIdentification, category: ProductCategory, balance: Balance | None
) -> Product:
    origin = account.origin
    if origin is not None and category is ProductCategory.CHECKING:
        category = origin.category
    product = Product(
        key=key,
        category=category,
        name=_NAMES.get(category, "Konto"),
        holder=account.holder or "",
        currency=account.currency or (balance.currency if balance else "EUR"),
        account_number=account.account_number,
        iban=account.iban,
        bic=account.bic,
        bank_code=account.bank_code,
        institution=None if origin is None else origin.institution,
    )
    if balance is None:
        return product
    at = None if balance.day is None else datetime.combine(balance.day, time(), BERLIN).astimezone(UTC)
    return replace(product, balance=balance.amount, balance_at=at)


def _make_depot(key: str, held: Holdings) -> FileAccount:
    currency = held.account.currency or (held.total.currency if held.total else "EUR")
    value = held.find_value(currency)
    balance = None if value is None else Balance(value, currency, held.day)
    product = _make_product(key, held.account, ProductCategory.DEPOT, balance)
    if balance is not None:
        product = replace(product, balance_source=BalanceSource.STATEMENT)
    return FileAccount(
        product, (), held.positions, tuple(_make_doubt(issue, key) for issue in held.issues), form="MT535"
    )
