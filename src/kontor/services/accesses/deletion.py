"""Deleting an access with all its data."""

from datetime import UTC, datetime
from uuid import UUID

from kontor.domain.permissions import PermissionStatus
from kontor.storage import accesses, alerts, analyses, contracts, fetches, permissions, queue, tags, transaction_edits
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts


async def delete_access_data(
    connection: Connection,
    user_id: UUID,
    access_id: str,
    ended_as: PermissionStatus = PermissionStatus.WITHDRAWN,
) -> bool:
    """The access with all its data, its credentials, and its jobs in the queue. False when there is none.

    Its permission ends; one whose accounts nobody has chosen leaves no history.
    """
    access = await accesses.lock_access(connection, user_id, access_id)
    if access is None:
        return False
    if access.is_confirmed:
        await permissions.add_missing_of(connection, user_id, access_id)
        await permissions.end_permission(connection, user_id, access_id, ended_as)
    else:
        await permissions.drop_permission(connection, user_id, access_id)
    await lock_data(connection, user_id)
    await queue.remove_fetch_jobs(connection, await fetches.list_fetches(connection, user_id, access_id))
    await analyses.delete_answers(connection, user_id)
    await alerts.delete_of_access(connection, user_id, access_id)
    is_deleted = await accesses.delete_access(connection, user_id, access_id)
    await tags.forget_own_accounts(connection, user_id)
    await transaction_edits.delete_empty_edits(connection, user_id)
    await contracts.delete_empty(connection, user_id)
    return is_deleted


@retry_conflicts
async def delete_expired(database: Database, user_id: UUID, access_id: str) -> None:
    """An access whose data has reached its end, unless its user keeps it meanwhile."""
    async with database.transaction(user_id) as connection:
        access = await accesses.lock_access(connection, user_id, access_id)
        if access is not None and access.is_over(datetime.now(UTC)):
            await delete_access_data(connection, user_id, access_id, PermissionStatus.EXPIRED)
