"""Accounts that statements speak about: the same account in many files is one product."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from uuid import UUID

from kontor.connectors.statements import AccountIdentification, Balance, Holdings, Statement
from kontor.domain.clocks import BERLIN
from kontor.domain.merging import StoredTransaction, merge_transactions
from kontor.domain.positions import Position
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction, find_day


@dataclass(frozen=True, slots=True)
class FileAccount:
    """All that a set of files says about one account."""

    product: Product
    transactions: tuple[Transaction, ...]
    positions: tuple[Position, ...] | None = None
    doubts: tuple[str, ...] = ()


def name_account(account: AccountIdentification) -> str:
    """The account's key: its IBAN, or its number at its bank.

    MT940 names German accounts by bank code and number, other formats by IBAN: one key stands for both, which is the
    IBAN by the general rule. Where a bank has a rule of its own it is a key only, and shown to nobody as IBAN.
    """
    given = "/".join(one for one in (account.bank_code, account.account_number) if one)
    return account.iban or derive_iban(account.bank_code, account.account_number) or given or "Konto"


def derive_iban(bank_code: str | None, number: str | None) -> str | None:
    """By the general rule for German accounts; None where it does not apply."""
    digits = (bank_code or "") + (number or "").zfill(10)
    if not number or not bank_code or len(bank_code) != 8 or len(digits) != 18 or not re.fullmatch("[0-9]+", digits):
        return None
    return f"DE{98 - int(f'{digits}131400') % 97:02d}{digits}"


def join_statements(statements: Iterable[Statement], holdings: Iterable[Holdings]) -> list[FileAccount]:
    """Per account: bookings of overlapping statements once, and the newest balance."""
    by_key: dict[str, list[Statement]] = {}
    for one in statements:
        by_key.setdefault(name_account(one.account), []).append(one)
    found = [_join(key, group) for key, group in by_key.items()]
    depots: dict[str, Holdings] = {}
    for held in holdings:
        key = name_account(held.account)
        if key not in depots or (held.day or date.min) >= (depots[key].day or date.min):
            depots[key] = held
    return found + [_make_depot(key, held) for key, held in depots.items()]


def _join(key: str, statements: Sequence[Statement]) -> FileAccount:
    rows: list[Transaction] = []
    doubts = []
    for one in sorted(statements, key=_find_end):
        rows = _add(rows, one.entries)
        doubts += [f"{one.sequence or key}: {issue.kind}" for issue in one.issues]
    rows.sort(key=lambda row: find_day(row) or date.min)
    newest = max(statements, key=_find_end)
    # Not every format names everything.
    named = max(statements, key=lambda one: (bool(one.account.iban), _find_end(one)))
    product = _make_product(key, named.account, ProductCategory.CHECKING, newest.closing)
    return FileAccount(product, tuple(rows), doubts=tuple(doubts))


def _add(rows: list[Transaction], entries: Sequence[Transaction]) -> list[Transaction]:
    """What another statement has besides. Rules of identity are those of fetches."""
    days = [day for day in map(find_day, entries) if day is not None]
    first = min(days, default=date.max)
    touched = [one for one in rows if one.is_pending or (find_day(one) or date.max) >= first]
    untouched = [one for one in rows if not (one.is_pending or (find_day(one) or date.max) >= first)]
    numbered = [StoredTransaction(_number(index), one) for index, one in enumerate(touched)]
    merge = merge_transactions(numbered, entries)
    changed = {one.id: one.transaction for one in merge.changed}
    return [*untouched, *(changed.get(one.id, one.transaction) for one in numbered), *merge.new]


def _number(index: int) -> UUID:
    return UUID(int=index + 1)


def _find_end(statement: Statement) -> date:
    days = [day for day in map(find_day, statement.entries) if day is not None]
    closing = statement.closing.day if statement.closing is not None else None
    return max([*days, *([closing] if closing is not None else [])], default=date.min)


def _make_product(
    key: str, account: AccountIdentification, category: ProductCategory, balance: Balance | None
) -> Product:
    product = Product(
        key=key,
        category=category,
        name="Depot" if category is ProductCategory.DEPOT else "Konto",
        holder=account.holder or "",
        currency=account.currency or (balance.currency if balance else "EUR"),
        account_number=account.account_number,
        iban=account.iban,
        bic=account.bic,
        bank_code=account.bank_code,
    )
    if balance is None:
        return product
    at = None if balance.day is None else datetime.combine(balance.day, time(), BERLIN).astimezone(UTC)
    return replace(product, balance=balance.amount, balance_at=at)


def _make_depot(key: str, held: Holdings) -> FileAccount:
    product = _make_product(key, held.account, ProductCategory.DEPOT, held.total)
    return FileAccount(product, (), held.positions, tuple(f"{key}: {one.kind}" for one in held.issues))
