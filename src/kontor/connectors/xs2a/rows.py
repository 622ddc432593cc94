"""Accounts and bookings of a bank, in Kontor's words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.connectors.json_values import CURRENCY, find_midnight, read_money, read_time
from kontor.connectors.xs2a.banks import SEPA, Xs2aBank
from kontor.connectors.xs2a.messages import Account, AccountReference, Amount, Balance, Booking
from kontor.domain.products import CurrencyBalance, Product, ProductCategory
from kontor.domain.schedules import StandingAction
from kontor.domain.transactions import Transaction

CATEGORIES = {
    "CACC": ProductCategory.CHECKING,
    "SLRY": ProductCategory.CHECKING,
    "TRAN": ProductCategory.CHECKING,
    "SVGS": ProductCategory.SAVINGS,
    "MOMA": ProductCategory.CALL_MONEY,
    "ONDP": ProductCategory.CALL_MONEY,
    "LLSV": ProductCategory.FIXED_TERM,
    "LOAN": ProductCategory.LOAN,
}
# Which balance is the account's, best first. What can be spent is no balance.
BALANCES = ("interimBooked", "closingBooked", "openingBooked", "expected", "nonInvoiced")
CHANNEL = "XS2A"
SEVERAL = "XXX"  # the currency of an account that has several
LINE = 140
# SWIFT key, GV code and, at some banks, prima nota.
_CODE = re.compile(r"[A-Z]{4}\+([0-9]{0,3})(?:\+([A-Za-z0-9]{0,10}).*)?")
_SIGNS = {"CRDT": 1, "DBIT": -1}


def name_account(account: Account) -> str | None:
    """The bank's lasting name for it: resource ids live no longer than a consent."""
    return account.iban or account.bban or None


def make_product(
    key: str,
    accounts: Sequence[Account],
    balances: Sequence[Balance],
    bank: Xs2aBank,
    institution: str | None,
    today: date,
) -> Product:
    """One account, or all that share a number: one for each currency."""
    first = accounts[0]
    category = CATEGORIES.get(first.cash_account_type or "CACC", ProductCategory.OTHER_ACCOUNT)
    pockets = read_pockets(balances, today)
    currencies = [account.currency for account in accounts if account.currency != SEVERAL]
    currency = "EUR" if "EUR" in pockets or not pockets else next(iter(pockets))
    if len(accounts) == 1 and currencies:
        currency = currencies[0]
    main = pockets.get(currency)
    is_several = len(pockets) > 1
    has_iban = first.iban is not None
    pays = category is ProductCategory.CHECKING and has_iban and SEPA in bank.payment_products
    holder, name = first.owner_name, first.name or first.display_name
    if bank.name_is_holder:
        holder, name = holder or first.name, first.display_name
    return Product(
        key,
        category,
        name or first.product or key,
        holder or "",
        currency=currency,
        account_number=_find_number(first),
        iban=first.iban,
        bic=first.bic,
        bank_code=first.iban[4:12] if first.iban and first.iban.startswith("DE") else None,
        institution=institution,
        balance=None if main is None else main.balance,
        balance_at=None if main is None else main.balance_at,
        balances=tuple(pockets.values()) if is_several else (),
        can_transfer=pays,
        can_bulk_transfer=pays and bank.has_bulk,
        standing_order_actions=_list_actions(bank) if pays and bank.has_periodic else (),
    )


def _list_actions(bank: Xs2aBank) -> tuple[StandingAction, ...]:
    """The standard has no list of standing orders and no change of one. Not every bank offers their cancellation."""
    return (StandingAction.CREATE, StandingAction.DELETE) if bank.cancels_periodic else (StandingAction.CREATE,)


def _find_number(account: Account) -> str | None:
    if account.iban is not None and account.iban.startswith("DE"):
        return account.iban[12:]
    return account.bban


def read_pockets(balances: Sequence[Balance], today: date) -> dict[str, CurrencyBalance]:
    """The best balance of each currency; one without a date is of today."""
    pockets: dict[str, CurrencyBalance] = {}
    for kind in BALANCES:
        for balance in balances:
            currency = balance.balance_amount.currency
            amount = read_money(balance.balance_amount.amount)
            at = (
                read_time(balance.last_change_date_time)
                or find_midnight(balance.reference_date)
                or find_midnight(str(today))
            )
            is_usable = amount is not None and CURRENCY.fullmatch(currency) and not balance.credit_limit_included
            if balance.balance_type == kind and currency not in pockets and is_usable and amount is not None and at:
                pockets[currency] = CurrencyBalance(currency, amount, at)
    return pockets


