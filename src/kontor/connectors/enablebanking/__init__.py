"""Banks through Enable Banking, which holds the licence. Who uses it needs an application there, and no certificate."""

from kontor.connectors.enablebanking.connector import EnableBankingConnector
from kontor.connectors.enablebanking.directory import list_banks, read_application
from kontor.connectors.enablebanking.messages import ApplicationFacts
from kontor.connectors.enablebanking.settings import EnableBankingSettings
from kontor.connectors.enablebanking.tokens import Application, ApplicationError, load_application

__all__ = [
    "Application",
    "ApplicationError",
    "ApplicationFacts",
    "EnableBankingConnector",
    "EnableBankingSettings",
    "list_banks",
    "load_application",
    "read_application",
]
