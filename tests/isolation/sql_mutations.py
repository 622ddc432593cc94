"""Every SQL statement of `storage` with a condition on `user_id`, and what it becomes without that condition.

Texts are taken from the syntax trees of the modules. Only constants of the module are put into SQL, which
tests/test_rules.py checks, so that each text can be evaluated. Parameters get values of a user's own rows, found by the
column that they are compared with.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from kontor.storage.row_policies import PROTECTED

STORAGE = Path(__file__).parents[2] / "src" / "kontor" / "storage"
STATEMENT = re.compile(r"\s*(select|insert|update|delete|with)\b", re.IGNORECASE)
TOUCHES = re.compile(rf"\b(?:from|into|update|join|using)\s+({'|'.join(PROTECTED)})\b", re.IGNORECASE)
CONDITION = re.compile(r"(?:\b\w+\.)?\buser_id\s*=\s*(\$\d+|\w+\.user_id)\b(?!::)", re.IGNORECASE)

DEFAULTS = {
    "uuid": "00000000-0000-4000-8000-000000000000",
    "boolean": "true",
    "timestamp with time zone": "2026-11-01T12:00:00Z",
    "date": "2026-11-01",
    "interval": "1 day",
    "bytea": "\\x01",
    "jsonb": "{}",
    "json": "{}",
    "text": "x",
}
FAR = {"timestamp with time zone": "2999-01-01T00:00:00Z", "date": "2999-01-01", "interval": "9999 days"}
LONG_AGO = {"timestamp with time zone": "1970-01-01T00:00:00Z", "date": "1970-01-01", "interval": "0 days"}


@dataclass(frozen=True)
class Statement:
    where: str
    text: str  # with placeholders $1, $2 …

    @property
    def tables(self) -> list[str]:
        return TOUCHES.findall(self.text)

    def mutate(self) -> list[str]:
        """The same without one of its conditions on the user, and without all of them; a parameter keeps its place."""
        conditions = list(CONDITION.finditer(self.text))
        mutants = [self._remove([found]) for found in conditions]
        return [*mutants, self._remove(conditions)] if len(mutants) > 1 else mutants

    def remove_all(self) -> str:
        return self._remove(list(CONDITION.finditer(self.text)))

    def _remove(self, conditions: list[re.Match[str]]) -> str:
        text = self.text
        for found in reversed(conditions):
            kept = f"({found[1]}::uuid is not null)" if found[1].startswith("$") else "true"
            text = text[: found.start()] + kept + text[found.end() :]
        return text


def find_statements() -> list[Statement]:
    """All of them that name the user in a condition."""
    found = [
        Statement(where, text)
        for file in sorted(STORAGE.glob("*.py"))
        for where, text in read_texts(file)
        if STATEMENT.match(text) and TOUCHES.search(text)
    ]
    return [statement for statement in dict.fromkeys(found) if statement.mutate()]


def read_texts(file: Path) -> Iterator[tuple[str, str]]:
    module = importlib.import_module(f"kontor.storage.{file.stem}")
    tree = ast.parse(file.read_text())
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for top in tree.body:
        name = getattr(top, "name", None) or next(
            (target.id for target in getattr(top, "targets", ()) if isinstance(target, ast.Name)), "module"
        )
        for node in ast.walk(top):
            if id(node) in inside or not isinstance(node, ast.JoinedStr | ast.Constant):
                continue
            try:
                text = eval(compile(ast.Expression(node), file.name, "eval"), vars(module))
            except NameError:  # part of what a function puts together
                continue
            if isinstance(text, str):
                yield f"{file.stem}.{name}", number_placeholders(text)


def number_placeholders(text: str) -> str:
    """psycopg's `%s` and `%(name)s` as `$1`, `$2` …"""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        name = found[1] or f" {len(names)}"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return re.sub(r"%%|%s|%\((\w+)\)s", number, text) if re.search(r"%s|%\(", text) else text


class Values:
    """What the placeholders of a statement get: columns of the user's own rows."""

    def __init__(self, connection: psycopg.Connection[Any], user_id: Any) -> None:
        self._connection = connection
        self._rows: dict[str, dict[str, str | None]] = {}
        for table in PROTECTED:
            query = sql.SQL("select to_jsonb(t) from {} t where user_id = %s").format(sql.Identifier(table))
            cursor = connection.execute(query, [user_id])
            (row,) = cursor.fetchone() or ({},)
            names = [name for name, value in row.items() if value is not None]
            columns = sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(name)) for name in names)
            texts = connection.execute(
                sql.SQL("select {} from {} where user_id = %s").format(columns, sql.Identifier(table)), [user_id]
            ).fetchone()
            self._rows[table] = dict(zip(names, texts or (), strict=False))

    def choose(self, statement: Statement, types: list[str]) -> list[str]:
        return [self._choose(statement, number, type_name) for number, type_name in enumerate(types, 1)]

    def _choose(self, statement: Statement, number: int, type_name: str) -> str:
        text, place = statement.text, rf"\${number}\b"
        if re.search(rf"\blimit\s+{place}", text):
            return "1000"
        if re.search(rf"\boffset\s+{place}", text):
            return "0"
        compared = re.search(rf"(?:\w+\.)?\b(\w+)\s*(=|<>|<=|>=|<|>)\s*(?:any\s*\(\s*)?{place}", text)
        inserted = re.search(r"insert into (\w+)(?: as \w+)? \(([^)]*)\)\s+values \(([^)]*)\)", text)
        column, sign = (compared[1], compared[2]) if compared else (None, "=")
        if column is None and inserted is not None:
            names, places = inserted[2].split(","), [part.strip().partition(":")[0] for part in inserted[3].split(",")]
            column = next((n.strip() for n, p in zip(names, places, strict=False) if p == f"${number}"), None)
        plain = type_name.removesuffix("[]")
        if sign in ("<", "<="):
            value = FAR.get(plain, "1000000")
        elif sign in (">", ">="):
            value = LONG_AGO.get(plain, "0")
        else:
            value = self._find(statement, column) or DEFAULTS.get(plain, "1")
        return "{" + f'"{value}"' + "}" if type_name.endswith("[]") and not value.startswith("{") else value

    def _find(self, statement: Statement, column: str | None) -> str | None:
        if column is None:
            return None
        return next((self._rows[table][column] for table in statement.tables if column in self._rows[table]), None)


def read_types(connection: psycopg.Connection[Any], text: str) -> list[str]:
    """Of the placeholders, as the server infers them."""
    with connection.transaction(force_rollback=True):
        connection.execute(sql.SQL("prepare mutated as {}").format(sql.SQL(text)))
        row = connection.execute(
            "select parameter_types::text[] from pg_prepared_statements where name = 'mutated'"
        ).fetchone()
        connection.execute("deallocate mutated")
    assert row is not None
    return list(row[0])
