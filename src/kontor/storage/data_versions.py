"""The number that grows with every change of a user's data that analyses or merges read (ADR 0038).

Whatever writes `products`, `transactions` or `transaction_tags` calls `raise_version` in the same transaction.
"""

from uuid import UUID

from psycopg.pq import TransactionStatus

from kontor.storage.database import Connection, fetch_row, list_raised
from kontor.storage.lock_order import Lock, note_lock

LOCK = "select 1 from data_versions where user_id = $1 for update"
RAISE = """
    insert into data_versions as kept (user_id) values ($1)
    on conflict (user_id) do update set version = kept.version + 1 returning version
"""


async def lock_data(connection: Connection, user_id: UUID) -> None:
    """Before several tables of a user are written: all writers take this row first, so that they wait in line."""
    note_lock(Lock.DATA_VERSION, user_id)
    if await fetch_row(connection, LOCK, [user_id]) is None:
        # With nothing stored, as `read_version` says where there is no row.
        insert = "insert into data_versions (user_id, version) values (%s, 0) on conflict do nothing"
        await connection.execute(insert, [user_id])
        await fetch_row(connection, LOCK, [user_id])


async def raise_version(connection: Connection, user_id: UUID) -> None:
    """After rows were written, in their transaction.

    Once per transaction is enough: others see its rows and the version at the same moment, when it commits.
    """
    assert connection.pgconn.transaction_status != TransactionStatus.IDLE, "rows and version are one transaction"
    raised = list_raised(connection)
    if user_id not in raised:
        note_lock(Lock.DATA_VERSION, user_id)
        await fetch_row(connection, RAISE, [user_id])
        raised.add(user_id)


async def read_version(connection: Connection, user_id: UUID) -> int:
    """Zero for a user who has no data yet."""
    cursor = await connection.execute("select version from data_versions where user_id = %s", [user_id])
    row = await cursor.fetchone()
    return 0 if row is None else int(row[0])
