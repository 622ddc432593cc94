"""Failed logins, counted across all processes."""

from kontor.storage.database import Connection

FREE_FAILURES = 5
MAX_BLOCK_SECONDS = 60
FORGET_AFTER_MINUTES = 15
# Of one name, from all addresses together.
NAME_FREE_FAILURES = 100
# A known address may try so often before its right password has to wait too.
KNOWN_FREE_FAILURES = 100


async def find_block(connection: Connection, key: bytes) -> tuple[float, int]:
    """How long it still has to wait, and how often it has failed lately."""
    cursor = await connection.execute(
        "select extract(epoch from blocked_until - now())::float, failures from login_failures where key = %s", [key]
    )
    row = await cursor.fetchone()
    return (0.0, 0) if row is None else (max(0.0, row[0]), row[1])


async def count_failure(connection: Connection, key: bytes, free: int = FREE_FAILURES) -> None:
    """The first failures are free, then each doubles the wait, up to a minute: slowed down, never locked for good."""
    await connection.execute(
        """
        insert into login_failures as f (key, failures, blocked_until, last_at) values (%(key)s, 1, now(), now())
        on conflict (key) do update set
            failures = case when f.last_at < now() - make_interval(mins => %(forget)s) then 1 else f.failures + 1 end,
            last_at = now(),
            blocked_until = now() + make_interval(secs => case
                when f.last_at < now() - make_interval(mins => %(forget)s) or f.failures + 1 < %(free)s then 0
                else least(%(max)s, power(2, least(f.failures + 1 - %(free)s, 10))) end)
        """,
        {"key": key, "free": free, "max": MAX_BLOCK_SECONDS, "forget": FORGET_AFTER_MINUTES},
    )


async def forget_failures(connection: Connection, keys: list[bytes]) -> None:
    await connection.execute("delete from login_failures where key = any(%s)", [keys])


async def delete_old_failures(connection: Connection) -> int:
    cursor = await connection.execute(
        "delete from login_failures where last_at < now() - make_interval(mins => %s)", [FORGET_AFTER_MINUTES]
    )
    return cursor.rowcount
