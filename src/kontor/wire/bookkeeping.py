"""A user's accounts as a book of double entries, for the formats of others: see docs/guides/exports.md.

First comes everything that is opened, then transfers between the user's own accounts, then the accounts one after the
other: entries do not stand in the order of time.
"""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Protocol
from uuid import UUID

from kontor.analysis.tagging.folding import fold
from kontor.analysis.trees import CATEGORIES
from kontor.domain.exports import ExportRow
from kontor.domain.products import ProductCategory
from kontor.domain.stored_products import StoredProduct
from kontor.domain.tags import fold_iban
from kontor.services.statements import (
    Exports,
    Ledger,
    Owner,
    Span,
    Transfer,
    find_own_ibans,
    page_transfers,
    read_ledger,
)
from kontor.wire.tag_views import UNTAGGED
from kontor.wire.tags import name_item

OPENING = "Equity:Opening-Balances"
EURO = "EUR"
OWED = (ProductCategory.CREDIT_CARD, ProductCategory.OTHER_CARD, ProductCategory.LOAN)
# Categories of money that comes in, beside those of `INCOME`.
INCOMING = {"OTHER_INCOME": "Income:Other-Receipts"}
MAX_NAME = 40
_WHITE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Posting:
    """`day` where the account books it on a day of its own."""

    account: str
    amount: Decimal
    currency: str
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One transaction. The first posting is on an account of the user; `facts` have texts that may be empty."""

    id: UUID
    day: date
    payee: str | None
    narration: str | None
    postings: Sequence[Posting]
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BookHead:
    """What is opened: the user's accounts by name, and the categories that occur, with their currencies."""

    first_day: date
    currencies: Sequence[str]
    ledgers: Sequence[tuple[str, Ledger]]
    categories: Sequence[str]
    used: frozenset[tuple[str, str]]  # names of accounts and currencies of their postings

    @property
    def main_currency(self) -> str:
        return EURO if EURO in self.currencies or not self.currencies else self.currencies[0]


class BookFormat(Protocol):
    """How a format writes the parts of a book, in the order of these methods."""

    def write_head(self, head: BookHead) -> Iterable[str]: ...

    def write_entry(self, entry: Entry) -> str: ...

    def begin_account(self, name: str, ledger: Ledger) -> str: ...

    def end_account(self, name: str, ledger: Ledger, closed_on: date) -> str:
        """Asserts the bank's balance, if the format can."""
        ...

    def write_end(self) -> str: ...


async def write_book(
    book: BookFormat, exports: Exports, owner: Owner, held: Sequence[StoredProduct], today: date, span: Span
) -> AsyncIterator[bytes]:
    names = name_accounts(held)
    ledgers = [await read_ledger(exports, owner, stored_product, span) for stored_product in held]
    yield _join(book.write_head(await _read_head(exports, owner, span, names, ledgers, today)))
    own = find_own_ibans(held)
    async for transfers in page_transfers(exports, owner, span, own):
        yield _join(book.write_entry(_make_transfer(transfer, names)) for transfer in transfers)
    for ledger in ledgers:
        product = ledger.product
        name = names[product.id]
        yield book.begin_account(name, ledger).encode()
        if ledger.opened_on is not None:
            yield book.write_entry(_make_opening(ledger, name, ledger.opened_on)).encode()
        iban = fold_iban(product.product.iban)
        others = [own_iban for own_iban in own if own_iban != iban] if own.get(iban) == product.id else []
        async for page in exports.page_rows(owner, product.id, span, others):
            yield _join(book.write_entry(_make_booking(row, names)) for row in page if not row.is_pending)
        if ledger.closed_on is not None:
            yield book.end_account(name, ledger, ledger.closed_on).encode()
    yield book.write_end().encode()


async def _read_head(
    exports: Exports, owner: Owner, span: Span, names: dict[UUID, str], ledgers: Sequence[Ledger], today: date
) -> BookHead:
    used = await exports.list_used(owner, span)
    days = [day for _, _, day in used] + [ledger.opened_on for ledger in ledgers if ledger.opened_on is not None]
    currencies = {currency for _, currency, _ in used} | {ledger.currency for ledger in ledgers}
    postings = {(name_category(category), currency) for category, currency, _ in used}
    postings |= {(names[id], currency) for id, currency in await exports.list_currencies(owner, span) if id in names}
    postings |= {(names[ledger.product.id], ledger.currency) for ledger in ledgers}
    postings |= {(OPENING, ledger.currency) for ledger in ledgers}
    return BookHead(
        min(days, default=today),
        sorted(currencies),
        [(names[ledger.product.id], ledger) for ledger in ledgers],
        sorted({category or UNTAGGED[CATEGORIES] for category, _, _ in used}),
        frozenset(postings),
    )


