"""What an operator sees of one access and of one job, and how a held job is queued again."""

from uuid import UUID

from psycopg import errors

from kontor.domain.operator_details import AccessOwner, FetchAttempt, JobDetail, JobEvent
from kontor.storage.database import Connection

MAX_ATTEMPTS = 20

FIND_OWNER = """
    select u.tenant_id, u.pseudonym, u.is_active, a.has_credentials, a.lease_key, o.down_since
    from all_accesses a join users u on u.id = a.user_id left join provider_outages o on o.provider_id = a.provider_id
    where a.user_id = %s and a.id = %s and a.form_session_id is null
"""
LIST_ATTEMPTS = """
    select state, requested_at, slot_at, started_at, finished_at, failure, attempts, is_attended from all_fetches
    where user_id = %s and access_id = %s order by requested_at desc, id limit %s
"""
FIND_JOB = """
    select id, entrypoint, status::text, payload, attempts, created, updated, execute_after from pgqueuer where id = %s
"""
LIST_EVENTS = """
    select created, status::text, traceback ->> 'exception_type' from pgqueuer_log
    where job_id = %s order by created desc, id desc limit %s
"""
RETRY_JOB = """
    with retried as (
        update pgqueuer set status = 'queued', execute_after = now(), updated = now(), attempts = 0,
            queue_manager_id = null, slot = null
        where id = %s and status = 'failed' returning id, entrypoint, priority)
    insert into pgqueuer_log (job_id, status, entrypoint, priority)
    select id, 'queued', entrypoint, priority from retried
"""


class DuplicateJobError(Exception):
    """A job with the same name waits or is being run."""


async def find_owner(connection: Connection, user_id: UUID, access_id: str) -> AccessOwner | None:
    row = await (await connection.execute(FIND_OWNER, [user_id, access_id])).fetchone()
    return None if row is None else AccessOwner(*row)


async def list_attempts(connection: Connection, user_id: UUID, access_id: str) -> list[FetchAttempt]:
    """Newest first."""
    cursor = await connection.execute(LIST_ATTEMPTS, [user_id, access_id, MAX_ATTEMPTS])
    return [FetchAttempt(*row) for row in await cursor.fetchall()]


async def find_job(connection: Connection, job_id: int) -> JobDetail | None:
    row = await (await connection.execute(FIND_JOB, [job_id])).fetchone()
    if row is None:
        return None
    cursor = await connection.execute(LIST_EVENTS, [job_id, MAX_ATTEMPTS])
    events = [JobEvent(*event) for event in await cursor.fetchall()]
    return JobDetail(*[*row, events])


async def retry_job(connection: Connection, job_id: int) -> bool:
    """Queue a job that is held. False when it is not held; raises DuplicateJobError, which ends the transaction."""
    try:
        return (await connection.execute(RETRY_JOB, [job_id])).rowcount == 1
    except errors.UniqueViolation:
        raise DuplicateJobError from None
