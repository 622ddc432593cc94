"""How the channels to a bank have been doing."""

from uuid import UUID

from kontor.domain.routing import Health
from kontor.storage.database import Connection


async def record_outcome(connection: Connection, provider_id: UUID, bank_channel: str, *, is_success: bool) -> None:
    await connection.execute(
        "insert into way_outcomes (provider_id, way, is_success) values (%s, %s, %s)",
        [provider_id, bank_channel, is_success],
    )


async def list_health(connection: Connection, provider_id: UUID) -> dict[str, Health]:
    """Of the last day, by way."""
    cursor = await connection.execute(
        """
        with recent as (
            select way, at, is_success, max(at) filter (where is_success) over (partition by way) as last_success
            from way_outcomes where provider_id = %s and at > now() - interval '1 day'
        )
        select way, count(*), count(*) filter (where is_success),
            count(*) filter (where not is_success and (last_success is null or at > last_success))
        from recent group by way
        """,
        [provider_id],
    )
    return {row[0]: Health(row[1], row[2], row[3]) for row in await cursor.fetchall()}


async def delete_old_outcomes(connection: Connection) -> int:
    cursor = await connection.execute("delete from way_outcomes where at < now() - interval '7 days'")
    return cursor.rowcount
