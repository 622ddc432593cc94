"""Permissions of a customer: kept with each access, shown for two years after its end, and withdrawn."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from kontor.domain.errors import NotFoundError
from kontor.domain.permissions import Permission, PermissionChannel, PermissionStatus, check_usable_until, find_channel
from kontor.domain.principals import Principal, user_of
from kontor.domain.providers import Provider
from kontor.services.accesses.deletion import delete_access_data
from kontor.services.accesses.permission_uses import PermissionUses
from kontor.services.accesses.requests import AccessRequest
from kontor.services.accesses.revocations import Revocations
from kontor.services.banks import Providers
from kontor.services.runtime import Clock
from kontor.services.security import auditing
from kontor.storage import accesses, permissions
from kontor.storage.database import Connection, Database
from kontor.storage.permissions import NewPermission
from kontor.storage.retries import retry_conflicts


@dataclass(frozen=True, slots=True)
class PermissionView:
    """As it stands today."""

    permission: Permission
    channel: PermissionChannel
    status: PermissionStatus


class Permissions:
    def __init__(self, database: Database, providers: Providers, clock: Clock, revocations: Revocations) -> None:
        self.revocations = revocations
        self._database = database
        self._providers = providers
        self._clock = clock
        self.uses = PermissionUses(database)

    # Reading

    async def list_permissions(self, principal: Principal) -> list[PermissionView]:
        """Those of two years, the oldest first."""
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await permissions.add_missing(connection, user_id)
            await permissions.end_orphaned(connection, user_id)
            return [self._view(found) for found in await permissions.list_permissions(connection, user_id)]

    async def read_permission(self, principal: Principal, permission_id: UUID) -> PermissionView:
        async with self._database.connect(principal.user_id) as connection:
            found = await permissions.find_permission(connection, user_of(principal), permission_id)
        return self._view(_require(found))

    # With an access

    def check_usable_until(self, usable_until: date | None, field: str) -> None:
        """InvalidError for a day that is over."""
        check_usable_until(usable_until, self._clock.today(), field)

    async def keep(
        self,
        connection: Connection,
        user_id: UUID,
        access_id: str,
        provider: Provider,
        request: AccessRequest,
        caller: str | None,
    ) -> None:
        """An access is added or changed, in the transaction of the caller, who has locked it."""
        channel = find_channel(provider)
        new = NewPermission(access_id, channel, request.purpose, request.usable_until, caller)
        await permissions.open_permission(connection, user_id, new)

    # Ending

    async def withdraw(self, principal: Principal, permission_id: UUID) -> Permission:
        """Its access is deleted with all its data, then the bank is told. One that has ended is answered as it is."""
        user_id = user_of(principal)
        await self._end(principal, permission_id)
        await self.revocations.revoke(user_id, permission_id)
        await self.revocations.wait(user_id, permission_id)
        async with self._database.connect(principal.user_id) as connection:
            return _require(await permissions.find_permission(connection, user_id, permission_id))

    @retry_conflicts
    async def _end(self, principal: Principal, permission_id: UUID) -> None:
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            found = _require(await permissions.find_permission(connection, user_id, permission_id))
            await accesses.lock_access(connection, user_id, found.access_id)
            # Meanwhile it may have ended, and another access have the id.
            current = _require(await permissions.find_permission(connection, user_id, permission_id))
            if current.is_open:
                await delete_access_data(connection, user_id, current.access_id)
                ended = _require(await permissions.find_permission(connection, user_id, permission_id))
                await self._record_withdrawal(connection, principal, ended)

    async def delete_access(self, principal: Principal, access_id: str) -> None:
        await self._delete(principal, access_id)
        await self.revocations.revoke_all_of_user(user_of(principal))

    async def delete_all(self, principal: Principal) -> None:
        await self._delete_all(user_of(principal), principal)
        await self.revocations.revoke_all_of_user(user_of(principal))

    async def end_all(self, user_id: UUID) -> None:
        """Before the user is erased, and with it the key that opens what banks are told by."""
        await self._delete_all(user_id, None)
        await self.revocations.revoke_all_of_user(user_id)

    @retry_conflicts
    async def _delete(self, principal: Principal, access_id: str) -> None:
        async with self._database.transaction(principal.user_id) as connection:
            if not await delete_access_data(connection, user_of(principal), access_id):
                raise NotFoundError
            await self._record(connection, principal, [access_id])

    @retry_conflicts
    async def _delete_all(self, user_id: UUID, principal: Principal | None) -> None:
        async with self._database.transaction(user_id) as connection:
            found = sorted(access.id for access in await accesses.list_accesses(connection, user_id))
            locked = [access_id for access_id in found if await accesses.lock_access(connection, user_id, access_id)]
            for access_id in locked:
                await delete_access_data(connection, user_id, access_id)
            if principal is not None:
                await self._record(connection, principal, locked)

    # Parts

    def _view(self, permission: Permission) -> PermissionView:
        channel = permission.channel or find_channel(self._providers.find(permission.provider_id))
        return PermissionView(permission, channel, permission.find_status(self._clock.today()))

    @staticmethod
    async def _record_withdrawal(connection: Connection, principal: Principal, ended: Permission) -> None:
        """With the counts, so that the audit trail is a second witness of the receipt."""
        erased = ended.erased
        assert erased is not None, "it has ended"
        subject = f"user {principal.user_pseudonym} permission {ended.id} access {ended.access_id}"
        counts = f"{erased.products} products, {erased.transactions} transactions, {erased.credentials} credentials"
        actor = auditing.name_actor(principal)
        await auditing.record(connection, principal.tenant_id, actor, "permission.withdraw", f"{subject}: {counts}")

    @staticmethod
    async def _record(connection: Connection, principal: Principal, access_ids: Iterable[str]) -> None:
        """At the end of the transaction."""
        actor = auditing.name_actor(principal)
        for access_id in access_ids:
            subject = f"user {principal.user_pseudonym} access {access_id}"
            await auditing.record(connection, principal.tenant_id, actor, "access.delete", subject)


def _require(permission: Permission | None) -> Permission:
    if permission is None:
        raise NotFoundError
    return permission
