"""The audit trail: append-only, one hash chain per tenant and one for the system."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID

from kontor.domain.audit import FIRST_HASH, AuditEntry, AuditResult, ChainedEntry, hash_entry
from kontor.storage.database import Connection


async def append_entry(connection: Connection, chain: UUID, entry: AuditEntry) -> None:
    """Add to the chain, in the transaction of the deed itself. The head row keeps writers in line: call this last."""
    await connection.execute(
        "insert into audit_heads (chain, serial, hash) values (%s, 0, %s) on conflict do nothing", [chain, FIRST_HASH]
    )
    cursor = await connection.execute("select serial, hash from audit_heads where chain = %s for update", [chain])
    row = await cursor.fetchone()
    assert row is not None
    serial, previous = row[0] + 1, row[1]
    at = datetime.now(UTC)
    digest = hash_entry(previous, chain, serial, at, entry)
    await connection.execute(
        "insert into audit_entries (chain, serial, at, actor, action, object, result, correlation_id, hash)"
        " values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            chain,
            serial,
            at,
            entry.actor,
            entry.action,
            entry.object,
            str(entry.result),
            entry.correlation_id,
            digest,
        ],
    )
    await connection.execute("update audit_heads set serial = %s, hash = %s where chain = %s", [serial, digest, chain])


async def list_chains(connection: Connection) -> list[tuple[UUID, int, bytes]]:
    """Every chain with its head: serial and hash of the last entry.

    A chain whose head was removed is listed all the same, as long as entries or their tenant are left to tell of it:
    with no entries, where at least the tenant's creation must be.
    """
    cursor = await connection.execute(
        "select chain, coalesce(h.serial, -1), coalesce(h.hash, ''::bytea) from ("
        " select chain from audit_heads union select distinct chain from audit_entries union select id from tenants"
        ") known left join audit_heads h using (chain) order by chain"
    )
    return [(row[0], row[1], row[2]) for row in await cursor.fetchall()]


async def read_entries(
    connection: Connection, chain: UUID, *, after: int = 0, limit: int | None = None
) -> AsyncIterator[ChainedEntry]:
    async with connection.cursor() as cursor:
        await cursor.execute(
            "select chain, serial, at, actor, action, object, result, correlation_id, hash from audit_entries"
            " where chain = %s and serial > %s order by serial limit %s",
            [chain, after, limit],
        )
        async for row in cursor:
            entry = AuditEntry(row[3], row[4], row[5], AuditResult(row[6]), row[7])
            yield ChainedEntry(row[0], row[1], row[2], entry, row[8])
