"""Assistants get tokens by an authorization code with PKCE: a user signs in, agrees, and can take it back."""

import hmac
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from kontor.domain.assistants import GRANTABLE_SCOPES, fits_challenge, is_challenge, is_registered
from kontor.domain.audit import AuditResult
from kontor.domain.errors import KontorError
from kontor.domain.scopes import CUSTOMER_READ, add_included_scopes
from kontor.domain.secrets import Secret
from kontor.domain.tenants import Client, User
from kontor.services.identity.tokens import (
    TOKEN_PREFIX,
    TOKEN_SECONDS,
    GrantError,
    IssuedToken,
    TokenRequest,
    Tokens,
)
from kontor.services.security import auditing, hash_secret
from kontor.storage import assistant_grants, tenants, tokens, users
from kontor.storage.assistant_grants import AssistantGrant
from kontor.storage.database import Connection, Database
from kontor.storage.keys import SealingKey
from kontor.storage.tokens import StoredToken

CODE_SECONDS = 60
REFRESH_DAYS = 30
GRANT_DAYS = 180
TICKET_SECONDS = 600
REFRESH_PREFIX = "kontor_rt_"
INVALID = "The code or refresh token is invalid, expired, used, or was issued to another client."


class UnknownAssistantError(KontorError):
    """No client or no address to send the browser back to: only a page can tell."""


