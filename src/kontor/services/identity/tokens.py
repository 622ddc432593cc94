"""Tokens: issued for clients and users, checked on every request, introspected, revoked."""

import hashlib
import math
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from kontor.domain.audit import AuditResult
from kontor.domain.errors import ConflictError, KontorError, NotFoundError, TooManyAttemptsError
from kontor.domain.login_addresses import shorten_address
from kontor.domain.principals import Principal
from kontor.domain.scopes import ALL_SCOPES, add_included_scopes
from kontor.domain.secrets import Secret
from kontor.domain.tenants import Client, Grant, Tenant, User
from kontor.services.security import Passwords, ProofChecks, SentProof, auditing, hash_secret, is_same_hash
from kontor.storage import login_addresses, login_failures, tenants, tokens, users
from kontor.storage.database import Connection, Database
from kontor.storage.keys import SealingKey
from kontor.storage.tokens import ApiKey, StoredToken

TOKEN_SECONDS = 7200
TOKEN_PREFIX = "kontor_at_"  # noqa: S105 (lets secret scanners recognise a leaked token)
API_KEY_PREFIX = "kontor_key_"
WRONG_LOGIN = "The user is unknown or the password is wrong."
_NO_SECRET = hash_secret("no client has this secret")


class GrantError(KontorError):
    """A token request that is refused, with the error code of RFC 6749."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error


@dataclass(frozen=True, slots=True)
class ClientLogin:
    """What Basic authentication carried, and from where."""

    username: str
    secret: Secret
    address: str


@dataclass(frozen=True, slots=True)
class TokenRequest:
    grant_type: str
    scope: str | None = None
    username: str | None = None
    password: Secret | None = None
    proof: SentProof | None = None  # binds the token to the key that made it
    customer_address: str | None = None  # as the client tells it; else the user counts as being where the client is


@dataclass(frozen=True, slots=True)
class IssuedToken:
    token: Secret
    tenant: Tenant
    client: Client
    user: User | None
    scopes: tuple[str, ...]
    issued_at: datetime
    expires_at: datetime
    is_bound: bool


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What introspection tells about a valid token."""

    scopes: tuple[str, ...]
    client_username: str
    tenant_name: str
    issued_at: datetime
    expires_at: datetime
    user_id: UUID | None
    username: str | None
    key_thumbprint: bytes | None


