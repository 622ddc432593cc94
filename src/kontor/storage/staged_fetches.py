"""What a bank told about an access that is not confirmed yet. Sealed: nobody reads it without the user's key."""

from datetime import datetime
from uuid import UUID

from kontor.storage.database import Connection


async def store_headers(connection: Connection, user_id: UUID, access_id: str, sealed: bytes) -> None:
    """The products. A result that was staged before belongs to an earlier dialogue, and goes."""
    await connection.execute(
        "insert into staged_fetches (user_id, access_id, headers) values (%s, %s, %s)"
        " on conflict (user_id, access_id) do update set headers = excluded.headers, result = null, staged_at = now()",
        [user_id, access_id, sealed],
    )


async def store_result(connection: Connection, user_id: UUID, access_id: str, sealed: bytes) -> None:
    """Transactions and positions of these products."""
    await connection.execute(
        "update staged_fetches set result = %s, staged_at = now() where user_id = %s and access_id = %s",
        [sealed, user_id, access_id],
    )


async def find_staged(
    connection: Connection, user_id: UUID, access_id: str
) -> tuple[bytes, bytes | None, datetime] | None:
    """The sealed products, the sealed rest where it is there already, and when the newer of the two was staged."""
    cursor = await connection.execute(
        "select headers, result, staged_at from staged_fetches where user_id = %s and access_id = %s",
        [user_id, access_id],
    )
    row = await cursor.fetchone()
    return None if row is None else (row[0], row[1], row[2])


async def delete_staged(connection: Connection, user_id: UUID, access_id: str) -> None:
    await connection.execute("delete from staged_fetches where user_id = %s and access_id = %s", [user_id, access_id])
