"""German banks over FinTS 3.0 with PIN and TAN. `python-fints` reads and writes segments; the dialogues are ours."""

from kontor.connectors.fints.connector import FintsConnector
from kontor.connectors.fints.quirks import FintsBank, find_fints_bank

__all__ = ["FintsBank", "FintsConnector", "find_fints_bank"]
