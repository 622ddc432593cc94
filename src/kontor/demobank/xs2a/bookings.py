"""Bookings and balances in the standard's words."""

import re
from decimal import Decimal
from typing import Any

from kontor.demobank.xs2a.aspsp import show_money
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day

LINE = 140
# Statements carry SEPA references as tags; on the wire each has a field of its own.
_TAGGED = re.compile(
    r"(?:EREF\+(?P<endToEndId>.{1,35}?) )?(?:MREF\+(?P<mandateId>.{1,35}?) )?(?:CRED\+(?P<creditorId>.{1,35}?) )?"
    r"SVWZ\+(?P<text>.*)",
    re.DOTALL,
)
_BIC = re.compile("[A-Z]{6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3})?")
_IBAN = re.compile("[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}")


def show_booking(transaction: Transaction) -> dict[str, Any]:
    side, other = ("creditor", "Creditor") if transaction.amount < 0 else ("debtor", "Debtor")
    shown: dict[str, Any] = {
        "transactionAmount": {"currency": transaction.currency, "amount": _show_amount(transaction.amount)},
        "transactionId": transaction.bank_id,
        "entryReference": transaction.bank_id,
        "bookingDate": None if transaction.booked_at is None else str(find_day(transaction)),
        "valueDate": (
            None
            if transaction.value_at is None
            else str(find_day(Transaction(transaction.amount, "EUR", transaction.value_at)))
        ),
        f"{side}Name": transaction.counterparty_name and transaction.counterparty_name[:70],
        f"{side}Agent": transaction.counterparty_bic if _fits(_BIC, transaction.counterparty_bic) else None,
        f"{side}Account": (
            {"iban": transaction.counterparty_iban} if _fits(_IBAN, transaction.counterparty_iban) else None
        ),
        f"ultimate{other}": transaction.ultimate_counterparty and transaction.ultimate_counterparty[:70],
        "additionalInformation": transaction.booking_text,
    }
    if transaction.gv_code is not None or transaction.prima_nota is not None:
        shown["proprietaryBankTransactionCode"] = f"NTRF+{transaction.gv_code or ''}+{transaction.prima_nota or ''}"
    shown |= _show_purpose(transaction.purpose or "")
    return {key: value for key, value in shown.items() if value is not None}


def _show_amount(amount: Decimal) -> str:
    """With cents, or with all decimals of an amount that has more."""
    return show_money(amount) if amount == round(amount, 2) else f"{amount:f}"


def _fits(pattern: re.Pattern[str], text: str | None) -> bool:
    return text is not None and pattern.fullmatch(text) is not None


def _show_purpose(purpose: str) -> dict[str, Any]:
    tagged = _TAGGED.fullmatch(purpose)
    shown: dict[str, Any] = {}
    text = purpose
    if tagged is not None and any(tagged[name] for name in ("endToEndId", "mandateId", "creditorId")):
        text = tagged["text"]
        shown = {key: value for key, value in tagged.groupdict().items() if key != "text" and value}
    if len(text) <= LINE:
        return shown | ({"remittanceInformationUnstructured": text} if text else {})
    lines = [text[start : start + LINE] for start in range(0, len(text), LINE)]
    return shown | {"remittanceInformationUnstructuredArray": lines}


def list_balances(product: Product) -> list[dict[str, Any]]:
    """What is booked, in each currency the account has, and what can be spent."""
    if product.balance is None:
        return []
    booked = [(balance.currency, balance.balance) for balance in product.balances] or [
        (product.currency or "EUR", product.balance)
    ]
    day = None if product.balance_at is None else str(find_day(Transaction(product.balance, "EUR", product.balance_at)))
    shown = [_show_balance("interimBooked", currency, show_money(amount), day) for currency, amount in booked]
    if product.overdraft_limit is not None:
        spendable = show_money(product.balance + product.overdraft_limit)
        shown.append(_show_balance("interimAvailable", "EUR", spendable, day) | {"creditLimitIncluded": True})
    return shown


def _show_balance(kind: str, currency: str, amount: str, day: str | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"balanceType": kind, "balanceAmount": {"currency": currency, "amount": amount}}
    return shown if day is None else shown | {"referenceDate": day}
