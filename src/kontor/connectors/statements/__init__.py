"""Statement files: MT940, MT942, camt.052 to 054, MT535, CSV, OFX, QIF, PDF, and zips of them. Pure functions of bytes.

`read_statements` finds out what a file is. A file that cannot be read is a `StatementError`. A booking that cannot be
read is a rejected row of its statement, and what is merely doubtful an issue of it.
"""

from kontor.connectors.statements.camt import read_camt, read_camt_pages
from kontor.connectors.statements.csv_files import read_csv
from kontor.connectors.statements.csv_profiles import list_banks_with_forms
from kontor.connectors.statements.detection import FileKind, UnknownFormError, detect_kind, read_statements
from kontor.connectors.statements.mt535 import read_mt535
from kontor.connectors.statements.mt940 import read_mt940
from kontor.connectors.statements.ofx import read_ofx
from kontor.connectors.statements.pdf_files import read_pdf
from kontor.connectors.statements.qif import read_qif
from kontor.connectors.statements.results import (
    LIMITS,
    AccountIdentification,
    Balance,
    Holdings,
    IssueKind,
    Limits,
    Origin,
    RejectedRow,
    Statement,
    StatementError,
    StatementIssue,
    StatementKind,
    TooManyEntriesError,
    UnknownTable,
)

__all__ = [
    "LIMITS",
    "AccountIdentification",
    "Balance",
    "FileKind",
    "Holdings",
    "IssueKind",
    "Limits",
    "Origin",
    "RejectedRow",
    "Statement",
    "StatementError",
    "StatementIssue",
    "StatementKind",
    "TooManyEntriesError",
    "UnknownFormError",
    "UnknownTable",
    "detect_kind",
    "list_banks_with_forms",
    "read_camt",
    "read_camt_pages",
    "read_csv",
    "read_mt535",
    "read_mt940",
    "read_ofx",
    "read_pdf",
    "read_qif",
    "read_statements",
]
