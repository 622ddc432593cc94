"""DPoP proofs that were used, across all processes."""

from kontor.storage.database import Connection

# How far a proof's time may be from the database's clock, either way.
WINDOW_SECONDS = 60


async def use_proof(connection: Connection, digest: bytes, issued_at: int) -> bool | None:
    """True when it is used for the first time; None when it is too old, or from the future."""
    cursor = await connection.execute(
        """
        with proof as (select to_timestamp(%(issued_at)s) as issued_at, make_interval(secs => %(window)s) as reach),
        fresh as (select * from proof where abs(extract(epoch from issued_at - now())) <= %(window)s),
        used as (
            insert into dpop_proofs (digest, expires_at) select %(digest)s, issued_at + 2 * reach from fresh
            on conflict do nothing returning 1)
        select exists (select from fresh), exists (select from used)
        """,
        {"digest": digest, "issued_at": issued_at, "window": WINDOW_SECONDS},
    )
    row = await cursor.fetchone()
    assert row is not None
    is_fresh, is_first = row
    return bool(is_first) if is_fresh else None


async def find_period(connection: Connection, seconds: int) -> int:
    """Number of the period of so many seconds that it is now, for all processes alike."""
    cursor = await connection.execute("select floor(extract(epoch from now()) / %s)::bigint", [seconds])
    row = await cursor.fetchone()
    assert row is not None
    period: int = row[0]
    return period


async def delete_old_proofs(connection: Connection, batch: int) -> int:
    cursor = await connection.execute(
        "delete from dpop_proofs where digest in (select digest from dpop_proofs where expires_at < now() limit %s)",
        [batch],
    )
    return cursor.rowcount
