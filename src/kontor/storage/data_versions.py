"""The number that grows with every change of a user's data that analyses or merges read (ADR 0038).

Whatever writes `products`, `transactions` or `transaction_tags` calls `increment_version` in the same transaction. Who
stores the version with its rows calls `take_version` before they are written (ADR 0047).
"""

from uuid import UUID

from psycopg.errors import ForeignKeyViolation
from psycopg.pq import TransactionStatus

from kontor.domain.errors import NotFoundError
from kontor.storage.clusters import require_user
from kontor.storage.database import Connection, fetch_row, find_versions
from kontor.storage.lock_order import Lock, note_lock

LOCK = "select version from data_versions where user_id = $1 for update"
# Where `followed_version` is not the version, an earlier program has changed something: positions before it are void.
RAISE = """
    insert into data_versions as kept (user_id, followed_version) values ($1, 1)
    on conflict (user_id) do update set version = kept.version + 1, followed_version = kept.version + 1,
        first_version = case when kept.followed_version = kept.version then kept.first_version else kept.version end
    returning version
"""


async def lock_data(connection: Connection, user_id: UUID) -> int:
    """Before several tables of a user are written: all writers take this row first, so that they wait in line.

    Returns the version. Raises NotFoundError for a user who was erased meanwhile.
    """
    note_lock(Lock.DATA_VERSION, user_id)
    try:
        return await _lock(connection, user_id)
    except ForeignKeyViolation:
        raise NotFoundError("The user was erased meanwhile.") from None


async def _lock(connection: Connection, user_id: UUID) -> int:
    row = await fetch_row(connection, LOCK, [user_id])
    if row is None:
        # With nothing stored, as `read_version` says where there is no row.
        insert = "insert into data_versions (user_id, version) values (%s, 0) on conflict do nothing"
        await connection.execute(insert, [user_id])
        row = await fetch_row(connection, LOCK, [user_id])
    assert row is not None
    await require_user(connection, user_id)
    return int(row[0])


async def take_version(connection: Connection, user_id: UUID) -> int:
    """The version that the changes of this transaction get, before the first row is written.

    The row stays locked until the end of the transaction: whoever sees a version sees all changes up to it.
    """
    versions = find_versions(connection)
    if user_id not in versions.taken:
        versions.taken[user_id] = await lock_data(connection, user_id) + 1
    return versions.taken[user_id]


async def increment_version(connection: Connection, user_id: UUID) -> None:
    """After rows were written, in their transaction.

    Once per transaction is enough: others see its rows and the version at the same moment, when it commits.
    """
    assert connection.pgconn.transaction_status != TransactionStatus.IDLE, "rows and version are one transaction"
    versions = find_versions(connection)
    if user_id not in versions.raised:
        note_lock(Lock.DATA_VERSION, user_id)
        row = await fetch_row(connection, RAISE, [user_id])
        assert row is not None
        await require_user(connection, user_id)
        versions.taken[user_id] = row[0]
        versions.raised.add(user_id)


async def read_version(connection: Connection, user_id: UUID) -> int:
    """Zero for a user who has no data yet."""
    cursor = await connection.execute("select version from data_versions where user_id = %s", [user_id])
    row = await cursor.fetchone()
    return 0 if row is None else int(row[0])
