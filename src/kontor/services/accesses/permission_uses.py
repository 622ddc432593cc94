"""Which client has used the data of an access, and when: for the customer's list of permissions."""

import time
from uuid import UUID

import structlog

from kontor.domain.principals import Principal, user_of
from kontor.storage import permissions
from kontor.storage.database import Database

log = structlog.get_logger(__name__)

NOTED_SECONDS = 300  # as exact as the time of a use is: most requests write nothing
MAX_NOTED = 20_000


class PermissionUses:
    """What this process has noted lately is kept in memory: user, client, and access or None for all of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._noted: dict[tuple[UUID, UUID, str | None], float] = {}

    async def note(self, principal: Principal, access_id: str | None) -> None:
        """`access_id` None: of all accesses. Nobody's answer fails because this cannot be written."""
        user_id, now = user_of(principal), time.monotonic()
        key = user_id, principal.client_id, access_id
        if now - self._noted.get(key, -NOTED_SECONDS) < NOTED_SECONDS:
            return
        if len(self._noted) >= MAX_NOTED:
            self._noted.clear()
        self._noted[key] = now
        is_written = False
        try:
            async with self._database.connect(user_id) as connection:
                is_written = await permissions.note_use(connection, user_id, access_id, principal.client_name)
        except Exception as error:
            log.warning("permission.use-not-noted", reason=type(error).__name__)
        finally:
            if not is_written:
                self._noted.pop(key, None)  # the next use is noted instead

    def forget(self, user_id: UUID) -> None:
        """After the commit that has added an access: what was noted for all accesses did not contain it."""
        for key in [key for key in self._noted if key[0] == user_id]:
            del self._noted[key]
