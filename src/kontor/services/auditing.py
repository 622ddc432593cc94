"""Writing to the audit trail, in the transaction of the deed itself."""

from uuid import UUID

from kontor.domain.audit import SYSTEM_CHAIN, AuditEntry, AuditResult, ChainedEntry, find_break
from kontor.domain.principals import Principal
from kontor.services.correlation import correlation_id
from kontor.storage import audit
from kontor.storage.database import Connection, Database

OPERATOR = "operator"
ANONYMOUS = "anonymous"


def name_actor(principal: Principal) -> str:
    """Users appear under their pseudonym: erasing a user leaves nobody to be found here."""
    client = f"client {principal.tenant_name}/{principal.client_name}"
    return client if principal.user_pseudonym is None else f"user {principal.user_pseudonym} at {client}"


async def record(
    connection: Connection,
    chain: UUID | None,
    actor: str,
    action: str,
    subject: str,
    result: AuditResult = AuditResult.DONE,
) -> None:
    entry = AuditEntry(actor, action, subject, result, correlation_id.get())
    await audit.append_entry(connection, chain or SYSTEM_CHAIN, entry)


async def verify_chains(database: Database) -> dict[UUID, str | None]:
    """For each chain: None when it is whole, else what is wrong with it."""
    findings: dict[UUID, str | None] = {}
    async with database.snapshot() as connection:
        for chain, serial, head in await audit.list_chains(connection):
            entries = [one async for one in audit.read_entries(connection, chain)]
            broken = find_break(entries)
            if serial < 0:
                findings[chain] = f"its head is missing; {len(entries)} entries are there"
            elif broken is not None:
                findings[chain] = f"entry {broken.serial} does not follow from the ones before it"
            elif len(entries) != serial:
                findings[chain] = f"the last entries are missing: {len(entries)} of {serial} are there"
            elif entries and entries[-1].hash != head:
                findings[chain] = f"entry {serial} is not the one that was written last"
            else:
                findings[chain] = None
    return findings


async def read_chain(database: Database, chain: UUID, after: int, limit: int) -> list[ChainedEntry]:
    async with database.transaction() as connection:
        return [one async for one in audit.read_entries(connection, chain, after=after, limit=limit)]
