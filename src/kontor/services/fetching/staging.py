"""What a bank told about an access before the user has chosen accounts: kept sealed, apart from customer data.

Nothing that serves a tenant reads it. After the choice the chosen part becomes customer data, and the rest is deleted.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from kontor.connectors.base import Done, Fetched, Headers
from kontor.services.security import UserEncryption
from kontor.storage import staged_fetches
from kontor.storage.database import Connection

HEADERS, RESULT = "staged headers", "staged result"


@dataclass(frozen=True, slots=True)
class Staged:
    """The products, and everything else where the bank has been asked for it already."""

    headers: Headers
    done: Done | None
    staged_at: datetime


class StagedResult(msgspec.Struct, frozen=True):
    """What is sealed. `memory` is the connector's state."""

    fetched: Fetched
    memory: Any


class Staging:
    def __init__(self, user_encryption: UserEncryption) -> None:
        self._user_encryption = user_encryption

    async def stage_headers(self, connection: Connection, user_id: UUID, access_id: str, headers: Headers) -> None:
        sealed = await self._user_encryption.seal(connection, user_id, access_id, HEADERS, headers)
        await staged_fetches.store_headers(connection, user_id, access_id, sealed)

    async def stage_result(self, connection: Connection, user_id: UUID, access_id: str, step: Done) -> None:
        assert isinstance(step.result, Fetched), "a fetch was asked for"
        result = StagedResult(step.result, step.connector_state)
        sealed = await self._user_encryption.seal(connection, user_id, access_id, RESULT, result)
        await staged_fetches.store_result(connection, user_id, access_id, sealed)

    async def find_headers(self, connection: Connection, user_id: UUID, access_id: str) -> Headers | None:
        found = await staged_fetches.find_staged(connection, user_id, access_id)
        return None if found is None else await self._open_headers(connection, user_id, access_id, found[0])

    async def take(self, connection: Connection, user_id: UUID, access_id: str) -> Staged | None:
        """What is staged, which then is no longer."""
        staged = await self.find(connection, user_id, access_id)
        if staged is not None:
            await staged_fetches.delete_staged(connection, user_id, access_id)
        return staged

    async def find(self, connection: Connection, user_id: UUID, access_id: str) -> Staged | None:
        found = await staged_fetches.find_staged(connection, user_id, access_id)
        if found is None:
            return None
        headers = await self._open_headers(connection, user_id, access_id, found[0])
        done = None
        if found[1] is not None:
            result = await self._user_encryption.unseal(connection, user_id, access_id, RESULT, found[1], StagedResult)
            done = Done(result.fetched, result.memory)
        return Staged(headers, done, found[2])

    async def _open_headers(self, connection: Connection, user_id: UUID, access_id: str, sealed: bytes) -> Headers:
        return await self._user_encryption.unseal(connection, user_id, access_id, HEADERS, sealed, Headers)
