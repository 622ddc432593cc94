"""Operators: the hash of each one's token, and until when it holds."""

from uuid import UUID

from psycopg import errors

from kontor.domain.errors import ConflictError
from kontor.domain.operators import Operator
from kontor.storage.database import Connection

COLUMNS = "id, name, created_at, expires_at"


async def insert_operator(connection: Connection, operator: Operator, token_hash: bytes) -> None:
    try:
        await connection.execute(
            f"insert into operators ({COLUMNS}, token_hash) values (%s, %s, %s, %s, %s)",
            [operator.id, operator.name, operator.created_at, operator.expires_at, token_hash],
        )
    except errors.UniqueViolation:
        raise ConflictError(f"There is an operator named {operator.name} already.") from None


async def find_operator(connection: Connection, token_hash: bytes) -> Operator | None:
    """The bearer of a token that still holds."""
    cursor = await connection.execute(
        f"select {COLUMNS} from operators where token_hash = %s and expires_at > now()", [token_hash]
    )
    row = await cursor.fetchone()
    return None if row is None else Operator(*row)


async def list_operators(connection: Connection) -> list[Operator]:
    cursor = await connection.execute(f"select {COLUMNS} from operators order by name")
    return [Operator(*row) for row in await cursor.fetchall()]


async def delete_operator(connection: Connection, name: str) -> UUID | None:
    cursor = await connection.execute("delete from operators where name = %s returning id", [name])
    row = await cursor.fetchone()
    return None if row is None else row[0]
