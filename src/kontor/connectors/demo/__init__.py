"""The demo bank, in process: deterministic people (`people`), and a bank that serves them (`connector`)."""

from kontor.connectors.demo.connector import BankMemory, DemoConnector

__all__ = ["BankMemory", "DemoConnector"]
