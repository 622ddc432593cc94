"""Accounts, balances and bookings of the demo bank in the service's words."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from kontor.demobank.xs2a.aspsp import AccountSnapshot
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction, find_day

KINDS = {
    ProductCategory.CHECKING: "CACC",
    ProductCategory.SAVINGS: "SVGS",
    ProductCategory.CALL_MONEY: "SVGS",
    ProductCategory.FIXED_TERM: "SVGS",
    ProductCategory.LOAN: "LOAN",
    ProductCategory.CREDIT_CARD: "CARD",
    ProductCategory.OTHER_CARD: "CARD",
}
LINE = 140


@dataclass(frozen=True, slots=True)
class ListedAccount:
    """An account of a session: a holding, or its pocket in this currency. A closed one has no `uid`."""

    uid: str | None
    holding: AccountSnapshot
    currency: str

    @property
    def product(self) -> Product:
        return self.holding.product

    @property
    def hash(self) -> str:
        number = self.product.iban or self.product.account_number or self.product.key
        return b64encode(sha256(f"demo account {number}".encode()).digest()).decode()

    def list_rows(self) -> Sequence[Transaction]:
        """The newest first, pending ones before all others."""
        return [row for row in reversed(self.holding.list_rows()) if row.currency == self.currency]


def list_currencies(product: Product) -> list[str]:
    return [balance.currency for balance in product.balances] or [product.currency or "EUR"]


def show_account(account: ListedAccount) -> dict[str, Any]:
    product = account.product
    limit = product.credit_limit if product.category.is_card else product.overdraft_limit
    if product.iban is not None:
        number: dict[str, Any] = {"iban": product.iban}
    else:
        number = {"other": {"identification": product.account_number or product.key, "scheme_name": "CPAN"}}
    shown: dict[str, Any] = {
        "account_id": number,
        "account_servicer": {"name": "Demo-Bank"} | ({"bic_fi": product.bic} if product.bic else {}),
        "name": product.holder,
        "details": product.name,
        "product": product.name,
        "usage": "PRIV",
        "cash_account_type": KINDS.get(product.category, "OTHR"),
        "currency": account.currency,
        "identification_hash": account.hash,
        "identification_hashes": [account.hash],
    }
    if limit is not None and account.currency == product.currency:
        shown["credit_limit"] = {"currency": account.currency, "amount": _write(limit)}
    return shown if account.uid is None else shown | {"uid": account.uid}


def list_balances(account: ListedAccount) -> list[dict[str, Any]]:
    """What is booked, and what can be spent."""
    product = account.product
    pockets = {balance.currency: balance.balance for balance in product.balances}
    booked = pockets.get(account.currency, product.balance if not pockets else None)
    if booked is None:
        return []
    shown = [_show_balance("Gebuchter Saldo", "ITBD", booked, account)]
    if product.overdraft_limit is not None and account.currency == product.currency:
        shown.insert(0, _show_balance("Verfügbar", "ITAV", booked + product.overdraft_limit, account))
    return shown


def _show_balance(name: str, kind: str, amount: Decimal, account: ListedAccount) -> dict[str, Any]:
    money = {"currency": account.currency, "amount": _write(amount)}
    shown: dict[str, Any] = {"name": name, "balance_type": kind, "balance_amount": money}
    at = account.product.balance_at
    return shown if at is None else shown | {"reference_date": str(find_day(Transaction(amount, "EUR", at)))}


def show_booking(row: Transaction) -> dict[str, Any]:
    """Amounts have no sign: the indicator tells it."""
    side = "creditor" if row.amount < 0 else "debtor"
    purpose = row.purpose or ""
    shown: dict[str, Any] = {
        "entry_reference": None if row.is_pending else row.bank_id,
        "transaction_amount": {"currency": row.currency, "amount": _write(abs(row.amount))},
        "credit_debit_indicator": "DBIT" if row.amount < 0 else "CRDT",
        "status": "PDNG" if row.is_pending else "BOOK",
        "booking_date": None if row.booked_at is None else str(find_day(row)),
        "value_date": None if row.value_at is None else str(find_day(Transaction(row.amount, "EUR", row.value_at))),
        side: {"name": row.counterparty_name} if row.counterparty_name else None,
        f"{side}_account": {"iban": row.counterparty_iban} if row.counterparty_iban else None,
        f"{side}_agent": {"bic_fi": row.counterparty_bic} if row.counterparty_bic else None,
        "remittance_information": [purpose[start : start + LINE] for start in range(0, len(purpose), LINE)],
    }
    if row.booking_text or row.gv_code:
        code = {"description": row.booking_text, "code": row.gv_code}
        shown["bank_transaction_code"] = {name: value for name, value in code.items() if value}
    return {name: value for name, value in shown.items() if value is not None}


def _write(amount: Decimal) -> str:
    return f"{amount:.2f}" if amount == round(amount, 2) else f"{amount:f}"
