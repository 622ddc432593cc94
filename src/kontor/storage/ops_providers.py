"""How providers have been doing, for operators: all at once, and which of them are down."""

from uuid import UUID

from kontor.domain.operator_views import ProviderRow
from kontor.domain.operators import RECENT
from kontor.storage.database import Connection

# From provider to provider through the index: their number is small, that of the outcomes is not.
KNOWN = """
    with recursive known as (
        (select provider_id from provider_outcomes order by provider_id limit 1)
        union all
        select (select o.provider_id from provider_outcomes o where o.provider_id > k.provider_id
                order by o.provider_id limit 1)
        from known k where k.provider_id is not null
    )
"""
LIST_PROVIDERS = f"""
    {KNOWN}
    select every.provider_id, recent.fetches, recent.successes, recent.mean_seconds, recent.last_success_at,
        coalesce(d.failures, 0), d.down_since, d.next_try_at, recent.refused
    from (select provider_id from known where provider_id is not null
          union select provider_id from provider_outages) every
    cross join lateral (
        select count(*) as fetches, count(*) filter (where o.is_success and not o.is_refused) as successes,
            count(*) filter (where o.is_refused) as refused,
            avg(o.seconds) filter (where o.is_success and not o.is_refused) as mean_seconds,
            max(o.at) filter (where o.is_success and not o.is_refused) as last_success_at
        from provider_outcomes o where o.provider_id = every.provider_id and o.at > now() - %(recent)s
    ) recent
    left join provider_outages d on d.provider_id = every.provider_id
    where recent.fetches > 0 or d.provider_id is not null
    order by d.down_since is null, recent.fetches - recent.successes desc, every.provider_id
"""


async def list_providers(connection: Connection) -> list[ProviderRow]:
    """Those that were called in the last 24 hours or are in trouble: the troubled first."""
    cursor = await connection.execute(LIST_PROVIDERS, {"recent": RECENT}, prepare=False)
    return [ProviderRow(*row) for row in await cursor.fetchall()]


async def count_outages(connection: Connection) -> int:
    cursor = await connection.execute("select count(*) from provider_outages where down_since is not null")
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def count_accesses(connection: Connection) -> dict[UUID, int]:
    """By provider, without those whose user has not yet chosen accounts."""
    cursor = await connection.execute(
        "select provider_id, count(*) from all_accesses where form_session_id is null group by provider_id"
    )
    return {row[0]: row[1] for row in await cursor.fetchall()}
