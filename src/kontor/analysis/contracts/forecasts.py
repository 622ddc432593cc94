"""Payments still to come."""

from datetime import date
from decimal import Decimal

from kontor.analysis.contracts.findings import Contract

_MAX_PAYMENTS = 10_000


def forecast_payments(contract: Contract, until: date) -> list[tuple[date, Decimal]]:
    """The contract's payments from its next one up to `until`, none for a contract that is over."""
    if contract.date_next is None or contract.amount_next is None or contract.date_next > until:
        return []
    payments = [(contract.date_next, contract.amount_next)]
    if contract.schedule is None:
        return payments
    last = contract.loan.last_installment_estimate if contract.loan and contract.loan.confidence >= 0.5 else None
    for due in contract.schedule.list_after(contract.date_next):
        if due > until or len(payments) >= _MAX_PAYMENTS or (last is not None and due > last):
            break
        payments.append((due, contract.amount_next))
    return payments
