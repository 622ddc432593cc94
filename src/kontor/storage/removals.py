"""Transactions that are gone: readers of changes are told for 90 days (ADR 0047)."""

from collections.abc import Sequence
from uuid import UUID

from kontor.storage.data_versions import lock_data, take_version
from kontor.storage.database import Connection
from kontor.storage.user_binding import bind_transaction

KEPT_DAYS = 90
REMOVED_COLUMNS = "user_id, product_id, transaction_id, created_version, version"


async def note_removed(connection: Connection, user_id: UUID, product_id: UUID, ids: Sequence[UUID]) -> None:
    """Before these transactions are deleted."""
    version = await take_version(connection, user_id)
    await connection.execute(
        f"insert into removed_transactions ({REMOVED_COLUMNS})"
        " select user_id, product_id, id, created_version, %s from transactions"
        " where user_id = %s and product_id = %s and id = any(%s)",
        [version, user_id, product_id, list(ids)],
    )


async def note_removed_products(
    connection: Connection, user_id: UUID, access_id: str, kept: Sequence[UUID] = ()
) -> None:
    """Before the products of an access are deleted, except those that are kept."""
    version = await take_version(connection, user_id)
    await connection.execute(
        f"insert into removed_transactions ({REMOVED_COLUMNS})"
        " select t.user_id, t.product_id, t.id, t.created_version, %s from transactions t"
        " join products p on p.user_id = t.user_id and p.id = t.product_id"
        " where t.user_id = %s and p.access_id = %s and not p.id = any(%s)",
        [version, user_id, access_id, list(kept)],
    )


async def forget_old_removals(connection: Connection) -> bool:
    """Of one user; positions before what is forgotten are void from then on. False when nobody has old ones."""
    cursor = await connection.execute(
        "select user_id from all_old_removals(now() - make_interval(days => %s))", [KEPT_DAYS]
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    await bind_transaction(connection, row[0])
    await lock_data(connection, row[0])
    await connection.execute(
        "with old as (delete from removed_transactions"
        " where user_id = %(user)s and removed_at < now() - make_interval(days => %(days)s)"
        " returning user_id, product_id, transaction_id, version), gone as (delete from repeated_transactions r"
        " using old where r.user_id = %(user)s and r.product_id = old.product_id"
        " and r.transaction_id = old.transaction_id)"
        " update data_versions set first_version = greatest(first_version, (select max(version) from old))"
        " where user_id = %(user)s",
        {"user": row[0], "days": KEPT_DAYS},
    )
    return True
