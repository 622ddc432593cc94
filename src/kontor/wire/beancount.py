"""A user's accounts as a beancount file: text of double-entry bookkeeping, see docs/guides/exports.md.

Its lines need not stand in the order of time: first everything that is opened, then transfers between the user's own
accounts, then the accounts one after the other.
"""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
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
OWED = (ProductCategory.CREDIT_CARD, ProductCategory.OTHER_CARD, ProductCategory.LOAN)
# Categories of money that comes in, beside those of `INCOME`.
INCOMING = {"OTHER_INCOME": "Income:Other-Receipts"}
MAX_NAME = 40
_WHITE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Posting:
    account: str
    amount: Decimal
    currency: str


async def write_beancount(
    exports: Exports, owner: Owner, held: Sequence[StoredProduct], today: date, span: Span
) -> AsyncIterator[bytes]:
    names = name_accounts(held)
    ledgers = [await read_ledger(exports, owner, stored_product, span) for stored_product in held]
    used = await exports.list_used(owner, span)
    days = [day for _, _, day in used] + [ledger.opened_on for ledger in ledgers if ledger.opened_on is not None]
    yield _join(_write_head(ledgers, names, used, min(days, default=today)))
    own = find_own_ibans(held)
    async for transfers in page_transfers(exports, owner, span, own):
        yield _join(_write_transfer(transfer, names) for transfer in transfers)
    for ledger in ledgers:
        product = ledger.product
        yield f"\n; {quote(product.product.name)}\n".encode()
        if ledger.opened_on is not None:
            yield _write_opening(ledger, names[product.id]).encode()
        iban = fold_iban(product.product.iban)
        others = [own_iban for own_iban in own if own_iban != iban] if own.get(iban) == product.id else []
        async for page in exports.page_rows(owner, product.id, span, others):
            yield _join(_write_booking(row, names) for row in page if not row.is_pending)
        if ledger.closed_on is not None:
            # Asserted for the beginning of a day.
            day = ledger.closed_on + timedelta(days=1)
            yield f"\n{day} balance {names[product.id]}  {ledger.closing} {ledger.currency}\n".encode()


def _join(texts: Iterable[str]) -> bytes:
    return "".join(texts).encode()


# Names


def quote(text: str | None) -> str:
    """A string of beancount, in one line."""
    plain = _WHITE.sub(" ", text or "").strip()
    return '"{}"'.format(plain.replace("\\", "\\\\").replace('"', '\\"'))


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


# Directives


def _write_head(
    ledgers: Sequence[Ledger], names: dict[UUID, str], used: Sequence[tuple[str, str, date]], first: date
) -> Iterable[str]:
    yield "; Exported by Kontor. Pending bookings are left out.\n"
    yield 'option "title" "Kontor"\n'
    currencies = sorted({currency for _, currency, _ in used} | {ledger.currency for ledger in ledgers})
    yield from (f'option "operating_currency" "{currency}"\n' for currency in currencies[:1] if len(currencies) == 1)
    if "EUR" in currencies and len(currencies) > 1:
        yield 'option "operating_currency" "EUR"\n'
    yield "\n"
    yield from (f"{first} commodity {currency}\n" for currency in currencies)
    yield f"\n{first} open {OPENING}\n"
    for ledger in ledgers:
        product = ledger.product.product
        yield f"{first} open {names[ledger.product.id]}\n"
        yield f'  kontor-id: "{ledger.product.id}"\n'
        if product.iban:
            yield f"  iban: {quote(product.iban)}\n"
    for category in sorted({category or UNTAGGED[CATEGORIES] for category, _, _ in used}):
        yield f"{first} open {name_category(category)}\n"
        yield f"  name: {quote(name_item(CATEGORIES, category)[1].name)}\n"


def _write_opening(ledger: Ledger, account: str) -> str:
    postings = [
        Posting(account, ledger.opening, ledger.currency),
        Posting(OPENING, -ledger.opening, ledger.currency),
    ]
    return f'\n{ledger.opened_on} * "Opening balance"\n' + _write_postings(postings)


def _write_booking(row: ExportRow, names: dict[UUID, str]) -> str:
    postings = [
        Posting(names[row.product_id], row.amount, row.currency),
        *(Posting(name_category(category), -amount, row.currency) for category, amount in _list_parts(row)),
    ]
    return _write_entry(row, {"kontor-id": str(row.id)}, postings)


def _list_parts(row: ExportRow) -> Iterable[tuple[str | None, Decimal]]:
    """Categories and amounts: the parts of a booking that is split, or the booking itself."""
    if not row.part_categories:
        return [(row.category, row.amount)]
    return zip(row.part_categories, row.part_amounts, strict=True)


def _write_transfer(transfer: Transfer, names: dict[UUID, str]) -> str:
    sent, received = transfer.sent, transfer.received
    if sent is None or received is None:
        row = sent or received
        assert row is not None
        return _write_booking(row, names)
    postings = [
        Posting(names[sent.product_id], sent.amount, sent.currency),
        Posting(names[received.product_id], received.amount, received.currency),
    ]
    facts = {"kontor-id": str(sent.id), "kontor-id-received": str(received.id)}
    if received.day != sent.day:
        facts["received-on"] = str(received.day)
    facts |= {"note-received": received.note or "", "keywords-received": ", ".join(received.keywords or ())}
    return _write_entry(sent, facts, postings)


def _write_entry(row: ExportRow, ids: dict[str, str], postings: Sequence[Posting]) -> str:
    facts = ids | {
        "category": row.category or UNTAGGED[CATEGORIES],
        "decided-by": row.source or "",
        "partner": row.partner or "",
        "iban": row.counterparty_iban or "",
        "booking-text": row.booking_text or "",
        "value-date": "" if row.value_day is None else str(row.value_day),
        "note": row.note or "",
        "keywords": ", ".join(row.keywords or ()),
    }
    lines = [f"  {key}: {quote(text)}\n" for key, text in facts.items() if text]
    head = f"\n{row.day} * {quote(row.counterparty_name)} {quote(row.purpose)}\n"
    return head + "".join(lines) + _write_postings(postings)


def _write_postings(postings: Sequence[Posting]) -> str:
    return "".join(f"  {posting.account}  {posting.amount} {posting.currency}\n" for posting in postings)
