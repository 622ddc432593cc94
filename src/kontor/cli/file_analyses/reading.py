"""Statement files from the disk: every form that imports understand, several files, folders and zips of them.

Files of one account are joined, and a booking that several of them hold counts once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kontor.connectors.files.accounts import FileAccount, join_statements
from kontor.connectors.statements import StatementError, UnknownFormError, read_statements
from kontor.connectors.statements.results import Holdings, Statement
from kontor.domain.errors import InvalidError
from kontor.domain.transactions import Transaction, clean_transaction

_SHOWN_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A booking, and the key of the account that it is on."""

    account: str
    transaction: Transaction


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """All accounts of all files. `skipped` are files of a folder that are no statements; `unreadable` counts rows."""

    files: Sequence[str]
    accounts: Sequence[FileAccount]
    rows: Sequence[ReadRow]
    skipped: Sequence[tuple[str, str]] = ()
    unreadable: int = 0


def read_files(paths: Sequence[Path]) -> ReadFiles:
    """A file that is named must be a statement. In a folder, other files are skipped and named."""
    statements: list[Statement] = []
    holdings: list[Holdings] = []
    names: list[str] = []
    skipped: list[tuple[str, str]] = []
    for path, is_named in _list_files(paths):
        try:
            readings = read_statements(path.read_bytes())
        except (StatementError, OSError) as error:
            reason = _explain(error)
            if is_named:
                raise InvalidError(reason, str(path)) from None
            skipped.append((path.name, reason))
            continue
        names.append(path.name)
        statements += readings.statements
        holdings += readings.holdings
    accounts = [account for account in join_statements(statements, holdings) if account.transactions]
    rows, unreadable = _list_rows(accounts)
    if not rows:
        raise InvalidError("there are no bookings in it", ", ".join(names) or str(paths[0]))
    return ReadFiles(names, accounts, rows, skipped, unreadable)


def _list_files(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Each file once, with whether it was named itself."""
    seen: set[Path] = set()
    for path in paths:
        is_folder = path.is_dir()
        found = sorted(file for file in path.rglob("*") if file.is_file()) if is_folder else [path]
        for file in found:
            is_hidden = is_folder and any(part.startswith(".") for part in file.relative_to(path).parts)
            if file.resolve() not in seen and not is_hidden:
                seen.add(file.resolve())
                yield file, not is_folder


def _list_rows(accounts: Sequence[FileAccount]) -> tuple[list[ReadRow], int]:
    """What has an amount and a day, as an import would store it, and how many rows do not."""
    rows: list[ReadRow] = []
    unreadable = sum(len(account.rejected) for account in accounts)
    for account in accounts:
        for transaction in account.transactions:
            cleaned = clean_transaction(transaction)
            if cleaned is None or (cleaned.booked_at or cleaned.value_at) is None:
                unreadable += 1
            else:
                rows.append(ReadRow(account.product.key, cleaned))
    return rows, unreadable


def _explain(error: StatementError | OSError) -> str:
    if isinstance(error, UnknownFormError):
        columns = ", ".join(name for name, _ in error.table.columns[:_SHOWN_COLUMNS])
        return f"is a table of no form that Kontor knows; its columns are {columns}"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return str(error).removesuffix(".")
