"""Users: created, changed, deactivated, reactivated and erased by a tenant's admin client or the operator."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import structlog

from kontor.domain.errors import ConflictError, InvalidError, NotAllowedNowError, NotFoundError, UnavailableError
from kontor.domain.principals import Principal
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind, Tenant, User, check_password, check_text, check_username
from kontor.services.accesses import Accesses, Refreshing
from kontor.services.identity.tenants import find_own_tenant
from kontor.services.security import Passwords, auditing
from kontor.storage import deliveries, erased_payments, keys, merchants, tenants, tokens, users
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database
from kontor.storage.erasure_log import ERASED, KEPT, ErasureLog
from kontor.storage.keys import SealingKey
from kontor.storage.retries import retry_conflicts

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class NewUser:
    username: str
    password: Secret
    first_name: str | None = None
    last_name: str | None = None


class Users:
    def __init__(
        self,
        database: Database,
        master: SealingKey,
        passwords: Passwords,
        refreshing: Refreshing,
        accesses: Accesses,
        erasures: ErasureLog,
    ) -> None:
        self._database = database
        self._master = master
        self._passwords = passwords
        self._refreshing = refreshing
        self._accesses = accesses
        self._erasures = erasures

    async def list_users(self, principal: Principal, tenant_name: str, *, include_inactive: bool) -> list[User]:
        async with self._database.connect(principal.user_id) as connection:
            tenant = await find_own_tenant(connection, principal, tenant_name)
            return await users.list_users(connection, tenant.id, include_inactive=include_inactive)

    async def read_user(self, principal: Principal, tenant_name: str, user_id: UUID) -> User:
        """An active user of the token's tenant."""
        if tenant_name != principal.tenant_name:
            raise NotFoundError
        async with self._database.connect(principal.user_id) as connection:
            user = await users.find_user(connection, principal.tenant_id, user_id)
        if user is None or not user.is_active:
            raise NotFoundError
        return user

    async def read_any_user(self, principal: Principal, tenant_name: str, user_id: UUID) -> User:
        """A user of the token's tenant, deactivated or not."""
        async with self._database.connect(principal.user_id) as connection:
            await find_own_tenant(connection, principal, tenant_name)
            return await _require_user(connection, principal.tenant_id, user_id)

    async def create_user(self, principal: Principal, tenant_name: str, new: NewUser) -> User:
        async with self._database.connect(principal.user_id) as connection:
            tenant = await find_own_tenant(connection, principal, tenant_name)
            client = await tenants.find_client(connection, tenant_name, principal.client_name)
        through = principal.client_id if client is not None and client.kind is ClientKind.USER else None
        return await self._create(tenant, new, auditing.name_actor(principal), through)

    async def create_user_by_operator(self, tenant_name: str, new: NewUser) -> User:
        async with self._database.connect() as connection:
            tenant = await tenants.find_tenant(connection, tenant_name)
        if tenant is None:
            raise NotFoundError(f"There is no tenant named {tenant_name}.")
        return await self._create(tenant, new, auditing.OPERATOR, None)

    async def list_users_by_operator(self, tenant_name: str) -> list[User]:
        async with self._database.connect() as connection:
            tenant = await tenants.find_tenant(connection, tenant_name)
            if tenant is None:
                raise NotFoundError(f"There is no tenant named {tenant_name}.")
            return await users.list_users(connection, tenant.id, include_inactive=True)

    async def find_user_by_operator(self, tenant_name: str, username: str) -> User:
        found = await self.list_users_by_operator(tenant_name)
        user = next((user for user in found if user.username == username), None)
        if user is None:
            raise NotFoundError(f"The tenant {tenant_name} has no user {username}.")
        return user

    async def rename_user(
        self, principal: Principal, user: User, username: str, first_name: str | None, last_name: str | None
    ) -> None:
        check_username(username)
        _check_names(first_name, last_name)
        async with self._database.transaction(principal.user_id) as connection:
            await users.rename_user(connection, principal.tenant_id, user.id, username)
            await users.update_names(connection, principal.tenant_id, user.id, first_name, last_name)
            await self._record(connection, principal, "user.change", user)

    async def deactivate_user(self, principal: Principal, user: User) -> None:
        """The user's tokens die with the same commit."""
        async with self._database.transaction(user.id) as connection:
            await users.set_active(connection, principal.tenant_id, user.id, is_active=False)
            await tokens.delete_user_tokens(connection, principal.tenant_id, user.id)
            await self._refreshing.stop_user(connection, user.id)
            await self._record(connection, principal, "user.deactivate", user)

    async def reactivate_user(self, principal: Principal, user: User, new: NewUser) -> None:
        if new.username != user.username:
            raise InvalidError("must be the user's own", "username")
        _check_names(new.first_name, new.last_name)
        async with self._database.connect(principal.user_id) as connection:
            tenant = await find_own_tenant(connection, principal, principal.tenant_name)
        password_hash = await hash_password(self._passwords, tenant, new)
        async with self._database.transaction(user.id) as connection:
            current = await _require_user(connection, principal.tenant_id, user.id)
            if current.is_active:
                raise ConflictError("The user is active.")
            await users.update_password(connection, principal.tenant_id, user.id, password_hash)
            await users.update_names(connection, principal.tenant_id, user.id, new.first_name, new.last_name)
            # One that was issued in the very moment of the deactivation must not come back to life.
            await tokens.delete_user_tokens(connection, principal.tenant_id, user.id)
            await users.set_active(connection, principal.tenant_id, user.id, is_active=True)
            await self._refreshing.resume_user(connection, user.id)
            await self._record(connection, principal, "user.reactivate", user)
            await self._log(user, KEPT)

    @retry_conflicts
    async def erase_user(self, principal: Principal, user: User) -> None:
        async with self._database.connect(user.id) as connection:
            if (await _require_user(connection, principal.tenant_id, user.id)).is_active:
                raise NotAllowedNowError("Deactivate the user before erasing it.")
        await self._accesses.permissions.end_all(user.id)
        async with self._database.transaction(user.id) as connection:
            current = await _require_user(connection, principal.tenant_id, user.id)
            if current.is_active:
                raise NotAllowedNowError("Deactivate the user before erasing it.")
            await self._delete(connection, user, auditing.name_actor(principal))

    async def erase_own(self, principal: Principal, confirmed_name: str) -> None:
        """A user goes, at its own wish: as deactivated and erased, in one step. The name must be repeated exactly."""
        assert principal.user_id is not None, "the operation asks for a user's token"
        async with self._database.connect(principal.user_id) as connection:
            user = await _require_user(connection, principal.tenant_id, principal.user_id)
        if confirmed_name != user.username:
            raise InvalidError("must be the user's own username, exactly", "confirm")
        await self._erase_active(user, auditing.name_actor(principal))

    async def erase_user_by_operator(self, tenant_name: str, username: str) -> None:
        """Deactivated or not."""
        await self._erase_active(await self.find_user_by_operator(tenant_name, username), auditing.OPERATOR)

    async def erase_again(self, paths: list[Path]) -> tuple[int, int]:
        """Users whom the log names: a restored backup has brought them back. Also, how many lines name nobody here."""
        erased, foreign = self._erasures.read_erased(paths)
        count = 0
        async with self._database.connect() as connection:
            known = await tenants.list_tenants(connection)
        for tenant in known:
            for user in await self.list_users_by_operator(tenant.name):
                if self._erasures.name_user(tenant.id, user.id) in erased:
                    await self._erase_active(user, auditing.OPERATOR)
                    count += 1
        return count, foreign

    # Parts

    async def _log(self, user: User, event: str) -> None:
        """The last step of a transaction: what cannot be logged is not done."""
        try:
            await asyncio.to_thread(self._erasures.append, user.tenant_id, user.id, event)
        except OSError as error:
            log.error("erasure.log_failed", reason=error.strerror)
            raise UnavailableError("The log of erasures cannot be written; repeat the call later.", 60) from None

    async def _erase_active(self, user: User, actor: str) -> None:
        """First the user is out, with a commit of its own; a fetch that is under way is waited for, then all goes."""
        async with self._database.transaction(user.id) as connection:
            await users.set_active(connection, user.tenant_id, user.id, is_active=False)
            await tokens.delete_user_tokens(connection, user.tenant_id, user.id)
            await self._refreshing.stop_user(connection, user.id)
        await self._accesses.permissions.end_all(user.id)
        await self._erase(user, actor)

    @retry_conflicts
    async def _erase(self, user: User, actor: str) -> None:
        async with self._database.transaction(user.id) as connection:
            await self._delete(connection, user, actor)

    async def _delete(self, connection: Connection, user: User, actor: str) -> None:
        await erased_payments.anonymise_payments(connection, user.id)
        await users.lock_accesses(connection, user.id)
        await lock_data(connection, user.id)
        await deliveries.forget_user(connection, user.id)
        await merchants.forget_open(connection, user.tenant_id)
        await users.delete_user(connection, user.tenant_id, user.id)
        await auditing.record(connection, user.tenant_id, actor, "user.erase", f"user {user.pseudonym}")
        await self._log(user, ERASED)

    async def _create(self, tenant: Tenant, new: NewUser, actor: str, through_client: UUID | None) -> User:
        check_username(new.username)
        _check_names(new.first_name, new.last_name)
        password_hash = await hash_password(self._passwords, tenant, new)
        user = User(uuid4(), tenant.id, new.username, True, uuid4(), datetime.now(UTC))
        async with self._database.transaction() as connection:
            wrapping_id, data_key = await keys.make_data_key(connection, self._master, tenant.id, user.id)
            await users.insert_user(
                connection, user, password_hash, new.first_name, new.last_name, data_key, wrapping_id
            )
            for role_id in await tenants.list_default_roles(connection, tenant.id, through_client):
                await tenants.assign_role(connection, role_id, user.id)
            await auditing.record(connection, tenant.id, actor, "user.create", f"user {user.pseudonym}")
        return user

    @staticmethod
    async def _record(connection: Connection, principal: Principal, action: str, user: User) -> None:
        actor = auditing.name_actor(principal)
        await auditing.record(connection, principal.tenant_id, actor, action, f"user {user.pseudonym}")


async def hash_password(passwords: Passwords, tenant: Tenant, new: NewUser) -> str:
    """InvalidError for one that the tenant does not accept."""
    password = check_password(new.password.reveal(), tenant.min_password_length)
    names = (tenant.name, tenant.description, new.username, new.first_name, new.last_name)
    await passwords.check_strength(password, " ".join(name for name in names if name).split())
    return await passwords.hash(password)


async def _require_user(connection: Connection, tenant_id: UUID, user_id: UUID) -> User:
    user = await users.find_user(connection, tenant_id, user_id)
    if user is None:
        raise NotFoundError
    return user


def _check_names(first_name: str | None, last_name: str | None) -> None:
    for field, text in (("firstname", first_name), ("lastname", last_name)):
        if text is not None:
            check_text(text, field, 255)
