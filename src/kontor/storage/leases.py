"""Leases on sets of credentials: one operation at a time talks to a bank with them, whoever it is."""

from dataclasses import dataclass
from uuid import UUID

from kontor.storage.database import Connection

LEASE_SECONDS = 20
HEARTBEAT_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Lease:
    key: bytes
    holder: UUID
    fence: int


async def take_lease(connection: Connection, key: bytes, holder: UUID) -> Lease | None:
    """None when somebody else has it. A lease that ran out is taken over, with a higher fence."""
    cursor = await connection.execute(
        """
        insert into credential_leases as l (key, holder, fence, until)
        values (%(key)s, %(holder)s, nextval('lease_fences'), now() + make_interval(secs => %(seconds)s))
        on conflict (key) do update
            set holder = excluded.holder, fence = excluded.fence, until = excluded.until
            where l.until < now()
        returning fence
        """,
        {"key": key, "holder": holder, "seconds": LEASE_SECONDS},
    )
    row = await cursor.fetchone()
    return None if row is None else Lease(key, holder, row[0])


async def renew_lease(connection: Connection, lease: Lease) -> bool:
    """False when the lease was lost."""
    cursor = await connection.execute(
        "update credential_leases set until = now() + make_interval(secs => %s) where key = %s and fence = %s",
        [LEASE_SECONDS, lease.key, lease.fence],
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