class AuthorizationError(KontorError):
    """A request that is sent back to the client with an error code of RFC 6749."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    client: Client
    redirect_address: str
    state: str | None
    challenge: str
    scopes: tuple[str, ...]

    @property
    def key(self) -> str:
        """Names the request: forms and tickets are for this one alone."""
        return "\x1f".join(
            (self.client.username, self.redirect_address, self.state or "", self.challenge, *self.scopes)
        )


@dataclass(frozen=True, slots=True)
class IssuedPair:
    access: IssuedToken
    refresh_token: Secret


class Authorizations:
    def __init__(self, database: Database, login_tokens: Tokens, digests: SealingKey, base_url: str) -> None:
        self._database = database
        self._tokens = login_tokens
        self._digests = digests
        self._resources = (base_url, f"{base_url}/", f"{base_url}/mcp")

    # Pages

    async def find_client(self, query: Mapping[str, str]) -> tuple[Client, str]:
        """The client, and where the browser goes back to."""
        tenant_name, _, client_name = query.get("client_id", "").partition("/")
        async with self._database.connect() as connection:
            client = await tenants.find_client(connection, _plain(tenant_name), _plain(client_name))
        address = query.get("redirect_uri", "")
        if client is None or not is_registered(address, client.redirect_addresses):
            raise UnknownAssistantError("The client is unknown, or the redirect address is not registered.")
        return client, address

    def read_request(self, client: Client, address: str, query: Mapping[str, str]) -> AuthorizationRequest:
        if query.get("response_type") != "code":
            raise AuthorizationError("unsupported_response_type", "Only response_type=code is supported.")
        challenge = query.get("code_challenge", "")
        if query.get("code_challenge_method") != "S256" or not is_challenge(challenge):
            raise AuthorizationError("invalid_request", "PKCE with code_challenge_method=S256 is required.")
        self._check_resource(query.get("resource"), AuthorizationError)
        scopes = tuple(dict.fromkeys(query.get("scope", "").split())) or (CUSTOMER_READ,)
        if not set(scopes) <= set(GRANTABLE_SCOPES) or CUSTOMER_READ not in scopes:
            raise AuthorizationError("invalid_scope", f"These can be granted: {' '.join(GRANTABLE_SCOPES)}.")
        return AuthorizationRequest(client, address, query.get("state"), challenge, scopes)

    async def sign_in(
        self, request: AuthorizationRequest, username: str, password: Secret, address: str, cookie: Secret
    ) -> str:
        """A ticket for the page on which the user agrees. GrantError and TooManyAttemptsError as for other logins."""
        login = TokenRequest("password", username=username, password=password)
        user, password_hash = await self._tokens.authenticate_user(request.client, login, address)
        expires = int(time.time()) + TICKET_SECONDS
        return f"{user.id}.{expires}.{self._sign(request, user.id, expires, cookie, password_hash)}"

    async def approve(
        self, request: AuthorizationRequest, ticket: str, cookie: Secret, scopes: Collection[str]
    ) -> Secret | None:
        """A code for the client; None where the ticket has expired or belongs to another request or browser."""
        code = Secret(secrets.token_urlsafe(32))
        now = datetime.now(UTC).replace(microsecond=0)
        async with self._database.transaction() as connection:
            user = await self._open_ticket(connection, request, ticket, cookie)
            if user is None:
                return None
            wanted = {CUSTOMER_READ, *scopes} & set(request.scopes)
            granted = await _limit_scopes(connection, request.client, user.id, wanted)
            if CUSTOMER_READ in granted:
                ends = now + timedelta(seconds=CODE_SECONDS)
                grant = AssistantGrant(
                    uuid4(), request.client.tenant_id, request.client.id, user.id, granted, request.redirect_address,
                    request.challenge, ends, None, now, ends,
                )  # fmt: skip
                await assistant_grants.insert_grant(connection, grant, hash_secret(code.reveal()))
            await self._record(connection, request.client, user.pseudonym, "assistant.grant", bool(granted))
        if CUSTOMER_READ not in granted:
            raise AuthorizationError("access_denied", "This user may not grant that.")
        return code

    async def _open_ticket(
        self, connection: Connection, request: AuthorizationRequest, ticket: str, cookie: Secret
    ) -> User | None:
        try:
            name, expiry, signature = ticket.split(".")
            user_id, expires = UUID(name), int(expiry)
        except ValueError:
            return None
        user = await users.find_user(connection, request.client.tenant_id, user_id)
        found = await users.find_user_login(connection, request.client.tenant_id, user.username) if user else None
        if found is None or not found[0].is_active or expires < time.time():
            return None
        expected = self._sign(request, user_id, expires, cookie, found[1])
        return found[0] if hmac.compare_digest(expected.encode(), signature.encode()) else None

    def _sign(self, request: AuthorizationRequest, user_id: UUID, expires: int, cookie: Secret, password: str) -> str:
        """A changed password ends tickets, too."""
        parts = ("authorization ticket", str(user_id), str(expires), request.key, cookie.reveal(), password)
        return self._digests.digest(*parts).hex()

    # Tokens

    async def exchange_code(
        self, client_id: str, code: Secret, redirect_address: str, verifier: str, resource: str | None
    ) -> IssuedPair:
        self._check_resource(resource, GrantError)
        async with self._database.transaction() as connection:
            client = await _find_public_client(connection, client_id)
            grant = await assistant_grants.lock_by_code(connection, hash_secret(code.reveal()))
            issued = None
            if grant is not None and grant.client_id == client.id:
                if grant.code_used_at is not None:  # whoever sends it twice may be a thief: what it gave ends
                    await self._end(connection, client, grant, "assistant.code-reuse")
                elif (
                    grant.code_expires_at > datetime.now(UTC)
                    and grant.redirect_address == redirect_address
                    and fits_challenge(verifier, grant.challenge)
                ):
                    await assistant_grants.use_code(connection, grant.id, datetime.now(UTC))
                    issued = await self._issue(connection, client, grant, grant.scopes)
        if issued is None:
            raise GrantError("invalid_grant", INVALID)
        return issued

    async def refresh(
        self, client_id: str, refresh_token: Secret, scope: str | None, resource: str | None
    ) -> IssuedPair:
        self._check_resource(resource, GrantError)
        token_hash = hash_secret(refresh_token.reveal())
        async with self._database.transaction() as connection:
            client = await _find_public_client(connection, client_id)
            found = await assistant_grants.lock_by_refresh_token(connection, token_hash)
            issued = None
            if found is not None and found[0].client_id == client.id:
                grant, is_used = found
                if is_used:
                    await self._end(connection, client, grant, "assistant.refresh-reuse")
                else:
                    scopes = grant.scopes if scope is None else tuple(scope.split())
                    if not set(scopes) <= set(grant.scopes) or CUSTOMER_READ not in scopes:
                        raise GrantError("invalid_scope", "A requested scope exceeds what was granted.")
                    await assistant_grants.use_refresh_token(connection, token_hash)
                    issued = await self._issue(connection, client, grant, scopes)
        if issued is None:
            raise GrantError("invalid_grant", INVALID)
        return issued

    async def revoke(self, client_id: str, token: Secret) -> None:
        """Ends the grant of a token of the client (RFC 7009). Never complains."""
        async with self._database.transaction() as connection:
            try:
                client = await _find_public_client(connection, client_id)
            except GrantError:
                return
            grant_id = await assistant_grants.find_by_token(connection, client.id, hash_secret(token.reveal()))
            if grant_id is not None:
                await assistant_grants.delete_grant(connection, grant_id)
            result = AuditResult.REFUSED if grant_id is None else AuditResult.DONE
            actor = f"client {client.username}"
            await auditing.record(connection, client.tenant_id, actor, "token.revoke", "grant", result)

    async def _issue(
        self, connection: Connection, client: Client, grant: AssistantGrant, scopes: Collection[str]
    ) -> IssuedPair | None:
        """None for a user who is deactivated, or may no longer read."""
        user = await users.find_user(connection, grant.tenant_id, grant.user_id)
        tenant = await tenants.find_tenant(connection, client.tenant_name)
        granted = await _limit_scopes(connection, client, grant.user_id, scopes)
        if user is None or not user.is_active or tenant is None or CUSTOMER_READ not in granted:
            return None
        access, refresh = (Secret(prefix + secrets.token_urlsafe(32)) for prefix in (TOKEN_PREFIX, REFRESH_PREFIX))
        now = datetime.now(UTC).replace(microsecond=0)
        expires = now + timedelta(seconds=TOKEN_SECONDS)
        access_hash = hash_secret(access.reveal())
        stored = StoredToken(access_hash, grant.tenant_id, client.id, user.id, granted, now, expires)
        await tokens.insert_token(connection, stored)
        await assistant_grants.insert_refresh_token(
            connection, grant.id, hash_secret(refresh.reveal()), access_hash, now, _find_end(grant, now)
        )
        await self._record(connection, client, user.pseudonym, "token.issue", True)
        return IssuedPair(IssuedToken(access, tenant, client, user, granted, now, expires, False), refresh)

    async def _end(self, connection: Connection, client: Client, grant: AssistantGrant, action: str) -> None:
        await assistant_grants.delete_grant(connection, grant.id)
        user = await users.find_user(connection, grant.tenant_id, grant.user_id)
        if user is not None:
            await self._record(connection, client, user.pseudonym, action, False)

    async def _record(
        self, connection: Connection, client: Client, pseudonym: UUID, action: str, is_done: bool
    ) -> None:
        result = AuditResult.DONE if is_done else AuditResult.REFUSED
        actor, subject = f"client {client.username}", f"user {pseudonym}"
        await auditing.record(connection, client.tenant_id, actor, action, subject, result)

    def _check_resource(self, resource: str | None, error: type[AuthorizationError] | type[GrantError]) -> None:
        """RFC 8707."""
        if resource is not None and resource not in self._resources:
            raise error("invalid_target", f"The resource is {self._resources[-1]}.")


def _find_end(grant: AssistantGrant, now: datetime) -> datetime:
    """Use keeps a grant alive, but not for longer than the user was told."""
    return min(now + timedelta(days=REFRESH_DAYS), grant.created_at + timedelta(days=GRANT_DAYS))


async def _find_public_client(connection: Connection, client_id: str) -> Client:
    tenant_name, _, name = client_id.partition("/")
    client = await tenants.find_client(connection, _plain(tenant_name), _plain(name))
    if client is None or not client.redirect_addresses:
        raise GrantError("invalid_client", "The client is unknown, or has a secret to prove itself with.")
    return client


async def _limit_scopes(
    connection: Connection, client: Client, user_id: UUID, wanted: Collection[str]
) -> tuple[str, ...]:
    """Never more than the client, the tenant and the user's roles allow."""
    tenant = await tenants.find_tenant(connection, client.tenant_name)
    assert tenant is not None
    full = add_included_scopes(client.granted_scopes) & add_included_scopes(tenant.allowed_scopes)
    full &= add_included_scopes(await assistant_grants.list_tenant_scopes(connection, tenant.id, user_id))
    return tuple(scope for scope in GRANTABLE_SCOPES if scope in full and scope in wanted)


def _plain(name: str) -> str:
    """PostgreSQL takes neither NUL nor lone surrogates as text."""
    return name.encode("utf-8", "replace").decode().replace("\x00", "?")
