"""Accounts and bookings of Enable Banking, in Kontor's words."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from kontor.connectors.enablebanking.messages import (
    Account,
    AccountNumber,
    Amount,
    Balance,
    BankCode,
    Booking,
    Institution,
    Party,
)
from kontor.connectors.json_values import CURRENCY, find_midnight, read_money, read_time
from kontor.domain.products import CurrencyBalance, Product, ProductCategory, find_card_category
from kontor.domain.transactions import Transaction

CHANNEL = "Enable Banking"
CARD = "CARD"
CATEGORIES = {
    "CACC": ProductCategory.CHECKING,
    "SVGS": ProductCategory.SAVINGS,
    "LOAN": ProductCategory.LOAN,
}
# Which balance is the account's, best first. What can be spent is no balance.
BALANCES = ("ITBD", "CLBD", "OPBD", "PRCD", "XPCD", "VALU")
SEVERAL = "XXX"  # the currency of an account that has several
BOOKED, PENDING = ("BOOK",), ("PDNG", "HOLD")
UNKNOWN = "OTHR"
SIGNS = {"CRDT": 1, "DBIT": -1}
LINE = 140
# Some banks give bookings without a reference of their own one that stands for none.
NO_REFERENCE = re.compile(r"[0\W_]*|NOTPROVIDED|NONREF", re.IGNORECASE)
GV_CODE = re.compile(r"(?:[A-Z]{4}\+)?([0-9]{3})(?:\+.*)?")


def choose_key(account: Account) -> str:
    """The account's lasting name, the same as over other channels where it has an IBAN.

    A card may bear the IBAN of the account that it is settled with, and is not that account.
    """
    iban = account.account_id.iban if account.account_id is not None else None
    return iban if iban and account.cash_account_type != CARD else account.identification_hash


def make_product(
    key: str, accounts: Sequence[Account], balances: Sequence[Balance], institution: str, today: date
) -> Product:
    """One account, or all that share a number: one for each currency."""
    first = accounts[0]
    category = CATEGORIES.get(first.cash_account_type or "", ProductCategory.OTHER_ACCOUNT)
    if first.cash_account_type == CARD:
        category = find_card_category(first.product, first.details)
    pockets = _read_pockets(balances, today)
    currencies = [account.currency for account in accounts if CURRENCY.fullmatch(account.currency)]
    named = next((currency for currency in currencies if currency != SEVERAL), "EUR")
    currency = named if named in pockets or not pockets else next(iter(pockets))
    main = pockets.get(currency)
    number = first.account_id or AccountNumber()
    iban = number.iban or None
    limit = _read_limit(first.credit_limit, currency)
    is_german = iban is not None and iban.startswith("DE")
    return Product(
        key,
        category,
        first.details or first.product or number.text or key,
        first.name or "",
        currency=currency,
        account_number=iban[12:] if iban is not None and is_german else number.text,
        iban=iban,
        bic=first.account_servicer.bic_fi if first.account_servicer is not None else None,
        bank_code=iban[4:12] if iban is not None and is_german else None,
        institution=institution,
        balance=None if main is None else main.balance,
        balance_at=None if main is None else main.balance_at,
        balances=tuple(pockets.values()) if len(pockets) > 1 else (),
        overdraft_limit=None if category.is_card else limit,
        credit_limit=limit if category.is_card else None,
    )


def _read_pockets(balances: Sequence[Balance], today: date) -> dict[str, CurrencyBalance]:
    """The best balance of each currency; one without a date is of today."""
    pockets: dict[str, CurrencyBalance] = {}
    for kind in BALANCES:
        for balance in balances:
            currency, amount = balance.balance_amount.currency, read_money(balance.balance_amount.amount)
            at = (
                read_time(balance.last_change_date_time)
                or find_midnight(balance.reference_date)
                or find_midnight(str(today))
            )
            is_usable = amount is not None and CURRENCY.fullmatch(currency)
            if balance.balance_type == kind and currency not in pockets and is_usable and amount is not None and at:
                pockets[currency] = CurrencyBalance(currency, amount, at)
    return pockets


def _read_limit(limit: Amount | None, currency: str) -> Decimal | None:
    return None if limit is None or limit.currency != currency else read_money(limit.amount)


@dataclass(frozen=True, slots=True)
class _Other:
    party: Party
    account: AccountNumber
    agent: Institution


def _find_other(booking: Booking, sign: int) -> _Other:
    """Who is paid, or who pays: the side that is not the customer's."""
    if sign < 0:
        parts = (booking.creditor, booking.creditor_account, booking.creditor_agent)
    else:
        parts = (booking.debtor, booking.debtor_account, booking.debtor_agent)
    party, account, agent = parts
    return _Other(party or Party(), account or AccountNumber(), agent or Institution())


def is_wanted(booking: Booking) -> bool:
    """Not what is planned, cancelled or rejected: no money moves by it."""
    return booking.status in (*BOOKED, *PENDING, UNKNOWN)


def make_transaction(booking: Booking, country: str) -> Transaction | None:
    """None for a row that cannot be stored: no amount, no day, or a sign that contradicts the indicator."""
    amount = read_money(booking.transaction_amount.amount)
    sign = SIGNS.get(booking.credit_debit_indicator)
    if amount is None or sign is None or not CURRENCY.fullmatch(booking.transaction_amount.currency):
        return None
    if amount < 0 < sign:
        return None
    booked_at, value_at = find_midnight(booking.booking_date), find_midnight(booking.value_date)
    if booked_at is None and value_at is None:
        value_at = find_midnight(booking.transaction_date)
        if value_at is None:
            return None
    is_pending = booking.status in PENDING or (booking.status == UNKNOWN and booked_at is None)
    other = _find_other(booking, sign)
    code = booking.bank_transaction_code or BankCode()
    gv_code = GV_CODE.fullmatch(code.code or "") if country == "DE" else None
    reference = booking.entry_reference
    return Transaction(
        abs(amount) * sign,
        booking.transaction_amount.currency,
        booked_at,
        value_at,
        purpose=_write_purpose(booking),
        booking_text=code.description or None,
        gv_code=gv_code[1] if gv_code else None,
        counterparty_name=other.party.name or None,
        counterparty_iban=other.account.text,
        counterparty_bic=other.agent.bic_fi or None,
        bank_id=None if is_pending or not reference or NO_REFERENCE.fullmatch(reference) else reference,
        is_pending=is_pending,
        channel=CHANNEL,
    )


def drop_shared_ids(rows: Sequence[Transaction]) -> tuple[Transaction, ...]:
    """Of different bookings that the bank gives one reference, none is identified by it."""
    shared = {bank_id for bank_id, count in Counter(row.bank_id for row in rows).items() if bank_id and count > 1}
    return tuple(replace(row, bank_id=None) if row.bank_id in shared else row for row in rows)


def _write_purpose(booking: Booking) -> str | None:
    lines = [line for line in booking.remittance_information or () if line]
    # A full line goes on in the next one, in the middle of a word.
    text = "".join(line if len(line) == LINE else f"{line} " for line in lines).rstrip()
    reference = booking.reference_number or ""
    return (text if reference in text else f"{text} {reference}".lstrip()) or None
