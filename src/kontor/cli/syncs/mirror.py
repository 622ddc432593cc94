"""What is known from run to run: the rows of Kontor up to a cursor, and what the ledger was given. A SQLite file.

It is locked for as long as a run lasts. A run that is killed leaves what was committed before; lost, the file is made
again, and entries are found in the ledger by their ids.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kontor.cli.syncs.entries import Entry, LedgerError, restore

VERSION = 1
TABLES = """
    create table facts (name text primary key, value text not null);
    create table rows (id text primary key, product text not null, facts text not null);
    create table accounts (key text primary key, ledger_id text not null);
    create table written (id text primary key, ledger_id text not null, entry text not null);
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A transaction as Kontor tells it. The category and the partner come from two readings."""

    id: str
    product: str
    day: str
    amount: str
    currency: str
    counterparty: str
    purpose: str
    note: str
    keywords: tuple[str, ...]
    is_pending: bool
    category: str = ""
    partner: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    ledger_id: str
    entry: Entry


class Mirror:
    def __init__(self, path: Path, *, is_dry: bool = False) -> None:
        """A dry run works on a copy in memory."""
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        self._file = sqlite3.connect(path if not (is_dry and is_new) else ":memory:", timeout=1, isolation_level=None)
        try:
            self._prepare(path)
        except sqlite3.OperationalError as error:
            self._file.close()
            raise LedgerError(f"Another run uses {path.parent} at the moment.") from error
        except sqlite3.DatabaseError as error:
            self._file.close()
            raise LedgerError(f"{path} is damaged: remove it. Entries are found in the ledger by their ids.") from error
        self._database = self._file
        if is_dry:
            self._database = sqlite3.connect(":memory:", isolation_level=None)
            self._file.backup(self._database)

    def _prepare(self, path: Path) -> None:
        self._file.execute("pragma locking_mode = exclusive")
        self._file.execute("begin exclusive")
        version = self._file.execute("pragma user_version").fetchone()[0]
        if version == 0:
            for statement in TABLES.split(";"):
                self._file.execute(statement)
            self._file.execute(f"pragma user_version = {VERSION}")
        self._file.execute("commit")
        if version not in (0, VERSION):
            self._file.close()
            raise LedgerError(f"{path} is of another version of Kontor: remove it.")

    def close(self) -> None:
        self._database.close()
        self._file.close()

    # Kontor's side

    def read_fact(self, name: str) -> str | None:
        found = self._database.execute("select value from facts where name = ?", [name]).fetchone()
        return None if found is None else str(found[0])

    def apply(self, kept: Iterable[Row], removed: Iterable[str], kind: str, cursor: str) -> None:
        """One answer of a reading, and its cursor, at once. `kind` is the fact that this reading knows of a row."""
        self._database.execute("begin")
        for row in kept:
            facts = self._read_row(row.id) | {
                name: getattr(row, name)
                for name in Row.__slots__
                if name not in ("id", "product", "category", "partner") or name == kind
            }
            self._database.execute(
                "insert or replace into rows values (?, ?, ?)", [row.id, row.product, json.dumps(facts)]
            )
        self._database.executemany("delete from rows where id = ?", [[id] for id in removed])
        self._database.execute("insert or replace into facts values (?, ?)", [f"cursor-{kind}", cursor])
        self._database.execute("commit")

    def _read_row(self, id: str) -> dict[str, object]:
        found = self._database.execute("select facts from rows where id = ?", [id]).fetchone()
        return {} if found is None else dict(json.loads(found[0]))

    def forget_rows(self) -> None:
        """For a reading from the start. What the ledger was given stays known."""
        self._database.execute("begin")
        self._database.execute("delete from rows")
        self._database.execute("delete from facts where name like 'cursor-%'")
        self._database.execute("commit")

    def list_rows(self) -> list[Row]:
        found = self._database.execute("select id, product, facts from rows")
        rows = [(id, product, json.loads(facts)) for id, product, facts in found]
        return [Row(id, product, **facts | {"keywords": tuple(facts["keywords"])}) for id, product, facts in rows]

    # The ledger's side

    def list_accounts(self) -> dict[str, str]:
        return dict(self._database.execute("select key, ledger_id from accounts").fetchall())

    def keep_account(self, key: str, ledger_id: str) -> None:
        self._database.execute("insert or replace into accounts values (?, ?)", [key, ledger_id])

    def list_written(self) -> dict[str, Written]:
        found = self._database.execute("select id, ledger_id, entry from written")
        return {id: Written(ledger_id, restore(json.loads(entry))) for id, ledger_id, entry in found}

    def keep_written(self, entries: Iterable[Entry], ledger_ids: Mapping[str, str]) -> None:
        self._database.execute("begin")
        self._database.executemany(
            "insert or replace into written values (?, ?, ?)",
            [[entry.id, ledger_ids[entry.id], json.dumps(entry.store())] for entry in entries],
        )
        self._database.execute("commit")

    def drop_written(self, ids: Iterable[str]) -> None:
        self._database.execute("begin")
        self._database.executemany("delete from written where id = ?", [[id] for id in ids])
        self._database.execute("commit")
