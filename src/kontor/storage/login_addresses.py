"""Addresses from which users have logged in, as keyed hashes."""

from uuid import UUID

from kontor.storage.database import Connection

KEPT_DAYS = 30


async def is_known(connection: Connection, user_id: UUID, address: bytes) -> bool:
    cursor = await connection.execute(
        "select 1 from login_addresses where user_id = %s and address = %s"
        " and last_at > now() - make_interval(days => %s)",
        [user_id, address, KEPT_DAYS],
    )
    return await cursor.fetchone() is not None


async def remember(connection: Connection, user_id: UUID, address: bytes) -> None:
    """Written at most once an hour: most logins change nothing. Nothing is written for a user who is gone."""
    await connection.execute(
        "insert into login_addresses as a (user_id, address, last_at)"
        " select id, %s, now() from users where id = %s for key share"
        " on conflict (user_id, address) do update set last_at = excluded.last_at"
        " where a.last_at < excluded.last_at - interval '1 hour'",
        [address, user_id],
    )


async def delete_old_addresses(connection: Connection, batch: int) -> int:
    cursor = await connection.execute(
        "delete from login_addresses where (user_id, address) in (select user_id, address from login_addresses"
        " where last_at < now() - make_interval(days => %s) limit %s)",
        [KEPT_DAYS, batch],
    )
    return cursor.rowcount
