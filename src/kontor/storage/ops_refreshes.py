"""What an operator sees of background refresh: counts by state, and the rows behind each count.

Every statement starts from an index that holds little more than what it looks for, however many accesses there are:
what is due or late from the schedule, what waits or runs from the open fetches, what fails from the failed ones.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from kontor.domain.operator_views import NIL, Place, RefreshRow, Source
from kontor.domain.operators import LATE, RECENT, RefreshState
from kontor.storage.database import Connection

# Beyond this, how many accesses are failing tells an operator nothing more.
MAX_FAILING = 10_000
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
END = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RefreshCounts:
    """What waits in the queue is due as well, and what is late too.

    `troubled`: accesses that are failing, or whose login the bank has refused, however long ago.
    """

    due: int
    late: int
    running: int
    failing: int
    paused: dict[str, int]
    oldest_due_at: datetime | None
    troubled: int


SOURCES = {
    RefreshState.DUE: (Source.SCHEDULE, Source.QUEUED),
    RefreshState.LATE: (Source.SCHEDULE, Source.QUEUED),
    RefreshState.RUNNING: (Source.RUNNING,),
    RefreshState.FAILING: (Source.FAILED,),
    RefreshState.PAUSED: (Source.PAUSED_SCA, Source.PAUSED_CREDENTIALS),
}


OF_TENANT = """
    (%(tenant)s::uuid is null
     or exists (select 1 from users u where u.id = one.user_id and u.tenant_id = %(tenant)s))
"""
# The newest of an access that has ended; what was skipped was no attempt.
IS_NEWEST = """
    not exists (select 1 from all_fetches later where later.user_id = one.user_id and later.access_id = one.access_id
                and later.finished_at > one.finished_at and later.state <> 'SKIPPED')
"""
COUNT_SCHEDULE = f"""
    select count(*), count(*) filter (where one.next_refresh_at < %(late)s), min(one.next_refresh_at)
    from all_accesses one where one.next_refresh_at <= %(now)s and {OF_TENANT}
"""
COUNT_OPEN = f"""
    select count(*) filter (where one.state = 'QUEUED'),
        count(*) filter (where one.state = 'QUEUED' and one.requested_at < now() - %(lateness)s),
        count(*) filter (where one.state = 'RUNNING')
    from all_fetches one where one.state in ('QUEUED', 'RUNNING') and {OF_TENANT}
"""
COUNT_FAILING = f"""
    select count(*), count(*) filter (where not failing.is_refused) from (
        select exists (select 1 from all_accesses a where a.user_id = one.user_id and a.id = one.access_id
                and a.refresh_pause = 'CREDENTIALS') as is_refused
        from all_fetches one
        where one.state in ('FAILED', 'INTERRUPTED') and one.finished_at > now() - %(recent)s
            and {IS_NEWEST} and {OF_TENANT}
        order by one.finished_at desc limit %(most)s
    ) failing
"""
COUNT_PAUSED = f"""
    select one.refresh_pause, count(*) from all_accesses one
    where one.refresh_pause is not null and {OF_TENANT} group by one.refresh_pause
"""
COUNT_OUTCOMES = """
    select date_bin(%(span)s, one.finished_at, %(beginning)s), one.state, count(*)
    from all_fetches one where one.finished_at >= %(since)s group by 1, 2
"""
COUNT_TENANTS_OUTCOMES = """
    select date_bin(%(span)s, one.finished_at, %(beginning)s), one.state, count(*)
    from users u join all_fetches one on one.user_id = u.id
    where u.tenant_id = %(tenant)s and one.finished_at >= %(since)s group by 1, 2
"""


async def count_refreshes(connection: Connection, tenant_id: UUID | None, now: datetime) -> RefreshCounts:
    values = {
        "tenant": tenant_id,
        "now": now,
        "late": now - LATE,
        "lateness": LATE,
        "recent": RECENT,
        "most": MAX_FAILING,
    }

    async def read(query: str) -> list[Any]:
        # A plan of its own each time: without a tenant, its condition costs nothing.
        return await (await connection.execute(query, values, prepare=False)).fetchall()

    [(scheduled, scheduled_late, oldest)] = await read(COUNT_SCHEDULE)
    [(queued, queued_late, running)] = await read(COUNT_OPEN)
    [(failing, failing_otherwise)] = await read(COUNT_FAILING)
    paused = {row[0]: row[1] for row in await read(COUNT_PAUSED)}
    troubled = failing_otherwise + paused.get("CREDENTIALS", 0)
    return RefreshCounts(scheduled + queued, scheduled_late + queued_late, running, failing, paused, oldest, troubled)


async def count_outcomes(
    connection: Connection, tenant_id: UUID | None, since: datetime, span: timedelta
) -> list[tuple[datetime, str, int]]:
    """How fetches ended: (beginning of a span of time, state, how many)."""
    query = COUNT_OUTCOMES if tenant_id is None else COUNT_TENANTS_OUTCOMES
    values = {"tenant": tenant_id, "since": since, "span": span, "beginning": BEGINNING}
    cursor = await connection.execute(query, values, prepare=False)
    return [(row[0], row[1], row[2]) for row in await cursor.fetchall()]


# Lists

FACTS = "t.name, one.user_id, one.access_id, a.provider_id"
OF_FETCH = "one.requested_at, one.slot_at, one.started_at, one.finished_at, one.failure, one.attempts, one.is_attended"
WHOSE = """
    join all_accesses a on a.user_id = one.user_id and a.id = one.access_id and a.form_session_id is null
    join users u on u.id = one.user_id join tenants t on t.id = u.tenant_id
