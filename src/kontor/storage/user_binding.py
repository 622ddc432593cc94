"""Which user's rows a connection sees: row-level security compares `user_id` with a setting of the session (ADR 0055).

A connection without a user is unbound, and sees no row of a customer. Background work finds out whose turn it is
through the views `all_…`, which show ids, states and times of everybody, and then binds itself to that user.
"""

from typing import TypeAlias
from uuid import UUID

from psycopg import AsyncConnection, AsyncRawCursor, sql
from psycopg.rows import TupleRow

Connection: TypeAlias = AsyncConnection[TupleRow]

BIND_SESSION = "select set_config('kontor.user_id', $1, false)"
# `set local`, since a cluster forwards it to its workers, which it does not do with `set_config`.
BIND_TRANSACTION = sql.SQL("set local kontor.user_id = {}")
UNBOUND = ""


async def bind_session(connection: Connection, user_id: UUID | None) -> None:
    """Until the connection is bound to somebody else. Not in a transaction, which might be rolled back."""
    await AsyncRawCursor(connection).execute(BIND_SESSION, [_name(user_id)], prepare=True)


async def bind_transaction(connection: Connection, user_id: UUID) -> None:
    """Until the end of the transaction: for background work that has found whose row is to be dealt with."""
    await connection.execute(BIND_TRANSACTION.format(sql.Literal(str(user_id))))


def _name(user_id: UUID | None) -> str:
    return UNBOUND if user_id is None else str(user_id)
