"""What operators look at one by one, and what they may do: retry, pause and resume. No bank data is read."""

from uuid import UUID

from kontor.domain.errors import ConflictError, NotFoundError, TooManyCallsError
from kontor.domain.operator_details import AccessDetail, AccessOwner, AccessReason, JobDetail
from kontor.domain.operators import Viewer
from kontor.domain.refreshes import find_free_at
from kontor.services.accesses import Refreshing, request_fetch
from kontor.services.runtime import Clock
from kontor.services.security import auditing
from kontor.storage import accesses, fetches, ops, ops_details, refreshes
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts

WHY_NOT = {
    AccessReason.USER_INACTIVE: "The user is deactivated.",
    AccessReason.LOGIN_REFUSED: "The bank refused the login. The user must enter it again.",
    AccessReason.SCA_REQUIRED: "The bank requires the user to authenticate.",
    AccessReason.NOT_REFRESHED: "The access is not refreshed without its user.",
}


class Interventions:
    def __init__(self, database: Database, clock: Clock, refreshing: Refreshing) -> None:
        self._database = database
        self._clock = clock
        self._refreshing = refreshing

    # Accesses

    async def read_access(self, user_id: UUID, access_id: str) -> AccessDetail:
        """One whose user has not chosen accounts yet does not exist for operators."""
        async with self._database.transaction(user_id) as connection:
            return await self._read(connection, user_id, access_id)

    @retry_conflicts
    async def retry_access(self, viewer: Viewer, user_id: UUID, access_id: str) -> AccessDetail:
        """Fetch as soon as a worker is free, as if the time had come. A fetch that waits or runs is enough.

        Within the budget of calls without the customer, also while an operator has paused the access.
        """
        async with self._database.transaction(user_id) as connection:
            owner = await self._lock(connection, user_id, access_id)
            detail = await self._read(connection, user_id, access_id)
            if await fetches.list_open_fetches(connection, user_id, access_id):
                return detail
            self._refuse_retry(detail)
            if detail.free_at is not None:
                wait = detail.free_at - await self._clock.read(connection)
                message = "The bank was called as often in 24 hours as it may be without the customer."
                raise TooManyCallsError(message, max(1, int(wait.total_seconds()) + 1))
            await request_fetch(connection, user_id, access_id, owner.lease_key, is_attended=False, all_history=False)
            await self._record(connection, viewer, owner, "access.retry", access_id)
            return await self._read(connection, user_id, access_id)

    @retry_conflicts
    async def pause_access(self, viewer: Viewer, user_id: UUID, access_id: str) -> AccessDetail:
        """From now on it is not refreshed in the background, whatever the bank or the user do."""
        async with self._database.transaction(user_id) as connection:
            owner = await self._lock(connection, user_id, access_id)
            if await self._refreshing.pause_by_operator(connection, user_id, access_id):
                await self._record(connection, viewer, owner, "access.pause", access_id)
            return await self._read(connection, user_id, access_id)

    @retry_conflicts
    async def resume_access(self, viewer: Viewer, user_id: UUID, access_id: str) -> AccessDetail:
        async with self._database.transaction(user_id) as connection:
            owner = await self._lock(connection, user_id, access_id)
            if await self._refreshing.resume_by_operator(connection, user_id, access_id):
                await self._record(connection, viewer, owner, "access.resume", access_id)
            return await self._read(connection, user_id, access_id)

    # Jobs

    async def read_job(self, job_id: int) -> JobDetail:
        """One that waits, is being run, or failed and is held. What is done has left the queue."""
        async with self._database.connect() as connection:
            job = await ops_details.find_job(connection, job_id)
        if job is None:
            raise NotFoundError
        return job

    async def retry_job(self, viewer: Viewer, job_id: int) -> JobDetail:
        """Whether there is still anything to do is decided by the rows that the job points at, as always."""
        try:
            async with self._database.transaction() as connection:
                is_retried = await ops_details.retry_job(connection, job_id)
                job = await ops_details.find_job(connection, job_id)
                if job is None:
                    raise NotFoundError
                if not is_retried:
                    raise ConflictError(f"The job is {job.status}: only one that failed and is held can be retried.")
                await auditing.record(connection, None, viewer.actor, "job.retry", f"job {job_id} {job.entrypoint}")
        except ops_details.DuplicateJobError:
            raise ConflictError("A job for the same object waits or is being run already.") from None
        return job

    # Parts

    async def _read(self, connection: Connection, user_id: UUID, access_id: str) -> AccessDetail:
        now = await self._clock.read(connection)
        row = await ops.find_access(connection, user_id, access_id, now)
        owner = await ops_details.find_owner(connection, user_id, access_id)
        if row is None or owner is None:
            raise NotFoundError
        calls = await refreshes.list_calls(connection, user_id, access_id, now)
        attempts = await ops_details.list_attempts(connection, user_id, access_id)
        return AccessDetail(row, owner, attempts, len(calls), find_free_at(calls, now))

    async def _lock(self, connection: Connection, user_id: UUID, access_id: str) -> AccessOwner:
        await accesses.lock_access(connection, user_id, access_id)
        owner = await ops_details.find_owner(connection, user_id, access_id)
        if owner is None:
            raise NotFoundError
        return owner

    @staticmethod
    def _refuse_retry(detail: AccessDetail) -> None:
        row, owner = detail.row, detail.owner
        reason = None
        if not owner.is_active:
            reason = AccessReason.USER_INACTIVE
        elif row.pause is not None:
            reason = AccessReason.LOGIN_REFUSED if row.pause == "CREDENTIALS" else AccessReason.SCA_REQUIRED
        elif not (row.is_synced and owner.has_credentials):
            reason = AccessReason.NOT_REFRESHED
        if reason is not None:
            raise ConflictError(WHY_NOT[reason])

    @staticmethod
    async def _record(connection: Connection, viewer: Viewer, owner: AccessOwner, action: str, access_id: str) -> None:
        subject = f"user {owner.pseudonym} access {access_id}"
        await auditing.record(connection, owner.tenant_id, viewer.actor, action, subject)