"""
MINE = "(%(tenant)s::uuid is null or u.tenant_id = %(tenant)s)"
AFTER_TIME = "(one.requested_at, one.user_id, one.access_id) > (%(at)s, %(after_user)s, %(after)s)"
LIST_OPEN = f"""
    select {FACTS}, one.state, {OF_FETCH}, null, one.requested_at from all_fetches one {WHOSE}
    where one.state = %(state)s and one.state in ('QUEUED', 'RUNNING') and one.requested_at >= %(at)s
        and one.requested_at <= now() - %(lateness)s and {AFTER_TIME} and {MINE}
    order by one.requested_at, one.user_id, one.access_id limit %(limit)s
"""
LIST_SCHEDULE = f"""
    select t.name, one.user_id, one.id, one.provider_id, 'SCHEDULED', one.next_refresh_at,
        null::timestamptz, null::timestamptz, null::timestamptz, null, null, null, null, one.next_refresh_at
    from all_accesses one join users u on u.id = one.user_id join tenants t on t.id = u.tenant_id
    where one.next_refresh_at <= %(until)s and one.next_refresh_at >= %(at)s
        and (one.next_refresh_at, one.user_id, one.id) > (%(at)s, %(after_user)s, %(after)s) and {MINE}
    order by one.next_refresh_at, one.user_id, one.id limit %(limit)s
"""
LIST_FAILED = f"""
    select {FACTS}, one.state, {OF_FETCH}, a.refresh_pause, one.finished_at from all_fetches one {WHOSE}
    where one.state in ('FAILED', 'INTERRUPTED') and one.finished_at > now() - %(recent)s
        and one.finished_at <= %(at)s
        and (one.finished_at, one.user_id, one.access_id) < (%(at)s, %(after_user)s, %(after)s)
        and {IS_NEWEST} and {MINE}
    order by one.finished_at desc, one.user_id desc, one.access_id desc limit %(limit)s
"""
LIST_PAUSED = f"""
    select t.name, one.user_id, one.id, one.provider_id, 'PAUSED', null::timestamptz, null::timestamptz,
        ended.started_at, ended.finished_at, ended.failure, null, null, one.refresh_pause, %(beginning)s::timestamptz
    from all_accesses one join users u on u.id = one.user_id join tenants t on t.id = u.tenant_id
    left join lateral (
        select f.started_at, f.finished_at, f.failure from all_fetches f
        where f.user_id = one.user_id and f.access_id = one.id and f.finished_at is not null and f.state <> 'SKIPPED'
        order by f.finished_at desc limit 1
    ) ended on true
    where one.refresh_pause = %(pause)s and one.form_session_id is null
        and (one.user_id, one.id) > (%(after_user)s, %(after)s) and {MINE}
    order by one.user_id, one.id limit %(limit)s
"""
QUERIES = {
    Source.SCHEDULE: LIST_SCHEDULE,
    Source.QUEUED: LIST_OPEN,
    Source.RUNNING: LIST_OPEN,
    Source.FAILED: LIST_FAILED,
    Source.PAUSED_SCA: LIST_PAUSED,
    Source.PAUSED_CREDENTIALS: LIST_PAUSED,
}


def begin(source: Source) -> Place:
    """Before the first row; failures are listed newest first."""
    if source is Source.FAILED:
        return Place(source, END, NIL, "")
    return Place(source, BEGINNING, NIL, "")


async def list_refreshes(
    connection: Connection, state: RefreshState, tenant_id: UUID | None, now: datetime, after: Place | None, limit: int
) -> tuple[list[RefreshRow], Place | None]:
    """A page, and where the next one begins."""
    refreshes: list[RefreshRow] = []
    place = after
    for source in SOURCES[state]:
        if place is not None and source < place.source:
            continue
        here = place if place is not None and place.source is source else begin(source)
        is_late = state is RefreshState.LATE
        values = {
            "tenant": tenant_id,
            "state": source.name,
            "pause": source.name.removeprefix("PAUSED_"),
            "until": now - LATE if is_late else now,
            "lateness": LATE if is_late and source is Source.QUEUED else LATE * 0,
            "recent": RECENT,
            "beginning": BEGINNING,
            "at": here.at,
            "after_user": here.user_id,
            "after": here.access_id,
            "limit": limit - len(refreshes),
        }
        rows = await (await connection.execute(QUERIES[source], values, prepare=False)).fetchall()
        refreshes += [RefreshRow(*row[:13]) for row in rows]
        if len(refreshes) == limit:
            return refreshes, Place(source, rows[-1][13], refreshes[-1].user_id, refreshes[-1].access_id)
    return refreshes, None
