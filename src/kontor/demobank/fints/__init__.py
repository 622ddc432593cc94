"""The demo bank as a FinTS 3.0 PIN/TAN server: the same people, spoken to in the language of German banks."""

from kontor.demobank.fints.bank import FintsBank, FintsOptions
from kontor.demobank.fints.server import FintsServer

__all__ = ["FintsBank", "FintsOptions", "FintsServer"]
