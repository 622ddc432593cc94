"""Making what a bank sends fit to be stored: printable texts, finite amounts in cents."""

import re
from dataclasses import fields, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, TypeVar

from kontor.domain.errors import InvalidError
from kontor.domain.positions import Position
from kontor.domain.products import HomeSavings, Product
from kontor.domain.standing_orders import StandingOrder

T = TypeVar("T", Product, Position, HomeSavings)

MAX_AMOUNT = Decimal("999999999999999999.99")
MAX_TEXT_LENGTH = 4000
CENT = Decimal("0.01")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# Numbers that are no amounts of money: they keep their decimals.
_NOT_MONEY = frozenset(
    ("quantity", "price", "exchange_rate", "rating", "savings_interest_rate", "debit_interest_rate", "savings_progress")
)


def clean_text(text: str) -> str:
    if len(text) > MAX_TEXT_LENGTH or _UNPRINTABLE.search(text):
        return _UNPRINTABLE.sub("", text)[:MAX_TEXT_LENGTH]
    return text


def require_text(text: str, field: str) -> str:
    """Without characters that no text has, and without white space around it. InvalidError where nothing is left."""
    cleaned = clean_text(text).strip()
    if not cleaned:
        raise InvalidError("expected a text in printable characters", field)
    return cleaned


def clean_amount(amount: Decimal) -> Decimal | None:
    """In cents, half a cent away from zero; None for what is no amount.

    Stored amounts were rounded so: rounded otherwise, a booking that comes again would be another one.
    """
    if not amount.is_finite() or abs(amount) > MAX_AMOUNT:
        return None
    return amount if amount.same_quantum(CENT) else amount.quantize(CENT, ROUND_HALF_UP)


def clean_product(product: Product) -> Product:
    """The product as it can be stored. An amount that is none is left out, as if the bank had not named it."""
    cleaned = _clean_fields(product)
    pockets = tuple(
        replace(pocket, currency=clean_text(pocket.currency), balance=amount)
        for pocket in product.balances
        if (amount := clean_amount(pocket.balance)) is not None
    )
    contract = product.home_savings
    if contract is not None:
        contract = _clean_fields(contract)
        if any(getattr(contract, field.name) is None for field in fields(contract)):
            contract = None
    return replace(cleaned, balances=pockets, home_savings=contract)


def clean_position(position: Position) -> Position:
    return _clean_fields(position)


def clean_standing_order(standing: StandingOrder) -> StandingOrder:
    """Its texts as they can be stored. What is no amount is none that a bank could execute: it becomes zero."""
    texts = {
        field.name: clean_text(value)
        for field in fields(standing.order)
        if isinstance(value := getattr(standing.order, field.name), str)
    }
    amount = clean_amount(standing.order.amount)
    order = replace(standing.order, **texts, amount=Decimal("0.00") if amount is None else amount)
    return replace(standing, order=order, key=None if standing.key is None else clean_text(standing.key))


def _clean_fields(thing: T) -> T:
    changes: dict[str, Any] = {}
    for field in fields(thing):
        value = getattr(thing, field.name)
        if type(value) is str:
            changes[field.name] = clean_text(value)
        elif isinstance(value, Decimal) and field.name in _NOT_MONEY:
            changes[field.name] = value if value.is_finite() and abs(value) <= MAX_AMOUNT else None
        elif isinstance(value, Decimal):
            changes[field.name] = clean_amount(value)
    return replace(thing, **changes)
