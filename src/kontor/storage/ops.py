"""What an operator sees of tenants, clients, users and accesses: across users by nature, page by page.

`tenant_id` bounds every list to one tenant; None means all of them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from kontor.domain.operator_views import AccessFilter, AccessRow, ClientRow, TenantRow, UserFilter, UserRow
from kontor.domain.operators import LATE, AccessRefresh
from kontor.domain.tenants import ClientKind
from kontor.storage.database import Connection

# Where a filter fits few accesses, so many are looked through for one page, and no more.
SCAN_ROWS = 10_000


# Tenants, clients, users


async def list_tenants(connection: Connection, tenant_id: UUID | None, after: str, limit: int) -> list[TenantRow]:
    cursor = await connection.execute(
        """
        select t.id, t.name, t.description, t.is_regulated, t.created_at,
            (select count(*) from clients c where c.tenant_id = t.id),
            (select count(*) from users u where u.tenant_id = t.id)
        from tenants t where (%(tenant)s::uuid is null or t.id = %(tenant)s) and t.name > %(after)s
        order by t.name limit %(limit)s
        """,
        {"tenant": tenant_id, "after": after, "limit": limit},
    )
    return [TenantRow(*row) for row in await cursor.fetchall()]


async def list_clients(
    connection: Connection, tenant_id: UUID | None, after: tuple[str, str], limit: int
) -> list[ClientRow]:
    cursor = await connection.execute(
        """
        select t.name, c.name, c.kind, c.description, c.granted_scopes, c.created_at
        from clients c join tenants t on t.id = c.tenant_id
        where (%(tenant)s::uuid is null or t.id = %(tenant)s) and (t.name, c.name) > (%(after_tenant)s, %(after)s)
        order by t.name, c.name limit %(limit)s
        """,
        {"tenant": tenant_id, "after_tenant": after[0], "after": after[1], "limit": limit},
    )
    return [
        ClientRow(row[0], row[1], ClientKind(row[2]), row[3], tuple(row[4]), row[5]) for row in await cursor.fetchall()
    ]


async def list_users(connection: Connection, wanted: UserFilter, after: UUID, limit: int) -> list[UserRow]:
    cursor = await connection.execute(
        """
        select t.name, u.id, u.username, u.is_active, u.created_at,
            (select count(*) from all_accesses a where a.user_id = u.id), u.pseudonym
        from users u join tenants t on t.id = u.tenant_id
        where (%(tenant)s::uuid is null or u.tenant_id = %(tenant)s) and u.id > %(after)s
            and (%(reference)s::uuid is null or u.id = %(reference)s)
            and (%(pseudonyms)s::uuid[] is null or u.pseudonym = any(%(pseudonyms)s))
        order by u.id limit %(limit)s
        """,
        {
            "tenant": wanted.tenant_id,
            "reference": wanted.reference,
            "pseudonyms": None if wanted.pseudonyms is None else list(wanted.pseudonyms),
            "after": after,
            "limit": limit,
        },
    )
    return [UserRow(*row) for row in await cursor.fetchall()]


async def count_users(connection: Connection, tenant_id: UUID | None) -> int:
    cursor = await connection.execute(
        "select count(*) from users where %(tenant)s::uuid is null or tenant_id = %(tenant)s", {"tenant": tenant_id}
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


# Accesses. What is looked through for a page, in the order of the key; then what of it is asked for. Tenants look here,
# too: an access whose accounts the user has not chosen yet is left out.

SEEN = (
    "a.user_id, a.id, a.provider_id, a.status, a.is_synced, a.created_at, a.updated_at, a.consent_until,"
    " a.refresh_pause, a.next_refresh_at, a.operator_paused_at"
)
EVERYBODYS = f"""
    select {SEEN} from all_accesses a
    where a.form_session_id is null and (a.user_id, a.id) > (%(after_user)s, %(after)s)
    order by a.user_id, a.id limit %(scan)s
"""
OF_TENANT = f"""
    select {SEEN} from users o join all_accesses a on a.user_id = o.id
    where o.tenant_id = %(tenant)s and o.id >= %(after_user)s and (a.user_id, a.id) > (%(after_user)s, %(after)s)
        and a.form_session_id is null
    order by a.user_id, a.id limit %(scan)s
"""
PAUSED = f"""
    select {SEEN} from all_accesses a
    where a.refresh_pause = %(pause)s and a.form_session_id is null
        and (a.user_id, a.id) > (%(after_user)s, %(after)s)
    order by a.user_id, a.id limit %(scan)s
"""
STATE = """
    case when running.state = 'RUNNING' then 'running'
         when a.refresh_pause is not null or a.operator_paused_at is not null then 'paused'
         when a.next_refresh_at < %(late)s or running.requested_at < now() - %(lateness)s then 'late'
         when a.next_refresh_at <= %(now)s or running.state is not null then 'due'
         when a.next_refresh_at is not null then 'scheduled'
         else 'off' end
