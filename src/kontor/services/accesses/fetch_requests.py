"""The one place where somebody's wish for a fetch becomes its row and its job, in the caller's transaction.

Background refresh makes its fetches by slots, many at once: see `refreshing`.
"""

from uuid import UUID, uuid4

from kontor.services.runtime import correlation_id
from kontor.storage import fetches, queue
from kontor.storage.database import Connection
from kontor.storage.fetches import Fetch, FetchState


async def request_fetch(
    connection: Connection,
    user_id: UUID,
    access_id: str,
    lease_key: bytes | None,
    *,
    is_attended: bool,
    all_history: bool,
    resume_state: bytes | None = None,
) -> UUID | None:
    """Its id, or None when the access has an open fetch already."""
    fetch = Fetch(
        id=uuid4(),
        user_id=user_id,
        access_id=access_id,
        state=FetchState.QUEUED,
        is_attended=is_attended,
        all_history=all_history,
        lease_key=lease_key,
        correlation_id=correlation_id.get(),
        resume_state=resume_state,
    )
    if not await fetches.insert_fetch(connection, fetch):
        return None
    await queue.enqueue_fetch(connection, fetch.id)
    return fetch.id
