"""Payments on statements: how they are worded, and what they do to balances and lists of the people's accounts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from kontor.connectors.base import Pay
from kontor.connectors.demo.payees import is_sepa
from kontor.connectors.demo.people import Account
from kontor.connectors.demo.people.banking_days import find_midnight
from kontor.connectors.demo.people.numbers import DEMO_BIC
from kontor.connectors.demo.signing import sum_orders
from kontor.domain.demo_books import BookedOrder, Credit
from kontor.domain.payments import Order
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day

CENT = Decimal("0.01")
# What a purpose code makes of a credit.
INCOMES = frozenset(("SALA", "PAYR", "BONU", "PENS"))


def make_booked_order(job: Pay, account: Account, today: date) -> BookedOrder:
    """The debit of one payment, a collective one for several orders, and a credit for each payee."""
    booked_on = max(job.execution_date or today, today)
    is_scheduled = booked_on > today
    first, product = job.orders[0], account.product
    text, gv_code = _name_debit(job, is_scheduled=is_scheduled)
    debit = Transaction(
        amount=-sum_orders(job.orders),
        currency="EUR",
        booked_at=find_midnight(booked_on),
        booking_text=text,
        gv_code=gv_code,
        prima_nota="9310",
    )
    if len(job.orders) == 1:
        debit = replace(
            debit,
            purpose=_write_purpose(first),
            counterparty_name=first.recipient,
            counterparty_iban=first.iban,
            counterparty_bic=first.bic,
            ultimate_counterparty=first.ultimate_creditor,
        )
    else:
        purpose = f"EREF+{job.payment_id.hex} SVWZ+Sammelueberweisung, {len(job.orders)} Auftraege"
        debit = replace(debit, purpose=purpose)
    credits = tuple(Credit(order.iban, _write_credit(order, job, product, booked_on)) for order in job.orders)
    return BookedOrder(job.payment_id, product.key, booked_on, debit, credits, is_scheduled)


def _name_debit(job: Pay, *, is_scheduled: bool) -> tuple[str, str]:
    """Booking text and GV code."""
    if job.standing is not None:
        return "Dauerauftrag", "117"
    if len(job.orders) > 1:
        return "Sammelüberweisung", "191"
    if not is_sepa(job.orders[0]):
        return "Auslandsüberweisung", "201"
    if job.is_instant:
        return "Echtzeitüberweisung", "118"
    return ("Terminüberweisung", "116") if is_scheduled else ("Online-Überweisung", "177")


def _write_credit(order: Order, job: Pay, payer: Product, booked_on: date) -> Transaction:
    if order.purpose_code in INCOMES:
        text, gv_code = "Gehalt/Rente", "153"
    else:
        text, gv_code = ("Echtzeit-Gutschrift", "168") if job.is_instant else ("Gutschrift", "166")
    return Transaction(
        amount=order.amount,
        currency="EUR",
        booked_at=find_midnight(booked_on),
        purpose=_write_purpose(order),
        booking_text=text,
        gv_code=gv_code,
        prima_nota="9311",
        counterparty_name=payer.holder,
        counterparty_iban=payer.iban,
        counterparty_bic=DEMO_BIC,
        ultimate_counterparty=order.ultimate_debtor,
    )


def _write_purpose(order: Order) -> str:
    return f"EREF+{order.end_to_end_id or 'NOTPROVIDED'} SVWZ+{order.purpose}".rstrip()


def move_balance(product: Product, booked: Sequence[Transaction]) -> Product:
    """The product after these bookings, which are all in euros."""
    if not booked or product.balance is None:
        return product
    moved = sum((transaction.amount for transaction in booked), Decimal(0))
    balance = product.balance + moved
    pockets = tuple(
        replace(pocket, balance=pocket.balance + moved) if pocket.currency == "EUR" else pocket
        for pocket in product.balances
    )
    home_savings = product.home_savings
    if home_savings is not None:
        progress = (balance * 100 / home_savings.contract_amount).quantize(CENT)
        home_savings = replace(home_savings, savings_progress=progress)
    drawn = None if product.credit_drawn is None else max(Decimal("0.00"), -balance)
    return replace(product, balance=balance, balances=pockets, credit_drawn=drawn, home_savings=home_savings)


def list_rows(account: Account, booked: Sequence[Transaction]) -> list[Transaction]:
    """Everything on the statement, newest last; what is not final yet comes at the very end."""
    rows = [entry.transaction for entry in account.entries]
    if not booked:
        return rows
    finals = [*(row for row in rows if not row.is_pending), *booked]
    finals.sort(key=lambda row: find_day(row) or date.min)
    return [*finals, *(row for row in rows if row.is_pending)]
