"""What an operator sees of the queue: how much of what waits, since when, and what failed and is held."""

from kontor.domain.operator_views import HeldJob, JobCount
from kontor.storage.database import Connection


async def count_jobs(connection: Connection) -> list[JobCount]:
    """The table holds what is still to be done, and what failed; what is done leaves it."""
    cursor = await connection.execute(
        "select entrypoint, status::text, count(*), min(created) from pgqueuer group by entrypoint, status"
        " order by entrypoint, status"
    )
    return [JobCount(*row) for row in await cursor.fetchall()]


async def list_held(connection: Connection, before: int, limit: int) -> list[HeldJob]:
    """Newest first."""
    cursor = await connection.execute(
        """
        select q.id, q.entrypoint, q.payload, q.attempts, q.created, q.updated, l.traceback ->> 'exception_type'
        from pgqueuer q
        left join lateral (
            select traceback from pgqueuer_log where job_id = q.id and traceback is not null
            order by created desc limit 1
        ) l on true
        where q.status = 'failed' and q.id < %s order by q.id desc limit %s
        """,
        [before, limit],
    )
    return [HeldJob(*row) for row in await cursor.fetchall()]
