"""From bookings to contracts."""

from collections.abc import Sequence
from datetime import date

from kontor.analysis.contracts.descriptions import Context, describe_run, find_data_until
from kontor.analysis.contracts.extras import attach_extras
from kontor.analysis.contracts.findings import Contract
from kontor.analysis.contracts.grouping import group_payments
from kontor.analysis.contracts.payments import Payment, sort_key
from kontor.analysis.contracts.single_payments import find_single_payments
from kontor.analysis.contracts.streams import Run, find_runs
from kontor.analysis.records import Account, Record


def _find_contracts_of_partner(group: Sequence[Payment], context: Context) -> list[Contract]:
    spent, spent_left = find_runs([payment for payment in group if payment.cents < 0])
    earned, earned_left = find_runs([payment for payment in group if payment.cents > 0])
    runs = [*spent, *earned]
    left = sorted([*spent_left, *earned_left], key=sort_key)
    if runs:
        left = attach_extras(runs, left)
    contracts = [describe_run(run, left, context) for run in runs]
    for payment, period, confidence in find_single_payments(left):
        run = Run([payment], period, numbers=frozenset(payment.numbers.contract))
        contracts.append(describe_run(run, left, context, confidence))
    return contracts


def find_contracts(records: Sequence[Record], accounts: Sequence[Account], today: date) -> list[Contract]:
    """All contracts that the bookings up to today show, the oldest first."""
    context = Context(accounts, find_data_until(records, accounts, today), today)
    contracts = [
        contract
        for group in group_payments(records, accounts, today)
        for contract in _find_contracts_of_partner(group, context)
    ]
    contracts.sort(key=lambda contract: (contract.date_first, contract.transaction_ids_regular[0]))
    return contracts
