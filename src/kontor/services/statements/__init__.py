"""Statement files: import, export, ledgers; account statements as banks issue them."""

from kontor.services.statements.account_statements import AccountStatements
from kontor.services.statements.exports import Exports, Span
from kontor.services.statements.import_forms import ImportForms
from kontor.services.statements.imports import (
    Import,
    ImportedAccount,
    Imports,
    Owner,
    UnknownFormError,
    name_owner,
)
from kontor.services.statements.ledgers import Ledger, Transfer, find_own_ibans, page_transfers, read_ledger

__all__ = [
    "AccountStatements",
    "Exports",
    "Import",
    "ImportForms",
    "ImportedAccount",
    "Imports",
    "Ledger",
    "Owner",
    "Span",
    "Transfer",
    "UnknownFormError",
    "find_own_ibans",
    "name_owner",
    "page_transfers",
    "read_ledger",
]
