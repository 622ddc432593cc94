"""The number that grows with every change of a user's data; triggers raise it (migration 0008)."""

from uuid import UUID

from kontor.storage.database import Connection, fetch_row

LOCK = "select 1 from data_versions where user_id = $1 for update"


async def lock_data(connection: Connection, user_id: UUID) -> None:
    """Before several tables of a user are written: all writers take this row first, so that they wait in line."""
    if await fetch_row(connection, LOCK, [user_id]) is None:
        await connection.execute("insert into data_versions (user_id) values (%s) on conflict do nothing", [user_id])
        await fetch_row(connection, LOCK, [user_id])


async def read_version(connection: Connection, user_id: UUID) -> int:
    """Zero for a user who has no data yet."""
    cursor = await connection.execute("select version from data_versions where user_id = %s", [user_id])
    row = await cursor.fetchone()
    return 0 if row is None else int(row[0])