def read_amount_with_currency(told: Amount | None, currency: str) -> Decimal | None:
    """An amount, if there is any and it is in this currency."""
    return None if told is None or told.currency != currency else read_money(told.amount)


@dataclass(frozen=True, slots=True)
class _Party:
    name: str | None
    account: AccountReference
    agent: str | None
    ultimate: str | None

    @property
    def is_named(self) -> bool:
        return bool(self.name or self.account.iban or self.account.bban)

    def has(self, number: str) -> bool:
        return number in (self.account.iban, self.account.bban)


def _list_parties(booking: Booking) -> tuple[_Party, _Party]:
    """Creditor and debtor."""
    nobody = AccountReference()
    return (
        _Party(
            booking.creditor_name,
            booking.creditor_account or nobody,
            booking.creditor_agent,
            booking.ultimate_creditor,
        ),
        _Party(booking.debtor_name, booking.debtor_account or nobody, booking.debtor_agent, booking.ultimate_debtor),
    )


def make_transaction(booking: Booking, bank: Xs2aBank, account: str, *, is_pending: bool) -> Transaction | None:
    """None for a row that cannot be stored: no amount, no day, or nothing that tells an unsigned amount's sign.

    `account` is the number of the account whose booking it is.
    """
    amount = read_money(booking.transaction_amount.amount)
    booked_at, value_at = find_midnight(booking.booking_date), find_midnight(booking.value_date)
    creditor, debtor = _list_parties(booking)
    if amount is not None and bank.has_unsigned_amounts and amount > 0:
        sign = _find_sign(booking, creditor, debtor, account)
        amount = None if sign is None else amount * sign
    if amount is None or not CURRENCY.fullmatch(booking.transaction_amount.currency) or (booked_at or value_at) is None:
        return None
    other = creditor if amount < 0 else debtor
    proprietary = booking.proprietary_bank_transaction_code
    code = _CODE.fullmatch(proprietary or "")
    bank_id = (booking.entry_reference or booking.transaction_id) if bank.has_stable_ids and not is_pending else None
    return Transaction(
        amount,
        booking.transaction_amount.currency,
        booked_at,
        value_at,
        purpose=_write_purpose(booking),
        booking_text=booking.additional_information if code or not proprietary else proprietary,
        gv_code=(code[1] or None) if code else None,
        prima_nota=(code[2] or None) if code else None,
        counterparty_name=other.name,
        counterparty_iban=other.account.iban or other.account.bban,
        counterparty_bic=other.agent,
        ultimate_counterparty=other.ultimate,
        bank_id=bank_id,
        is_pending=is_pending,
        channel=CHANNEL,
    )


def _find_sign(booking: Booking, creditor: _Party, debtor: _Party, account: str) -> int | None:
    """The customer pays as debtor and receives as creditor. None where nothing tells which of them he is."""
    if booking.credit_debit_indicator is not None:
        return _SIGNS.get(booking.credit_debit_indicator)
    if creditor.has(account) != debtor.has(account):
        return 1 if creditor.has(account) else -1
    if creditor.has(account) or creditor.is_named == debtor.is_named:
        return None
    return -1 if creditor.is_named else 1  # the one who is named is the other


def _write_purpose(booking: Booking) -> str | None:
    """As a statement says it, with SEPA references as tags; the bank's own text where it has tags already."""
    text = booking.remittance_information_unstructured or ""
    lines = booking.remittance_information_unstructured_array
    if lines:
        # A full line goes on in the next one, in the middle of a word.
        text = "".join(line if len(line) == LINE else f"{line} " for line in lines).rstrip()
    reference = _read_reference(booking.remittance_information_structured)
    if reference not in text:
        text = f"{text} {reference}".lstrip()
    tags = (("EREF", booking.end_to_end_id), ("MREF", booking.mandate_id), ("CRED", booking.creditor_id))
    parts = [f"{tag}+{value}" for tag, value in tags if value and f"{tag}+" not in text]
    if parts and "SVWZ+" not in text:
        text = f"SVWZ+{text}"
    return " ".join((*parts, text)) or None


def _read_reference(sent: Any) -> str:
    """A payment's structured purpose: ING sends a text, the standard an object."""
    reference = sent.get("reference") if isinstance(sent, dict) else sent
    return reference if isinstance(reference, str) else ""
