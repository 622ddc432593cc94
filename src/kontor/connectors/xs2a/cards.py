"""Card accounts of a bank (`/v1/card-accounts`), in Kontor's words."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from kontor.connectors.json_values import CURRENCY, find_midnight, read_money
from kontor.connectors.xs2a.banks import Xs2aBank
from kontor.connectors.xs2a.messages import Balance, CardAcceptorAddress, CardAccount, CardBooking
from kontor.connectors.xs2a.rows import CHANNEL, read_amount_with_currency, read_pockets
from kontor.domain.products import Product, find_card_category
from kontor.domain.transactions import Transaction


def make_card(account: CardAccount, balances: Sequence[Balance], institution: str | None, today: date) -> Product:
    """A card account. Where the bank keeps it like a debt (`debitAccounting`), what is owed is positive."""
    pockets = read_pockets(balances, today)
    main = pockets.get(account.currency)
    balance = None if main is None else main.balance
    if balance is not None and account.is_debt:
        balance = -balance
    return Product(
        account.masked_pan,
        find_card_category(account.product, account.name, account.display_name),
        account.name or account.display_name or account.product or account.masked_pan,
        account.owner_name or "",
        currency=account.currency,
        account_number=account.masked_pan,
        institution=institution,
        balance=balance,
        balance_at=None if main is None else main.balance_at,
        credit_limit=read_amount_with_currency(account.credit_limit, account.currency),
    )


def make_card_transaction(
    booking: CardBooking, bank: Xs2aBank, *, is_debt: bool, is_pending: bool
) -> Transaction | None:
    """None for a row that cannot be stored. Without a value date the day on which the card was used takes its place."""
    amount = read_money(booking.transaction_amount.amount)
    booked_at = find_midnight(booking.booking_date)
    value_at = find_midnight(booking.value_date) or find_midnight(booking.transaction_date)
    if amount is None or not CURRENCY.fullmatch(booking.transaction_amount.currency) or (booked_at or value_at) is None:
        return None
    address = booking.card_acceptor_address or CardAcceptorAddress()
    acceptor = " ".join(filter(None, (booking.card_acceptor_id, address.town_name, address.country)))
    row = Transaction(
        -amount if is_debt else amount,
        booking.transaction_amount.currency,
        booked_at,
        value_at,
        purpose=booking.transaction_details or acceptor or None,
        booking_text=booking.proprietary_bank_transaction_code,
        counterparty_name=booking.card_acceptor_id,
        is_pending=is_pending,
        channel=CHANNEL,
    )
    has_id = bank.has_stable_ids and not is_pending
    return replace(row, bank_id=booking.card_transaction_id) if has_id else row
