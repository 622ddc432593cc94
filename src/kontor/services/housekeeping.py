"""Removing what has run out, in small batches."""

import structlog

from kontor.storage import audit, login_failures, tokens
from kontor.storage.database import Database

log = structlog.get_logger(__name__)
BATCH = 1000


class Housekeeping:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def clean(self) -> None:
        """Expired tokens and forgotten login failures."""
        removed_tokens = 0
        while True:
            async with self._database.transaction() as connection:
                count = await tokens.delete_expired_tokens(connection, BATCH)
            removed_tokens += count
            if count < BATCH:
                break
        async with self._database.transaction() as connection:
            removed_failures = await login_failures.delete_old_failures(connection)
        log.info("housekeeping", expired=removed_tokens, failures=removed_failures)

    async def anchor_audit_trail(self) -> None:
        """Log the head of each chain: who keeps the logs elsewhere can prove later that nothing was rewritten."""
        async with self._database.connect() as connection:
            for chain, serial, head in await audit.list_chains(connection):
                log.info("audit.anchor", chain=str(chain), serial=serial, hash=head.hex())
