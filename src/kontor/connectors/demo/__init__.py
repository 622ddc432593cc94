"""The demo bank, in process: deterministic people (`people`), and a bank that serves them (`connector`)."""

from kontor.connectors.demo.connector import DemoConnector
from kontor.connectors.demo.memory import Bank

__all__ = ["Bank", "DemoConnector"]
