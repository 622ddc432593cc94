"""Writing to the audit trail, in the transaction of the change itself."""

from dataclasses import dataclass
from uuid import UUID

from kontor.domain.audit import FIRST_HASH, SYSTEM_CHAIN, AuditEntry, AuditResult, ChainedEntry, find_break
from kontor.domain.principals import Principal
from kontor.services.runtime import correlation_id
from kontor.storage import audit
from kontor.storage.database import Connection, Database

OPERATOR = "operator"
ANONYMOUS = "anonymous"
PIECE_ENTRIES = 1000


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


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of a chain: how many entries it has, and what is wrong with it, if anything."""

    chain: UUID
    entries: int
    problem: str | None


async def verify_chains(database: Database) -> dict[UUID, str | None]:
    """For each chain: None when it is whole, else what is wrong with it."""
    async with database.connect() as connection:
        chains = [chain for chain, _, _ in await audit.list_chains(connection)]
    return {chain: (await verify_chain(database, chain)).problem for chain in chains}


async def verify_chain(database: Database, chain: UUID) -> Finding:
    """Reads piece by piece: a chain may be long."""
    async with database.snapshot() as connection:
        serial, head = await audit.find_head(connection, chain)
        count, last, broken = 0, FIRST_HASH, None
        after = 0
        while True:
            piece = [entry async for entry in audit.read_entries(connection, chain, after=after, limit=PIECE_ENTRIES)]
            if not piece:
                break
            broken = broken or find_break(piece, last, count + 1)
            count, last, after = count + len(piece), piece[-1].hash, piece[-1].serial
    problem = None
    if serial < 0:
        problem = f"its head is missing; {count} entries are there"
    elif broken is not None:
        problem = f"entry {broken.serial} does not follow from the ones before it"
    elif count != serial:
        problem = f"the last entries are missing: {count} of {serial} are there"
    elif count and last != head:
        problem = f"entry {serial} is not the one that was written last"
    return Finding(chain, count, problem)


async def read_chain(database: Database, chain: UUID, after: int, limit: int) -> list[ChainedEntry]:
    async with database.transaction() as connection:
        return [entry async for entry in audit.read_entries(connection, chain, after=after, limit=limit)]
