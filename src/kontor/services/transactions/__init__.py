"""Reading transactions and balances: lists, search, pushes by the tenant."""

from kontor.services.transactions.balances import Balance, Balances
from kontor.services.transactions.completeness import Completeness
from kontor.services.transactions.customer_transactions import CustomerTransactions
from kontor.services.transactions.deltas import Delta, Deltas, DeltaView
from kontor.services.transactions.edits import TransactionEdits
from kontor.services.transactions.factory import make_transaction_services
from kontor.services.transactions.searches import Searches
from kontor.services.transactions.transactions import PIECE_ROWS, PushedTransaction, Transactions
from kontor.services.transactions.updates import Correction, TransactionUpdates

__all__ = [
    "PIECE_ROWS",
    "Balance",
    "Balances",
    "Completeness",
    "Correction",
    "CustomerTransactions",
    "Delta",
    "DeltaView",
    "Deltas",
    "PushedTransaction",
    "Searches",
    "TransactionEdits",
    "TransactionUpdates",
    "Transactions",
    "make_transaction_services",
]
