"""The job queue. A job says "look at this id"; whether there is anything to do is decided by our own rows."""

from datetime import timedelta
from uuid import UUID

from kontor.storage.database import Connection

FETCH = "fetch"
REFRESH = "refresh"  # a fetch that nobody waits for
RETAG = "retag"
RETAG_TENANT = "retag-tenant"  # finds the users to retag
DELIVER = "deliver"
REFRESH_PRIORITY = -5  # after what somebody waits for
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


async def enqueue_refreshes(connection: Connection, fetch_ids: list[UUID]) -> None:
    """As `enqueue_fetch`, for fetches of background refresh."""
    from pgqueuer import PsycopgDriver, Queries  # takes half a second to load; the command line can do without

    await Queries(PsycopgDriver(connection)).enqueue(
        [REFRESH] * len(fetch_ids),
        [fetch_id.bytes for fetch_id in fetch_ids],
        [REFRESH_PRIORITY] * len(fetch_ids),
        dedupe_key=[f"{FETCH} {fetch_id}" for fetch_id in fetch_ids],
        on_conflict="skip",
    )


async def requeue_fetch_as_requested(connection: Connection, fetch_id: UUID) -> None:
    """Somebody waits now for a fetch of background refresh. A worker that looks at it already need not be told."""
    await connection.execute(
        "delete from pgqueuer where dedupe_key = %s and status = 'queued'", [f"{FETCH} {fetch_id}"]
    )
    await enqueue_fetch(connection, fetch_id)


async def enqueue_retag(connection: Connection, user_ids: list[UUID]) -> None:
    """One job per user. Users whose job waits already are left out.

    A job that is being run may have looked already: it loses its name, which would keep the new one out.
    """
    from pgqueuer import PsycopgDriver, Queries  # takes half a second to load; the command line can do without

    await _release_names(connection, [f"{RETAG} {user_id}" for user_id in user_ids])
    await Queries(PsycopgDriver(connection)).enqueue(
        [RETAG] * len(user_ids),
        [user_id.bytes for user_id in user_ids],
        [RETAG_PRIORITY] * len(user_ids),
        dedupe_key=[f"{RETAG} {user_id}" for user_id in user_ids],
        on_conflict="skip",
    )


async def enqueue_retag_tenant(connection: Connection, tenant_id: UUID) -> None:
    """In the transaction of the change. A job that waits already is enough."""
    from pgqueuer import PsycopgDriver, Queries  # takes half a second to load; the command line can do without

    name = f"{RETAG_TENANT} {tenant_id}"
    await _release_names(connection, [name])
    await Queries(PsycopgDriver(connection)).enqueue(
        RETAG_TENANT, tenant_id.bytes, RETAG_PRIORITY, dedupe_key=name, on_conflict="skip"
    )


async def _release_names(connection: Connection, names: list[str]) -> None:
    await connection.execute(
        "update pgqueuer set dedupe_key = null where id in"
        " (select id from pgqueuer where dedupe_key = any(%s) and status = 'picked' order by id for update)",
        [names],
    )


async def remove_fetch_jobs(connection: Connection, fetch_ids: list[UUID]) -> None:
    """Jobs of a deleted access go with it."""
    await connection.execute(
        "delete from pgqueuer where entrypoint = any(%s) and payload = any(%s)",
        [[FETCH, REFRESH], [fetch_id.bytes for fetch_id in fetch_ids]],
    )


async def requeue_fetches(connection: Connection, fetch_ids: list[UUID], refresh_ids: list[UUID]) -> None:
    """Fetches whose worker died: whatever is left of their old jobs is replaced by new ones."""
    await remove_fetch_jobs(connection, fetch_ids + refresh_ids)
    for fetch_id in fetch_ids:
        await enqueue_fetch(connection, fetch_id)
    if refresh_ids:
        await enqueue_refreshes(connection, refresh_ids)


async def enqueue_deliveries(connection: Connection, delivery_ids: list[UUID]) -> None:
    """In the transaction of the event: no commit, no call."""
    from pgqueuer import PsycopgDriver, Queries  # takes half a second to load; the command line can do without

    await Queries(PsycopgDriver(connection)).enqueue(
        [DELIVER] * len(delivery_ids),
        [delivery_id.bytes for delivery_id in delivery_ids],
        [0] * len(delivery_ids),
        dedupe_key=[f"{DELIVER} {delivery_id}" for delivery_id in delivery_ids],
        on_conflict="skip",
    )


async def remove_delivery_jobs(connection: Connection, delivery_ids: list[UUID]) -> None:
    """Those that wait. One that is being run finds its own row changed."""
    await connection.execute(
        "delete from pgqueuer where dedupe_key = any(%s) and status in ('queued', 'failed')",
        [[f"{DELIVER} {delivery_id}" for delivery_id in delivery_ids]],
    )


async def renew_delivery_job(connection: Connection, delivery_id: UUID) -> None:
    """A job that looks at once, whatever others there are.

    One that is being run may have stored its result already and be about to end: it loses its name, which would keep
    the new one out.
    """
    await remove_delivery_jobs(connection, [delivery_id])
    await connection.execute(
        "update pgqueuer set dedupe_key = null where dedupe_key = %s and status = 'picked'",
        [f"{DELIVER} {delivery_id}"],
    )
    await enqueue_deliveries(connection, [delivery_id])


# Housekeeping


async def release_stalled_jobs(connection: Connection, batch: int) -> int:
    """Jobs of dead workers that no living one took over: queued again, for whoever knows their kind.

    The queue itself hands the jobs of a silent worker to another after 20 seconds, but only of the kinds it knows.
    """
    cursor = await connection.execute(
        "update pgqueuer set status = 'queued', queue_manager_id = null, slot = null, updated = now() where id in"
        " (select id from pgqueuer where status = 'picked' and heartbeat < now() - interval '5 minutes'"
        " order by heartbeat limit %s for update skip locked)",
        [batch],
    )
    return cursor.rowcount


async def delete_old_failures(connection: Connection, batch: int) -> int:
    """Failed jobs that were held for 30 days, so that somebody could look at them."""
    cursor = await connection.execute(
        "delete from pgqueuer where id in (select id from pgqueuer"
        " where status = 'failed' and updated < now() - interval '30 days' limit %s for update skip locked)",
        [batch],
    )
    return cursor.rowcount


async def delete_old_log(connection: Connection, batch: int) -> int:
    """What the queue wrote down about its jobs: a day of everything, 30 days of what failed."""
    cursor = await connection.execute(
        "delete from pgqueuer_log where id in (select id from pgqueuer_log where created < now() - interval '1 day'"
        " and (status not in ('exception', 'failed') or created < now() - interval '30 days')"
        " order by created limit %s for update skip locked)",
        [batch],
    )
    return cursor.rowcount
