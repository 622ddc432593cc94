"""Telling the bank that a consent is over, after its access was deleted: one attempt, for a few seconds."""

import asyncio
import time
from uuid import UUID

import structlog

from kontor.connectors.base import Context
from kontor.domain.errors import BusyError
from kontor.services.banks import BankGateway, Leasing
from kontor.services.runtime import Clock
from kontor.services.security import UserEncryption
from kontor.storage import permissions
from kontor.storage.database import Database
from kontor.storage.permissions import Revocation

log = structlog.get_logger(__name__)

REVOCATION_SECONDS = 5.0  # for the credentials to be free, and the bank to answer
WAIT_SECONDS = REVOCATION_SECONDS + 3
POLL_SECONDS = 0.1
BATCH = 20


class Revocations:
    def __init__(self, database: Database, gateway: BankGateway, user_encryption: UserEncryption, clock: Clock) -> None:
        self._database = database
        self._gateway = gateway
        self._user_encryption = user_encryption
        self._clock = clock
        self._leasing = Leasing(database)

    async def revoke_all_of_user(self, user_id: UUID) -> None:
        """All ended permissions of a user, at the same time."""
        async with self._database.connect(user_id) as connection:
            untold = await permissions.list_pending_revocations_of(connection, user_id)
        await asyncio.gather(*(self.revoke(user_id, permission_id) for permission_id in untold))

    async def revoke_pending(self) -> int:
        """Those that ended with nobody waiting for the receipt, or whose process has died."""
        async with self._database.connect() as connection:
            untold = await permissions.list_pending_revocations(connection, BATCH)
        await asyncio.gather(*(self.revoke(*found) for found in untold))
        return len(untold)

    async def revoke(self, user_id: UUID, permission_id: UUID) -> None:
        """One attempt. Whatever the bank says, the receipt is complete then, and what the attempt took is gone."""
        async with self._database.connect(user_id) as connection:
            revocation = await permissions.claim_revocation(connection, user_id, permission_id)
        if revocation is None:
            return
        is_told = False
        try:
            async with asyncio.timeout(REVOCATION_SECONDS + 1):
                is_told = await self._tell(user_id, revocation)
        except (TimeoutError, BusyError):
            log.warning("permission.revocation-failed", reason="no answer in time")
        except Exception as error:
            log.warning("permission.revocation-failed", reason=type(error).__name__)
        async with self._database.connect(user_id) as connection:
            await permissions.finish_revocation(connection, user_id, permission_id, is_bank_told=is_told)

    async def wait(self, user_id: UUID, permission_id: UUID) -> None:
        """Until somebody else has told the bank. BusyError where that takes too long: its process has died."""
        end = time.monotonic() + WAIT_SECONDS
        while True:
            async with self._database.connect(user_id) as connection:
                untold = await permissions.list_pending_revocations_of(connection, user_id)
            if permission_id not in untold:
                return
            if time.monotonic() > end:
                raise BusyError("The bank is still being told of the withdrawal.")
            await asyncio.sleep(POLL_SECONDS)

    async def _tell(self, user_id: UUID, revocation: Revocation) -> bool:
        deadline = time.monotonic() + REVOCATION_SECONDS
        async with self._database.connect(user_id) as connection:
            opened = await self._user_encryption.open_access(
                connection, user_id, revocation.access_id, revocation.credentials, revocation.memory
            )
        context = Context(self._clock.today(), self._user_encryption.name_customer(user_id), deadline=deadline)
        async with self._leasing.hold(revocation.lease_key, wait_seconds=REVOCATION_SECONDS) as held:
            return await self._gateway.revoke_at_bank(held, revocation, opened, context)
