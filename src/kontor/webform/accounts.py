"""A user's accounts, as pages show them."""

from typing import Any

from kontor.domain.stored_products import StoredProduct
from kontor.pages.formatting import format_amount, format_iban
from kontor.pages.texts import Texts


def show_account(stored_product: StoredProduct, texts: Texts) -> dict[str, Any]:
    product = stored_product.product
    number = format_iban(product.iban) if product.iban else product.account_number
    balance = None
    if product.balance is not None and product.balance.is_finite():
        balance = format_amount(product.balance, product.currency, texts.language)
    return {
        "id": stored_product.id,
        "access_id": stored_product.access_id,
        "name": product.name,
        "category": texts(f"category.{product.category.lower()}"),
        "number": number,
        "holder": product.holder,
        "balance": balance,
        "is_negative": product.balance is not None and product.balance < 0,
    }
