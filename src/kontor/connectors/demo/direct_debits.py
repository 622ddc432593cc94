"""Direct debits at the demo bank: checked, worded for the creditor's statement, and booked on their day.

Debtors' accounts are not followed, even if they are at this bank: nobody may debit other people's demo accounts.
"""

from kontor.connectors.base import Context, Failed, FailureKind, Pay
from kontor.connectors.demo.payees import PayeeScenario
from kontor.connectors.demo.people import Account
from kontor.connectors.demo.people.banking_days import find_midnight, move_to_banking_day
from kontor.connectors.demo.signing import sum_orders
from kontor.domain.demo_books import BookedOrder, Collection
from kontor.domain.mandates import DebitForm, DebitInstruction
from kontor.domain.payments import Order
from kontor.domain.transactions import Transaction

# At least a day for the debtor's bank.
LEAD_DAYS = (1, 365)
ENTRIES = {
    DebitForm.CORE_SINGLE: ("Lastschrifteinzug", "171"),
    DebitForm.CORE_BULK: ("Sammellastschrifteinzug", "192"),
    DebitForm.B2B_SINGLE: ("Firmenlastschrifteinzug", "174"),
    DebitForm.B2B_BULK: ("Sammelfirmenlastschrifteinzug", "196"),
}
REFUSALS = {
    PayeeScenario.REFUSES: "Die Bank des Zahlungspflichtigen nimmt die Lastschrift nicht an.",
    PayeeScenario.IS_CLOSED: "Das Konto des Zahlungspflichtigen ist erloschen.",
}


def check_debit(job: Pay, debit: DebitInstruction, account: Account, context: Context) -> Failed | None:
    """What a bank sees at a glance, besides amounts and currency."""
    if debit.form not in account.product.debit_forms or job.is_instant or job.standing is not None:
        return Failed(FailureKind.NOT_SUPPORTED, "Für dieses Konto sind keine solchen Lastschriften möglich.")
    if len(debit.mandates) != len(job.orders):
        return Failed(FailureKind.REJECTED, "Zu jeder Lastschrift gehört ein Mandat.")
    shortest, longest = LEAD_DAYS
    days = None if job.execution_date is None else (job.execution_date - context.today).days
    if days is None or not shortest <= days <= longest:
        text = f"Das Fälligkeitsdatum muss {shortest} bis {longest} Tage in der Zukunft liegen."
        return Failed(FailureKind.REJECTED, text)
    return None


def write_collection(job: Pay, debit: DebitInstruction, account: Account) -> BookedOrder:
    """One credit, also for several direct debits, on the first banking day from the day of collection on."""
    assert job.execution_date is not None, "it was checked when the dialogue began"
    booked_on = move_to_banking_day(job.execution_date, 1)
    text, gv_code = ENTRIES[debit.form]
    first = job.orders[0] if len(job.orders) == 1 else None
    entry = Transaction(
        amount=sum_orders(job.orders),
        currency="EUR",
        booked_at=find_midnight(booked_on),
        purpose=_write_purpose(job, debit, first),
        booking_text=text,
        gv_code=gv_code,
        prima_nota="9312",
        counterparty_name=None if first is None else first.recipient,
        counterparty_iban=None if first is None else first.iban,
        counterparty_bic=None if first is None else first.bic,
    )
    collection = Collection(job.orders, debit)
    return BookedOrder(
        job.payment_id, account.product.key, booked_on, entry, (), is_scheduled=True, collection=collection
    )


def _write_purpose(job: Pay, debit: DebitInstruction, single: Order | None) -> str:
    """With the order's own reference (KREF), by which it is found again."""
    own = f"KREF+{job.payment_id.hex}"
    if single is None:
        return f"{own} CRED+{debit.creditor_id} SVWZ+Sammellastschrift, {len(job.orders)} Auftraege"
    reference = single.end_to_end_id or "NOTPROVIDED"
    words = f"EREF+{reference} {own} MREF+{debit.mandates[0].id} CRED+{debit.creditor_id} SVWZ+{single.purpose}"
    return words.rstrip()
