"""What users do about their own logins: change the password, see which tokens are valid, revoke them."""

import hashlib
import math
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from kontor.domain.audit import AuditResult
from kontor.domain.errors import ConflictError, InvalidError, NotFoundError, TooManyAttemptsError
from kontor.domain.principals import Principal
from kontor.domain.secrets import Secret
from kontor.domain.tenants import User
from kontor.services.identity.tenants import find_own_tenant
from kontor.services.identity.tokens import make_failure_key
from kontor.services.identity.users import NewUser, hash_password
from kontor.services.security import Passwords, auditing, hash_secret, is_same_hash
from kontor.storage import assistant_grants, login_failures, tokens, users
from kontor.storage.database import Connection, Database


@dataclass(frozen=True, slots=True)
class OwnToken:
    id: UUID
    client_name: str
    scopes: tuple[str, ...]
    issued_at: datetime
    expires_at: datetime
    is_bound: bool
    is_current: bool  # the call was made with it, or with a token of the grant
    is_grant: bool = False  # to an assistant, which renews its tokens


class OwnLogins:
    def __init__(self, database: Database, passwords: Passwords) -> None:
        self._database = database
        self._passwords = passwords

    async def list_tokens(self, principal: Principal, current: str) -> list[OwnToken]:
        """Grants to assistants, then other valid tokens, the newest first. `current` is the token of the call."""
        user_id = _require_id(principal)
        current_hash = hash_secret(current)
        async with self._database.connect(user_id) as connection:
            found = await tokens.list_user_tokens(connection, principal.tenant_id, user_id)
            by_grant = await assistant_grants.list_access_hashes(connection, user_id)
            grants = await assistant_grants.list_user_grants(connection, principal.tenant_id, user_id)
        current_grant = by_grant.get(current_hash)
        granted = [
            OwnToken(
                grant.id,
                client_name,
                grant.scopes,
                grant.created_at,
                grant.expires_at,
                False,
                grant.id == current_grant,
                is_grant=True,
            )
            for grant, client_name in grants
        ]
        return granted + [
            OwnToken(
                _name_token(token.hash),
                client_name,
                token.scopes,
                token.issued_at,
                token.expires_at,
                token.key_thumbprint is not None,
                is_same_hash(token.hash, current_hash),
            )
            for token, client_name in found
            if bytes(token.hash) not in by_grant
        ]

    async def revoke_tokens(self, principal: Principal, password: Secret, ids: Collection[UUID] | None) -> None:
        """Those that are named, or all with that of the call. Ids of tokens that have ended are no error."""
        await self._check_password(principal, password)
        user_id = _require_id(principal)
        async with self._database.transaction(user_id) as connection:
            if ids is None:
                await tokens.delete_user_tokens(connection, principal.tenant_id, user_id)
            else:
                for token, _ in await tokens.list_user_tokens(connection, principal.tenant_id, user_id):
                    if _name_token(token.hash) in ids:
                        await tokens.delete_token(connection, principal.tenant_id, token.hash)
                for grant, _ in await assistant_grants.list_user_grants(connection, principal.tenant_id, user_id):
                    if grant.id in ids:
                        await assistant_grants.delete_grant(connection, grant.id)
            await _record(connection, principal, "token.revoke-own")

    async def change_password(self, principal: Principal, password: Secret, new_password: Secret) -> None:
        """All tokens of the user end with the change, that of the call too. API keys stay."""
        user, password_hash = await self._check_password(principal, password)
        async with self._database.connect(user.id) as connection:
            tenant = await find_own_tenant(connection, principal, principal.tenant_name)
        try:
            new_hash = await hash_password(self._passwords, tenant, NewUser(user.username, new_password))
        except InvalidError as error:
            raise InvalidError(error.reason, "newPassword") from None
        async with self._database.transaction(user.id) as connection:
            if not await users.hold_password(connection, user.tenant_id, user.id, password_hash, for_change=True):
                raise ConflictError("The password was changed meanwhile.")
            await users.update_password(connection, user.tenant_id, user.id, new_hash)
            await tokens.delete_user_tokens(connection, user.tenant_id, user.id)
            await _record(connection, principal, "user.change-password")

    async def _check_password(self, principal: Principal, password: Secret) -> tuple[User, str]:
        """The user with the hash of the password. Whoever has only a token is slowed down when guessing."""
        user_id = _require_id(principal)
        key = make_failure_key("own password", str(user_id))
        async with self._database.connect(user_id) as connection:
            seconds, _ = await login_failures.find_block(connection, key)
            if seconds > 0:
                raise TooManyAttemptsError(math.ceil(seconds))
            user = await users.find_user(connection, principal.tenant_id, user_id)
            found = await users.find_user_login(connection, principal.tenant_id, user.username) if user else None
        if found is None:  # erased or renamed a moment ago
            raise NotFoundError
        if await self._passwords.verify(found[1], password.reveal()):
            async with self._database.connect(user_id) as connection:
                await login_failures.forget_failures(connection, [key])
            return found
        async with self._database.transaction(user_id) as connection:
            await login_failures.count_failure(connection, key)
            await _record(connection, principal, "user.check-password", AuditResult.REFUSED)
        raise InvalidError("is wrong", "password")


def _require_id(principal: Principal) -> UUID:
    assert principal.user_id is not None, "the operation asks for a user's token"
    return principal.user_id


def _name_token(token_hash: bytes) -> UUID:
    """An id that tells nothing about the token, nor about the hash that is stored."""
    return UUID(bytes=hashlib.sha256(b"id of a token" + token_hash).digest()[:16], version=4)


async def _record(
    connection: Connection, principal: Principal, action: str, result: AuditResult = AuditResult.DONE
) -> None:
    actor, subject = auditing.name_actor(principal), f"user {principal.user_pseudonym}"
    await auditing.record(connection, principal.tenant_id, actor, action, subject, result)
