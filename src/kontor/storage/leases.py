"""Leases on sets of credentials: one operation at a time talks to a bank with them, whoever it is."""

from dataclasses import dataclass
from uuid import UUID

from psycopg import AsyncRawCursor

from kontor.storage.database import Connection

LEASE_SECONDS = 20
HEARTBEAT_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Lease:
    key: bytes
    holder: UUID
    fence: int


# Nobody waits for the row of a lease: its holder keeps it locked while storing, and a lease that was got after such a
# wait would have run out already. Hence `skip locked`, and the time of the moment rather than of the statement's start.
# Of `wanted`, rows with the `key` of a lease; $2 is the holder, $3 for how many seconds.
TAKE_WANTED = """
    expired as (
        select key from credential_leases
        where key = (select key from wanted) and until < clock_timestamp() for update skip locked),
    taken_over as (
        update credential_leases l set holder = $2, fence = nextval('lease_fences'),
            until = clock_timestamp() + make_interval(secs => $3)
        from expired where l.key = expired.key returning l.fence),
    made as (
        insert into credential_leases (key, holder, fence, until)
        select key, $2, nextval('lease_fences'), clock_timestamp() + make_interval(secs => $3) from wanted
        where not exists (select 1 from credential_leases l where l.key = wanted.key)
        on conflict (key) do nothing returning fence),
    taken as (select fence from taken_over union all select fence from made)
"""
TAKE = f"with wanted as (select $1::bytea as key), {TAKE_WANTED} select fence from taken"


async def take_lease(connection: Connection, key: bytes, holder: UUID) -> Lease | None:
    """None when somebody else has it. A lease that ran out is taken over, with a higher fence."""
    cursor = AsyncRawCursor(connection)
    await cursor.execute(TAKE, [key, holder, LEASE_SECONDS])
    row = await cursor.fetchone()
    return None if row is None else Lease(key, holder, row[0])


async def renew_lease(connection: Connection, lease: Lease) -> bool:
    """False when the lease was lost."""
    cursor = await connection.execute(
        "with held as (select key from credential_leases where key = %s and fence = %s for no key update)"
        " update credential_leases l set until = clock_timestamp() + make_interval(secs => %s)"
        " from held where l.key = held.key",
        [lease.key, lease.fence, LEASE_SECONDS],
    )
    return cursor.rowcount == 1


async def holds_lease(connection: Connection, lease: Lease) -> bool:
    """Checked, and kept from changing, in the transaction that stores what the bank said."""
    cursor = await connection.execute(
        "select 1 from credential_leases where key = %s and fence = %s for share", [lease.key, lease.fence]
    )
    return await cursor.fetchone() is not None


async def release_lease(connection: Connection, lease: Lease) -> None:
    await connection.execute("delete from credential_leases where key = %s and fence = %s", [lease.key, lease.fence])


async def delete_old_leases(connection: Connection) -> int:
    cursor = await connection.execute("delete from credential_leases where until < now() - interval '1 hour'")
    return cursor.rowcount
