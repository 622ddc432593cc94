"""Faults in lists of bookings."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from kontor.demobank.faults.injection import Visit
from kontor.demobank.faults.plans import Fault, FaultPlan
from kontor.domain.transactions import Transaction

EARLY_DAYS = 12
MAX_DUPLICATES = 3
NOISE = Decimal("0.000000000021")


def distort_rows(rows: Sequence[Transaction], plan: FaultPlan | None) -> list[Transaction]:
    """Rows with the bank's permanent faults; the same row is always distorted in the same way."""
    return [row if plan is None else _distort(row, plan) for row in rows]


def _distort(row: Transaction, plan: FaultPlan) -> Transaction:
    if row.is_pending or not row.amount.is_finite():
        return row
    name = f"{row.bank_id} {row.booked_at} {row.amount} {row.purpose}"
    if row.amount < 0 and plan.concerns(Fault.WRONG_SIGN, name):
        row = replace(row, amount=-row.amount)
    if plan.concerns(Fault.LONG_DECIMALS, name):
        row = replace(row, amount=row.amount + NOISE)
    return row


def disturb_list(rows: Sequence[Transaction], visit: Visit) -> list[Transaction]:
    """A list with the fault of this request."""
    listed = list(rows)
    booked = [place for place, row in enumerate(listed) if not row.is_pending]
    if visit.fault is Fault.SHUFFLED_ROWS:
        visit.make_random("order").shuffle(listed)
    elif visit.fault is Fault.DUPLICATE_ROWS and booked:
        random = visit.make_random("duplicates")
        for place in sorted(random.sample(booked, min(len(booked), MAX_DUPLICATES)), reverse=True):
            listed.insert(place, listed[place])
    return listed


def find_first_day(since: date, visit: Visit) -> date:
    """The day from which a list really begins."""
    return since - timedelta(days=EARLY_DAYS) if visit.fault is Fault.VALUE_DATE_FILTER else since
