"""All services of this package, made together."""

from typing import TypedDict

from kontor.services.analyses import Repetitions, TransactionTagging
from kontor.services.runtime import Clock
from kontor.services.transactions.balances import Balances
from kontor.services.transactions.completeness import Completeness
from kontor.services.transactions.customer_transactions import CustomerTransactions
from kontor.services.transactions.deltas import Deltas
from kontor.services.transactions.edits import TransactionEdits
from kontor.services.transactions.searches import Searches
from kontor.services.transactions.transactions import Transactions
from kontor.services.transactions.updates import TransactionUpdates
from kontor.storage.database import Database


class TransactionServices(TypedDict):
    """By the names that they have in `Services`."""

    transactions: Transactions
    searches: Searches
    deltas: Deltas
    customer_transactions: CustomerTransactions
    transaction_updates: TransactionUpdates
    transaction_edits: TransactionEdits
    balances: Balances
    completeness: Completeness


def make_transaction_services(
    database: Database, clock: Clock, tagging: TransactionTagging, repetitions: Repetitions
) -> TransactionServices:
    return {
        "transactions": Transactions(database, clock, tagging),
        "searches": Searches(database, tagging),
        "deltas": Deltas(database, tagging, repetitions),
        "customer_transactions": CustomerTransactions(database, tagging, repetitions),
        "transaction_updates": TransactionUpdates(database, tagging),
        "transaction_edits": TransactionEdits(database, tagging, repetitions),
        "balances": Balances(database, clock),
        "completeness": Completeness(database),
    }