class Tokens:
    def __init__(self, database: Database, passwords: Passwords, digests: SealingKey, *, needs_nonce: bool) -> None:
        self._database = database
        self._passwords = passwords
        self._digests = digests
        self._proofs = ProofChecks(database, digests, needs_nonce=needs_nonce)

    async def authenticate(self, token: str) -> Principal | None:
        """The bearer of a token, or None when it is unknown, expired, revoked, or its user is deactivated."""
        token_hash = hash_secret(token)
        return await self._database.identify(lambda connection: tokens.bind_principal(connection, token_hash))

    async def issue_token(self, login: ClientLogin, request: TokenRequest) -> IssuedToken:
        client = await self.authenticate_client(login)
        try:
            grant = Grant(request.grant_type)
        except ValueError:
            raise GrantError("unsupported_grant_type", "Use client_credentials or password.") from None
        if grant not in client.grants:
            raise GrantError("unauthorized_client", f"This client may not use the grant {grant}.")
        thumbprint = await self._check_proof(client, request.proof)
        user = password_hash = None
        if grant is Grant.PASSWORD:
            address = request.customer_address or login.address
            user, password_hash = await self.authenticate_user(client, request, address)
        return await self._issue(client, user, request.scope, "token.issue", thumbprint, password_hash)

    async def issue_token_for_key(self, api_key: Secret, address: str, proof: SentProof | None = None) -> IssuedToken:
        """The classic token: an API key stands for a client and a user."""
        failure_key = make_failure_key("api key", address)
        async with self._database.connect() as connection:
            # A right key is served even from an address that guesses: nobody can guess 256 bits, and many share one.
            found = await tokens.find_api_key(connection, hash_secret(api_key.reveal()))
            if found is None:
                seconds, _ = await login_failures.find_block(connection, failure_key)
                if seconds > 0:
                    raise TooManyAttemptsError(math.ceil(seconds))
        if found is None:
            await self._refuse_login(None, failure_key, "token.issue-by-key", "unknown API key")
            raise GrantError("invalid_client", "The API key is unknown.")
        async with self._database.connect() as connection:
            user_id, _, tenant_name, client_name = found
            client = await tenants.find_client(connection, tenant_name, client_name)
            user = await users.find_user(connection, client.tenant_id, user_id) if client else None
        if client is None or user is None:  # deleted a moment ago
            raise GrantError("invalid_client", "The API key is unknown.")
        thumbprint = await self._check_proof(client, proof)
        return await self._issue(client, user, None, "token.issue-by-key", thumbprint)

    async def check_proof(self, principal: Principal, token: str, proof: SentProof) -> None:
        """ProofError unless whoever sent the token has the key that it is bound to."""
        await self._proofs.check(proof, token, principal.key_thumbprint)

    async def authenticate_client(self, login: ClientLogin) -> Client:
        key = make_failure_key("client", login.username, login.address)
        tenant_name, _, client_name = login.username.partition("/")
        async with self._database.connect() as connection:
            seconds, _ = await login_failures.find_block(connection, key)
            found = (
                await tenants.find_client_login(connection, tenant_name, client_name)
                if _is_text(login.username)
                else None
            )
        stored = found[1] if found else _NO_SECRET
        if is_same_hash(stored, hash_secret(login.secret.reveal())) and found is not None:
            async with self._database.connect() as connection:
                await login_failures.forget_failures(connection, [key])
            return found[0]
        if seconds > 0:  # a right secret is served all the same: nobody can guess 256 bits
            raise TooManyAttemptsError(math.ceil(seconds))
        subject = f"client {found[0].username}" if found else "unknown client"
        await self._refuse_login(found[0] if found else None, key, "token.client-login", subject)
        raise GrantError("invalid_client", "The client is unknown or its secret is wrong.")

    async def introspect_token(self, login: ClientLogin, token: str) -> TokenFacts | None:
        """Facts about a valid token of the caller's tenant; None for everything else."""
        caller = await self.authenticate_client(login)
        async with self._database.connect() as connection:
            stored = await tokens.find_token(connection, caller.tenant_id, hash_secret(token))
            if stored is None:
                return None
            clients = await tenants.list_clients(connection, caller.tenant_id)
            user = stored.user_id and await users.find_user(connection, caller.tenant_id, stored.user_id)
        client = next(client for client in clients if client.id == stored.client_id)
        return TokenFacts(
            stored.scopes,
            client.username,
            client.tenant_name,
            stored.issued_at,
            stored.expires_at,
            stored.user_id,
            user.username if user else None,
            stored.key_thumbprint,
        )

    async def revoke_token(self, login: ClientLogin | None, token: str) -> None:
        """Takes effect only for a client that proves itself, and only on tokens of its own tenant. Never complains."""
        if login is None:
            await self._record_refusal("unreadable client login")
            return
        try:
            client = await self.authenticate_client(login)
        except (GrantError, TooManyAttemptsError):
            await self._record_refusal("wrong client login")
            return
        async with self._database.transaction() as connection:
            was_there = await tokens.delete_token(connection, client.tenant_id, hash_secret(token))
            result = AuditResult.DONE if was_there else AuditResult.REFUSED
            actor = f"client {client.username}"
            await auditing.record(connection, client.tenant_id, actor, "token.revoke", "token", result)

    async def _record_refusal(self, reason: str) -> None:
        async with self._database.transaction() as connection:
            await auditing.record(connection, None, auditing.ANONYMOUS, "token.revoke", reason, AuditResult.REFUSED)

    # API keys

    async def create_api_key(
        self, tenant_name: str, client_name: str, username: str, description: str | None
    ) -> Secret:
        """An API key for a user at a client, shown now and never again."""
        key = Secret(API_KEY_PREFIX + secrets.token_urlsafe(32))
        async with self._database.transaction() as connection:
            client = await tenants.find_client(connection, tenant_name, client_name)
            if client is None:
                raise NotFoundError(f"There is no client {tenant_name}/{client_name}.")
            found = await users.find_user_login(connection, client.tenant_id, username)
            if found is None or not found[0].is_active:
                raise NotFoundError(f"The tenant {tenant_name} has no active user named {username}.")
            if Grant.PASSWORD not in client.grants:
                raise ConflictError(f"The client {client.username} is not for users.")
            await tokens.insert_api_key(
                connection, uuid4(), hash_secret(key.reveal()), client.id, found[0].id, description
            )
            await auditing.record(
                connection, client.tenant_id, auditing.OPERATOR, "api-key.create", f"user {found[0].pseudonym}"
            )
        return key

    async def list_api_keys(self, tenant_name: str) -> list[ApiKey]:
        async with self._database.connect() as connection:
            tenant = await tenants.find_tenant(connection, tenant_name)
            if tenant is None:
                raise NotFoundError(f"There is no tenant named {tenant_name}.")
            return await tokens.list_api_keys(connection, tenant.id)

    async def delete_api_key(self, tenant_name: str, key_id: UUID) -> None:
        async with self._database.transaction() as connection:
            tenant = await tenants.find_tenant(connection, tenant_name)
            if tenant is None or not await tokens.delete_api_key(connection, tenant.id, key_id):
                raise NotFoundError(f"The tenant {tenant_name} has no such API key.")
            await auditing.record(connection, tenant.id, auditing.OPERATOR, "api-key.delete", f"key {key_id}")

    # Parts

    async def _check_proof(self, client: Client, proof: SentProof | None) -> bytes | None:
        """The thumbprint of the key that the token shall be bound to."""
        if proof is not None:
            return await self._proofs.check(proof)
        if client.requires_dpop:
            raise GrantError("invalid_dpop_proof", "This client must send the header DPoP.")
        return None

    async def authenticate_user(self, client: Client, request: TokenRequest, address: str) -> tuple[User, str]:
        """The user with the hash of the password."""
        if not request.username or request.password is None:
            raise GrantError("invalid_request", "The password grant needs username and password.")
        place = shorten_address(address)
        key = make_failure_key("user", str(client.tenant_id), request.username, place)
        name_key = make_failure_key("user at all addresses", str(client.tenant_id), request.username)
        async with self._database.connect() as connection:
            seconds, failures = await login_failures.find_block(connection, key)
            seconds = max(seconds, (await login_failures.find_block(connection, name_key))[0])
            found = (
                await users.find_user_login(connection, client.tenant_id, request.username)
                if _is_text(request.username)
                else None
            )
            if seconds > 0 and not (found and await self._may_try(connection, found[0], place, failures)):
                raise TooManyAttemptsError(math.ceil(seconds))
        is_right = await self._passwords.verify(found[1] if found else None, request.password.reveal())
        if found is not None and is_right and found[0].is_active:
            async with self._database.connect() as connection:
                await login_failures.forget_failures(connection, [key])
                await login_addresses.remember(connection, found[0].id, self._digest(found[0], place))
            return found
        subject = f"user {found[0].pseudonym}" if found else "unknown user"
        await self._refuse_login(client, key, "token.user-login", subject, name_key)
        if seconds > 0:  # as it would be told without a known address
            raise TooManyAttemptsError(math.ceil(seconds))
        raise GrantError("invalid_grant", WRONG_LOGIN)

    async def _may_try(self, connection: Connection, user: User, place: str, failures: int) -> bool:
        """Whoever guesses must not keep the user out: at a known address the password is looked at."""
        if failures >= login_failures.KNOWN_FREE_FAILURES:
            return False
        return await login_addresses.is_known(connection, user.id, self._digest(user, place))

    def _digest(self, user: User, place: str) -> bytes:
        """Of one user only: that two use the same address is not to be seen."""
        return self._digests.digest("login address", str(user.id), place)

    async def _refuse_login(
        self, client: Client | None, key: bytes, action: str, subject: str, name_key: bytes | None = None
    ) -> None:
        """The same work whether the name exists or not. `name_key` counts over all addresses."""
        async with self._database.transaction() as connection:
            await login_failures.count_failure(connection, key)
            if name_key is not None:
                await login_failures.count_failure(connection, name_key, login_failures.NAME_FREE_FAILURES)
            chain = client.tenant_id if client else None
            await auditing.record(connection, chain, auditing.ANONYMOUS, action, subject, AuditResult.REFUSED)

    async def _issue(
        self,
        client: Client,
        user: User | None,
        scope: str | None,
        action: str,
        thumbprint: bytes | None,
        password_hash: str | None = None,
    ) -> IssuedToken:
        """`password_hash` is what the user has proved to know; no token is issued if it has been changed since."""
        token = Secret(TOKEN_PREFIX + secrets.token_urlsafe(32))
        issued_at = datetime.now(UTC).replace(microsecond=0)
        expires_at = issued_at + timedelta(seconds=TOKEN_SECONDS)
        async with self._database.transaction() as connection:
            tenant = await tenants.find_tenant(connection, client.tenant_name)
            assert tenant is not None
            if user is not None and password_hash is not None:
                await _hold_password(connection, user, password_hash)
            named: Iterable[str] = client.granted_scopes
            full = add_included_scopes(named) & add_included_scopes(tenant.allowed_scopes)
            if user is not None:
                named = await tenants.list_user_scopes(connection, client.id, user.id)
                full &= add_included_scopes(named)
            scopes = _choose_scopes(full, full.intersection(named), scope)
            stored = StoredToken(
                hash_secret(token.reveal()),
                tenant.id,
                client.id,
                user.id if user else None,
                scopes,
                issued_at,
                expires_at,
                thumbprint,
            )
            await tokens.insert_token(connection, stored)
            actor = f"client {client.username}"
            subject = f"user {user.pseudonym}" if user else actor
            await auditing.record(connection, tenant.id, actor, action, subject)
        return IssuedToken(token, tenant, client, user, scopes, issued_at, expires_at, thumbprint is not None)


async def _hold_password(connection: Connection, user: User, password_hash: str) -> None:
    if not await users.hold_password(connection, user.tenant_id, user.id, password_hash):
        raise GrantError("invalid_grant", WRONG_LOGIN)


def _choose_scopes(full: frozenset[str], named: frozenset[str], requested: str | None) -> tuple[str, ...]:
    """Nothing requested means every scope that was granted by name; what is requested may be included in another.
    In a fixed order either way."""
    wanted = named if requested is None else set(requested.split(" ")) - {""}
    if not wanted <= full or (requested is not None and not wanted):
        raise GrantError("invalid_scope", "A requested scope is unknown or exceeds what is granted.")
    return tuple(scope for scope in ALL_SCOPES if scope in wanted)


def make_failure_key(*parts: str) -> bytes:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()


def _is_text(name: str) -> bool:
    """Can PostgreSQL take this as text at all?"""
    return "\x00" not in name and not any("\ud800" <= character <= "\udfff" for character in name)
