"""Which workers live. Times are the database's, so that the clocks of several machines need not agree."""

from uuid import UUID

from kontor.domain.operator_views import Worker
from kontor.domain.operators import WORKER_SILENCE
from kontor.storage.database import Connection


async def record_worker(connection: Connection, worker_id: UUID, host: str, pid: int, version: str) -> None:
    await connection.execute(
        "insert into workers (id, host, pid, version) values (%s, %s, %s, %s)"
        " on conflict (id) do update set seen_at = now()",
        [worker_id, host, pid, version],
    )


async def remove_worker(connection: Connection, worker_id: UUID) -> None:
    await connection.execute("delete from workers where id = %s", [worker_id])


async def list_workers(connection: Connection, limit: int) -> list[Worker]:
    """The living first."""
    cursor = await connection.execute(
        "select id, host, pid, version, started_at, seen_at, seen_at > now() - %s from workers"
        " order by 7 desc, host, started_at, id limit %s",
        [WORKER_SILENCE, limit],
    )
    return [Worker(*row) for row in await cursor.fetchall()]


async def count_versions(connection: Connection) -> dict[str, int]:
    """Living workers by the version that they run."""
    cursor = await connection.execute(
        "select version, count(*) from workers where seen_at > now() - %s group by version order by version",
        [WORKER_SILENCE],
    )
    return {row[0]: row[1] for row in await cursor.fetchall()}


async def count_workers(connection: Connection) -> tuple[int, int]:
    """(alive, dead without a word within the last hour)"""
    cursor = await connection.execute(
        "select count(*) filter (where seen_at > now() - %(silence)s),"
        " count(*) filter (where seen_at <= now() - %(silence)s) from workers",
        {"silence": WORKER_SILENCE},
    )
    row = await cursor.fetchone()
    assert row is not None
    return row[0], row[1]


async def delete_dead_workers(connection: Connection) -> int:
    """An hour is long enough for somebody to see that a worker died."""
    cursor = await connection.execute("delete from workers where seen_at < now() - interval '1 hour'")
    return cursor.rowcount
