"""Credit files of customers: inserted once, never changed."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from kontor.domain.credit_files import CreditFile, CreditPurpose
from kontor.storage.database import Connection

COLUMNS = "id, version, predecessor_id, purpose, disclosure_id, consent, created_at, document, signature"
LIST_OWN = f"select {COLUMNS} from credit_files where user_id = %s order by created_at desc, id"
FIND_OWN = f"select {COLUMNS} from credit_files where user_id = %s and id = %s"
INSERT = f"""
    insert into credit_files (user_id, tenant_id, {COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


def _credit_file(row: Sequence[Any]) -> CreditFile:
    return CreditFile(
        id=row[0],
        version=row[1],
        predecessor_id=row[2],
        purpose=CreditPurpose(row[3], row[4], row[5]),
        created_at=row[6],
        document=row[7],
        signature=row[8],
    )


async def list_files(connection: Connection, user_id: UUID) -> list[CreditFile]:
    """The newest first."""
    cursor = await connection.execute(LIST_OWN, [user_id])
    return [_credit_file(row) for row in await cursor.fetchall()]


async def find_file(connection: Connection, user_id: UUID, file_id: UUID) -> CreditFile | None:
    row = await (await connection.execute(FIND_OWN, [user_id, file_id])).fetchone()
    return None if row is None else _credit_file(row)


async def insert_file(connection: Connection, user_id: UUID, tenant_id: UUID, file: CreditFile) -> None:
    purpose = file.purpose
    values = [file.id, file.version, file.predecessor_id, purpose.text, purpose.disclosure_id, purpose.consent]
    await connection.execute(INSERT, [user_id, tenant_id, *values, file.created_at, file.document, file.signature])


async def count_files(connection: Connection, user_id: UUID) -> int:
    cursor = await connection.execute("select count(*) from credit_files where user_id = %s", [user_id])
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])
