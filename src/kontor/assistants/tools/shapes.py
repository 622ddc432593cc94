"""Shapes that several tools answer with, and how they are read from the API's answers."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.assistants.bank_texts import mark, mark_name
from kontor.assistants.registry import Amount, BankText, Confidence, Output

TransactionId = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f-]{36}/[0-9]{4}-[0-9]{2}-[0-9]{2}/[0-9a-f-]{36}$",
        description="id of a transaction, as `search_transactions` tells it",
    ),
]
Unsigned = Annotated[str, Meta(pattern=r"^[0-9]{1,15}(\.[0-9]{1,2})?$", description="amount without a sign")]
ShownLabel = Annotated[str, Meta(description="in the caller's language")]


class Category(Output, kw_only=True):
    name: Annotated[str, Meta(description="system name, for searches and changes")]
    label: ShownLabel


class TransactionShown(Output, kw_only=True):
    id: TransactionId
    date: date
    amount: Amount
    currency: str
    counterparty: BankText | None = None
    purpose: BankText | None = None
    category: Category | None = None
    confidence: Confidence | None = None
    pending: bool = False
    note: BankText | None = None
    keywords: list[BankText] = msgspec.field(default_factory=list)


def read_transaction(row: dict[str, Any]) -> TransactionShown:
    found = (row.get("classifications") or [None])[0]
    day = row["buchungsdatum"][:10]
    return TransactionShown(
        id=f"{row['produktId']}/{day}/{row['id']}",
        date=date.fromisoformat(day),
        amount=row["betrag"],
        currency=row.get("waehrung", "EUR"),
        counterparty=mark_name(row.get("gegenkontoInhaber")),
        purpose=mark(row.get("verwendungszweck") or row.get("buchungstext")),
        category=None if found is None else Category(name=found["category"], label=_label(found)),
        confidence=None if found is None else found.get("confidenceLevel"),
        pending=bool(row.get("vorgemerkt")),
        note=mark(row.get("notiz")),
        keywords=[text for text in map(mark_name, row.get("schlagworte", ())) if text is not None],
    )


def read_category(item: dict[str, Any]) -> Category:
    return Category(name=item["systemName"], label=_label(item))


def _label(item: dict[str, Any]) -> str:
    """Names of own categories are written by users."""
    name = item.get("systemName") or item.get("category") or ""
    return (mark_name(item["displayName"]) or name) if name.startswith("X_") else item["displayName"]


def mask_number(number: str | None) -> str | None:
    """The end of an account number: enough to tell accounts apart."""
    return number[-4:] if number else None


def sum_amounts(amounts: list[Decimal]) -> Decimal:
    return sum(amounts, Decimal("0.00"))
