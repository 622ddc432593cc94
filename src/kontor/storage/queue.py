"""The job queue. A job says "look at this id"; whether there is anything to do is decided by our own rows."""

from datetime import timedelta
from uuid import UUID

from kontor.storage.database import Connection

FETCH = "fetch"
RETAG = "retag"
RETAG_PRIORITY = -10  # after everything somebody waits for


async def enqueue_fetch(connection: Connection, fetch_id: UUID, delay_seconds: float = 0) -> None:
    """In the caller's transaction: no commit, no job. An equal job that waits already is enough."""
    from pgqueuer import PsycopgDriver, Queries  # takes half a second to load; the command line can do without

    await Queries(PsycopgDriver(connection)).enqueue(
        FETCH,
        fetch_id.bytes,
        execute_after=timedelta(seconds=delay_seconds),
        dedupe_key=f"{FETCH} {fetch_id}",
        on_conflict="skip",
    )


async def enqueue_retag(connection: Connection, user_ids: list[UUID]) -> None:
    """One job per user. Users whose job waits already are left out."""
    from pgqueuer import PsycopgDriver, Queries  # takes half a second to load; the command line can do without

    await Queries(PsycopgDriver(connection)).enqueue(
        [RETAG] * len(user_ids),
        [one.bytes for one in user_ids],
        [RETAG_PRIORITY] * len(user_ids),
        dedupe_key=[f"{RETAG} {one}" for one in user_ids],
        on_conflict="skip",
    )


async def remove_fetch_jobs(connection: Connection, fetch_ids: list[UUID]) -> None:
    """Jobs of a deleted access go with it."""
    await connection.execute(
        "delete from pgqueuer where entrypoint = %s and payload = any(%s)", [FETCH, [one.bytes for one in fetch_ids]]
    )


async def requeue_fetch(connection: Connection, fetch_id: UUID) -> None:
    """A fetch whose worker died: whatever is left of its old job is replaced by a new one."""
    await remove_fetch_jobs(connection, [fetch_id])
    await enqueue_fetch(connection, fetch_id)
