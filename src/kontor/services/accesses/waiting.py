"""Waiting for fetches that a caller has asked for."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from kontor.domain.accesses import AccessStatus
from kontor.domain.errors import BusyError
from kontor.storage import fetches
from kontor.storage.database import Database
from kontor.storage.fetches import FetchState

FIRST_POLL_SECONDS, LAST_POLL_SECONDS = 0.02, 0.25


@dataclass(frozen=True, slots=True)
class StartedFetch:
    """A fetch to wait for: until the header data is there, or until its end."""

    fetch_id: UUID
    until_end: bool


async def wait_for_fetches(database: Database, user_id: UUID, started: Sequence[StartedFetch], seconds: float) -> None:
    """Polling is the truth; the wait grows, so that a slow bank costs little."""
    waiting = [fetch.fetch_id for fetch in started]
    until_end = {fetch.fetch_id for fetch in started if fetch.until_end}
    end = time.monotonic() + seconds
    pause = FIRST_POLL_SECONDS
    while waiting:
        async with database.connect(user_id) as connection:
            states = await fetches.find_states(connection, user_id, waiting)
        waiting = [
            fetch_id
            for fetch_id in waiting
            if fetch_id in states and _is_waiting(*states[fetch_id], fetch_id in until_end)
        ]
        if not waiting:
            return
        if time.monotonic() > end:
            async with database.connect(user_id) as connection:
                blocked = await fetches.list_blocked(connection, user_id, waiting)
            if blocked == set(waiting):
                raise BusyError("Another operation is using these credentials.")
            raise TimeoutError
        await asyncio.sleep(pause)
        pause = min(LAST_POLL_SECONDS, pause * 1.5)


def _is_waiting(fetch_state: str, access_status: str, until_end: bool) -> bool:
    """A first fetch is waited for until the header data is there, a refresh and new credentials until the end."""
    if not FetchState(fetch_state).is_open:
        return False
    return until_end or access_status != AccessStatus.HEADERS
