"""Providers that are down, or on their way there: how often they failed in a row, and when one finds out."""

from collections.abc import Sequence
from uuid import UUID

from kontor.domain.refreshes import Outage
from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock

COLUMNS = "provider_id, failures, down_since, next_try_at"


async def list_outages(connection: Connection, provider_ids: Sequence[UUID]) -> dict[UUID, Outage]:
    cursor = await connection.execute(
        f"select {COLUMNS} from provider_outages where provider_id = any(%s)", [list(provider_ids)]
    )
    return {row[0]: Outage(*row) for row in await cursor.fetchall()}


async def list_down(connection: Connection) -> list[UUID]:
    """Providers that do not answer at present."""
    cursor = await connection.execute("select provider_id from provider_outages where down_since is not null")
    return [row[0] for row in await cursor.fetchall()]


async def lock_outage(connection: Connection, provider_id: UUID) -> Outage | None:
    """Nobody else tries this provider, or notes how it does, until the end of the transaction."""
    note_lock(Lock.PROVIDER_OUTAGE, provider_id)
    cursor = await connection.execute(
        f"select {COLUMNS} from provider_outages where provider_id = %s for update", [provider_id]
    )
    row = await cursor.fetchone()
    return None if row is None else Outage(*row)


async def lock_failures(connection: Connection, provider_id: UUID, outage: Outage) -> Outage:
    """As `lock_outage`; where nothing is known of the provider, `outage` is."""
    note_lock(Lock.PROVIDER_OUTAGE, provider_id)
    await connection.execute(
        f"insert into provider_outages ({COLUMNS}) values (%s, %s, %s, %s) on conflict do nothing",
        [provider_id, outage.failures, outage.down_since, outage.next_try_at],
    )
    return await lock_outage(connection, provider_id) or outage


async def store_outage(connection: Connection, outage: Outage) -> None:
    await connection.execute(
        f"insert into provider_outages ({COLUMNS}) values (%s, %s, %s, %s) on conflict (provider_id) do update"
        " set failures = excluded.failures, down_since = excluded.down_since, next_try_at = excluded.next_try_at",
        [outage.provider_id, outage.failures, outage.down_since, outage.next_try_at],
    )


async def delete_outage(connection: Connection, provider_id: UUID) -> None:
    """The provider answers."""
    note_lock(Lock.PROVIDER_OUTAGE, provider_id)
    await connection.execute("delete from provider_outages where provider_id = %s", [provider_id])
