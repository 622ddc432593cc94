"""What dialogues have shown of providers: nothing about customers."""

from uuid import UUID

from kontor.domain.products import ProductCategory
from kontor.domain.providers import Capability, Finding
from kontor.storage.database import Connection

# Nothing is locked where nothing is new.
NOTE = """
    insert into provider_findings as known (provider_id, way, offered, categories)
    select %(provider)s, %(way)s, %(offered)s::text[], %(categories)s::text[]
    where not exists (
        select 1 from provider_findings where provider_id = %(provider)s and way = %(way)s
        and (%(offered)s::text[] is null or offered = %(offered)s::text[]) and categories @> %(categories)s::text[])
    on conflict (provider_id, way) do update set
        offered = coalesce(excluded.offered, known.offered), updated_at = now(),
        categories = array(select unnest(known.categories) union select unnest(excluded.categories) order by 1)
"""


async def note_finding(connection: Connection, provider_id: UUID, bank_channel: str, finding: Finding) -> None:
    """What the bank says of itself replaces what it said before; categories of products are added."""
    values = {
        "provider": provider_id,
        "way": bank_channel,
        "offered": None if finding.offered is None else [str(capability) for capability in finding.offered],
        "categories": sorted(str(category) for category in finding.categories),
    }
    await connection.execute(NOTE, values)


async def list_findings(connection: Connection, provider_id: UUID | None = None) -> dict[UUID, dict[str, Finding]]:
    """By provider and channel; of one provider, or of all."""
    cursor = await connection.execute(
        "select provider_id, way, offered, categories from provider_findings"
        " where %(provider)s::uuid is null or provider_id = %(provider)s",
        {"provider": provider_id},
    )
    found: dict[UUID, dict[str, Finding]] = {}
    for id, way, offered, categories in await cursor.fetchall():
        capabilities = None if offered is None else tuple(map(Capability, offered))
        found.setdefault(id, {})[way] = Finding(capabilities, tuple(map(ProductCategory, categories)))
    return found