def _join(texts: Iterable[str]) -> bytes:
    return "".join(texts).encode()


# Names


def fit_line(text: str | None) -> str:
    """In one line."""
    return _WHITE.sub(" ", text or "").strip()


def name_part(text: str | None, otherwise: str) -> str:
    """A part of an account's name: letters, digits and hyphens, beginning with a capital."""
    words = fold(text or "").replace("&", " ").split()
    return "-".join(word[:1].upper() + word[1:] for word in words)[:MAX_NAME].rstrip("-") or otherwise


def name_accounts(held: Sequence[StoredProduct]) -> dict[UUID, str]:
    """Bank and account, with the end of its number; a further number where two would be called the same."""
    names: dict[UUID, str] = {}
    taken: set[str] = set()
    for stored_product in held:
        product = stored_product.product
        root = "Liabilities" if product.category in OWED else "Assets"
        end = fold(product.iban or product.account_number or "").replace(" ", "")[-4:].upper()
        shown = name_part(product.name, "Account") + (f"-{end}" if end else "")
        name = candidate = f"{root}:{name_part(product.institution, 'Bank')}:{shown}"
        number = 2
        while name in taken:
            name, number = f"{candidate}-{number}", number + 1
        taken.add(name)
        names[stored_product.id] = name
    return names


def name_category(category: str | None) -> str:
    """`LIVING_GROCERIES` is `Expenses:Living:Groceries`, `INCOME_SALARY` is `Income:Salary`."""
    known = category or UNTAGGED[CATEGORIES]
    if known in INCOMING:
        return INCOMING[known]
    main, _, rest = known.partition("_")
    part = "-".join(word.capitalize() for word in (rest or "General").split("_"))
    if main == "INCOME":
        return f"Income:{part}"
    return f"Equity:Transfers:{part}" if main == "TRANSFER" else f"Expenses:{main.capitalize()}:{part}"


def describe_category(category: str) -> str:
    """Its name for people."""
    return name_item(CATEGORIES, category)[1].name


# Entries


def _make_opening(ledger: Ledger, account: str, day: date) -> Entry:
    postings = [
        Posting(account, ledger.opening, ledger.currency),
        Posting(OPENING, -ledger.opening, ledger.currency),
    ]
    return Entry(ledger.product.id, day, None, "Opening balance", postings)


def _make_booking(row: ExportRow, names: dict[UUID, str]) -> Entry:
    postings = [
        Posting(names[row.product_id], row.amount, row.currency),
        *(Posting(name_category(category), -amount, row.currency) for category, amount in _list_parts(row)),
    ]
    return _make_entry(row, {}, postings)


def _list_parts(row: ExportRow) -> Iterable[tuple[str | None, Decimal]]:
    """Categories and amounts: the parts of a booking that is split, or the booking itself."""
    if not row.part_categories:
        return [(row.category, row.amount)]
    return zip(row.part_categories, row.part_amounts, strict=True)


def _make_transfer(transfer: Transfer, names: dict[UUID, str]) -> Entry:
    sent, received = transfer.sent, transfer.received
    if sent is None or received is None:
        row = sent or received
        assert row is not None
        return _make_booking(row, names)
    received_on = None if received.day == sent.day else received.day
    postings = [
        Posting(names[sent.product_id], sent.amount, sent.currency),
        Posting(names[received.product_id], received.amount, received.currency, received_on),
    ]
    facts = {
        "kontor-id-received": str(received.id),
        "received-on": str(received_on or ""),
        "note-received": received.note or "",
        "keywords-received": ", ".join(received.keywords or ()),
    }
    return _make_entry(sent, facts, postings)


def _make_entry(row: ExportRow, more: dict[str, str], postings: Sequence[Posting]) -> Entry:
    facts = {"kontor-id": str(row.id)} | more
    facts |= {
        "category": row.category or UNTAGGED[CATEGORIES],
        "decided-by": row.source or "",
        "partner": row.partner or "",
        "iban": row.counterparty_iban or "",
        "booking-text": row.booking_text or "",
        "value-date": "" if row.value_day is None else str(row.value_day),
        "note": row.note or "",
        "keywords": ", ".join(row.keywords or ()),
    }
    return Entry(row.id, row.day, row.counterparty_name, row.purpose, postings, facts)