"""
CHOSEN = f"""
    select t.name, a.user_id, a.id, a.provider_id, a.status, a.is_synced, a.created_at, a.updated_at, a.consent_until,
        {STATE}, a.refresh_pause, a.next_refresh_at,
        coalesce(ended.state in ('FAILED', 'INTERRUPTED'), false),
        ended.state, ended.finished_at, ended.failure, a.operator_paused_at
    from looked_at a join users u on u.id = a.user_id join tenants t on t.id = u.tenant_id
    left join all_fetches running
        on running.user_id = a.user_id and running.access_id = a.id and running.state in ('QUEUED', 'RUNNING')
    left join lateral (
        select f.state, f.finished_at, f.failure from all_fetches f
        where f.user_id = a.user_id and f.access_id = a.id and f.finished_at is not null and f.state <> 'SKIPPED'
        order by f.finished_at desc limit 1
    ) ended on true
    where (%(tenant)s::uuid is null or u.tenant_id = %(tenant)s)
        and (%(status)s::text is null or a.status = %(status)s)
        and (%(provider)s::uuid is null or a.provider_id = %(provider)s)
        and (%(pause)s::text is null or a.refresh_pause = %(pause)s)
        and (%(states)s::text[] is null or {STATE} = any(%(states)s))
        and (%(failing)s::boolean is null
            or %(failing)s = coalesce(ended.state in ('FAILED', 'INTERRUPTED'), false))
    order by a.user_id, a.id limit %(limit)s
"""
LISTS = {
    "everybody's": f"with looked_at as materialized ({EVERYBODYS}) {CHOSEN}",
    "tenant's": f"with looked_at as materialized ({OF_TENANT}) {CHOSEN}",
    "paused": f"with looked_at as materialized ({PAUSED}) {CHOSEN}",
}
ENDS = {
    "everybody's": f"select user_id, id from ({EVERYBODYS}) looked_at offset %(scan)s - 1",
    "tenant's": f"select user_id, id from ({OF_TENANT}) looked_at offset %(scan)s - 1",
    "paused": f"select user_id, id from ({PAUSED}) looked_at offset %(scan)s - 1",
}


async def list_accesses(
    connection: Connection, wanted: AccessFilter, now: datetime, after: tuple[UUID, str], limit: int
) -> tuple[list[AccessRow], tuple[UUID, str] | None]:
    """A page, and where the next one begins. A page may be short, or empty, and yet not the last."""
    source = "paused" if wanted.pause else "tenant's" if wanted.tenant_id else "everybody's"
    has_filter = any((wanted.status, wanted.provider_id, wanted.states, wanted.is_failing is not None))
    is_scanned = has_filter or source == "paused"
    values: dict[str, Any] = {
        "tenant": wanted.tenant_id,
        "status": wanted.status,
        "provider": wanted.provider_id,
        "pause": wanted.pause,
        "states": None if wanted.states is None else [str(state) for state in wanted.states],
        "failing": wanted.is_failing,
        "now": now,
        "late": now - LATE,
        "lateness": LATE,
        "after_user": after[0],
        "after": after[1],
        "scan": SCAN_ROWS if is_scanned else limit,
        "limit": limit,
    }
    cursor = await connection.execute(LISTS[source], values, prepare=False)
    rows = [_access_row(row) for row in await cursor.fetchall()]
    if len(rows) == limit:
        return rows, (rows[-1].user_id, rows[-1].id)
    end = await (await connection.execute(ENDS[source], values, prepare=False)).fetchone()
    return rows, None if end is None else (end[0], end[1])


FIND_ACCESS = f"""
    with looked_at as materialized (
        select {SEEN} from all_accesses a where a.user_id = %(user)s and a.id = %(access)s and a.form_session_id is null
    ) {CHOSEN}
"""


async def find_access(connection: Connection, user_id: UUID, access_id: str, now: datetime) -> AccessRow | None:
    filters = dict.fromkeys(("tenant", "status", "provider", "pause", "states", "failing"))
    times = {"now": now, "late": now - LATE, "lateness": LATE, "limit": 1}
    values = {"user": user_id, "access": access_id} | filters | times
    row = await (await connection.execute(FIND_ACCESS, values, prepare=False)).fetchone()
    return None if row is None else _access_row(row)


def _access_row(row: Sequence[Any]) -> AccessRow:
    return AccessRow(*[*row[:9], AccessRefresh(row[9]), *row[10:]])


async def count_accesses(connection: Connection, tenant_id: UUID | None) -> tuple[int, dict[str, int], int]:
    """(all, by status where it is not complete, those whose data is not stored permanently)"""
    values = {"tenant": tenant_id}
    if tenant_id is None:
        total = "select count(*) from all_accesses"
        statuses = "select status, count(*) from all_accesses where status <> 'COMPLETE' group by status"
        temporary = "select count(*) from all_accesses where expires_at is not null"
    else:
        total = "select count(*) from users u join all_accesses a on a.user_id = u.id where u.tenant_id = %(tenant)s"
        statuses = (
            "select a.status, count(*) from all_accesses a join users u on u.id = a.user_id"
            " where a.status <> 'COMPLETE' and u.tenant_id = %(tenant)s group by a.status"
        )
        temporary = (
            "select count(*) from all_accesses a join users u on u.id = a.user_id"
            " where a.expires_at is not null and u.tenant_id = %(tenant)s"
        )
    all_of_them = await (await connection.execute(total, values)).fetchone()
    by_status = await (await connection.execute(statuses, values)).fetchall()
    expiring = await (await connection.execute(temporary, values)).fetchone()
    assert all_of_them is not None
    assert expiring is not None
    return all_of_them[0], {row[0]: row[1] for row in by_status}, expiring[0]


async def read_server_version(connection: Connection) -> str:
    cursor = await connection.execute("select current_setting('server_version')")
    row = await cursor.fetchone()
    assert row is not None
    return str(row[0])
