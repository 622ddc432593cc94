"""The audit trail: append-only, one hash chain per tenant and one for the system."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from kontor.domain.audit import FIRST_HASH, AuditEntry, AuditResult, ChainedEntry, hash_entry
from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock

COLUMNS = "chain, serial, at, actor, action, object, result, correlation_id, hash"


def _entry(row: Sequence[Any]) -> ChainedEntry:
    chain, serial, at, actor, action, subject, result, correlation_id, digest = row
    return ChainedEntry(
        chain, serial, at, AuditEntry(actor, action, subject, AuditResult(result), correlation_id), digest
    )


async def append_entry(connection: Connection, chain: UUID, entry: AuditEntry) -> None:
    """Add to the chain, in the transaction of the change itself. The head row keeps writers in line: call this last."""
    note_lock(Lock.AUDIT_HEAD, chain)
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
        f"insert into audit_entries ({COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
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


async def find_head(connection: Connection, chain: UUID) -> tuple[int, bytes]:
    """Serial and hash of the last entry; a serial of -1 where the head is missing."""
    cursor = await connection.execute("select serial, hash from audit_heads where chain = %s", [chain])
    row = await cursor.fetchone()
    return (-1, b"") if row is None else (row[0], row[1])


async def list_newest(connection: Connection, chain: UUID, before: int, limit: int) -> list[ChainedEntry]:
    """Backwards, from the entry before a serial."""
    cursor = await connection.execute(
        f"select {COLUMNS} from audit_entries where chain = %s and serial < %s order by serial desc limit %s",
        [chain, before, limit],
    )
    return [_entry(row) for row in await cursor.fetchall()]


async def read_entries(
    connection: Connection, chain: UUID, *, after: int = 0, limit: int | None = None
) -> AsyncIterator[ChainedEntry]:
    async with connection.cursor() as cursor:
        await cursor.execute(
            f"select {COLUMNS} from audit_entries where chain = %s and serial > %s order by serial limit %s",
            [chain, after, limit],
        )
        async for row in cursor:
            yield _entry(row)
