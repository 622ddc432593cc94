"""Reading transactions and balances: lists, search, pushes by the tenant."""

from kontor.services.transactions.balances import Balance, Balances
from kontor.services.transactions.deltas import Delta, Deltas, DeltaView
from kontor.services.transactions.of_customer import CustomerTransactions
from kontor.services.transactions.searches import Searches, list_categories
from kontor.services.transactions.transactions import PIECE_ROWS, PushedTransaction, Transactions

__all__ = [
    "PIECE_ROWS",
    "Balance",
    "Balances",
    "CustomerTransactions",
    "Delta",
    "DeltaView",
    "Deltas",
    "PushedTransaction",
    "Searches",
    "Transactions",
    "list_categories",
]
