"""CSV forms of users, and results of imported files."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from kontor.domain.import_forms import FormColumn, ImportForm
from kontor.domain.import_results import RESULT_LIFETIME, AccountResult, ImportRecord
from kontor.storage.database import Connection

FORM_COLUMNS = "name, marks, columns, fields, day_format, decimal_sign, created_at"


def _form(row: Sequence[Any]) -> ImportForm:
    columns = tuple(FormColumn(name, field) for name, field in zip(row[2], row[3], strict=True))
    return ImportForm(row[0], tuple(row[1]), columns, *row[4:])


async def list_forms(connection: Connection, user_id: UUID) -> list[ImportForm]:
    cursor = await connection.execute(
        f"select {FORM_COLUMNS} from import_forms where user_id = %s order by name", [user_id]
    )
    return [_form(row) for row in await cursor.fetchall()]


async def upsert_form(connection: Connection, user_id: UUID, form: ImportForm) -> None:
    """A form of the same name is replaced."""
    names, fields = [column.name for column in form.columns], [column.field for column in form.columns]
    await connection.execute(
        "insert into import_forms (user_id, name, marks, columns, fields, day_format, decimal_sign)"
        " values (%s, %s, %s, %s, %s, %s, %s) on conflict (user_id, name) do update set marks = excluded.marks,"
        " columns = excluded.columns, fields = excluded.fields, day_format = excluded.day_format,"
        " decimal_sign = excluded.decimal_sign",
        [user_id, form.name, list(form.marks), names, fields, form.day_format, form.decimal_sign],
    )


async def delete_form(connection: Connection, user_id: UUID, name: str) -> bool:
    cursor = await connection.execute("delete from import_forms where user_id = %s and name = %s", [user_id, name])
    return cursor.rowcount > 0


async def insert_result(
    connection: Connection, user_id: UUID, result_id: UUID, access_id: str, accounts: Sequence[AccountResult]
) -> None:
    await connection.execute(
        "insert into file_imports (user_id, id, access_id, accounts) values (%s, %s, %s, %s)",
        [user_id, result_id, access_id, Jsonb(msgspec.to_builtins(accounts))],
    )


async def find_result(connection: Connection, user_id: UUID, result_id: UUID) -> ImportRecord | None:
    cursor = await connection.execute(
        "select id, accounts, imported_at from file_imports"
        " where user_id = %s and id = %s and imported_at > now() - %s::interval",
        [user_id, result_id, RESULT_LIFETIME],
    )
    row = await cursor.fetchone()
    return None if row is None else ImportRecord(row[0], msgspec.convert(row[1], tuple[AccountResult, ...]), row[2])


async def delete_old_results(connection: Connection, limit: int) -> int:
    cursor = await connection.execute(
        "delete from all_file_imports where (user_id, id) in (select user_id, id from all_file_imports"
        " where imported_at <= now() - %s::interval order by imported_at limit %s for update skip locked)",
        [RESULT_LIFETIME, limit],
    )
    return cursor.rowcount
