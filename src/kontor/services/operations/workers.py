"""Workers that tell they live, so that an operator sees when one does not."""

import os
import socket
from uuid import UUID

from kontor import __version__
from kontor.storage import workers
from kontor.storage.database import Database


class Workers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def beat(self, worker_id: UUID) -> None:
        """The worker of this process lives."""
        async with self._database.connect() as connection:
            await workers.record_worker(connection, worker_id, socket.gethostname(), os.getpid(), __version__)

    async def leave(self, worker_id: UUID) -> None:
        """It ends in order: nobody need look for it."""
        async with self._database.connect() as connection:
            await workers.remove_worker(connection, worker_id)
