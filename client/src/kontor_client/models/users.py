"""Tenants, clients, roles and users, as a tenant's admin client sees them; facts of a token; the service's health."""

from kontor_client.models.shapes import Model


class Tenant(Model):
    name: str
    description: str | None = None


class Client(Model, rename="camel"):
    name: str
    username: str
    description: str | None = None
    granted_scopes: list[str] = []


class Role(Model, rename={"is_default": "defaultRole", "granted_scopes": "grantedScopes"}):
    """A default role is given to users who are created through its client."""

    name: str
    is_default: bool
    description: str | None = None
    granted_scopes: list[str] = []


class UserReference(Model, rename={"reference": "userReference"}):
    reference: str


class User(UserReference, rename={"reference": "userReference"}):
    username: str


class Confirmation(Model):
    """`jkt` is the thumbprint of the key that a token is bound to (DPoP)."""

    jkt: str


class TokenFacts(Model, rename={"is_active": "active", "expires_at": "exp", "issued_at": "iat"}):
    """All but `is_active` is there for a valid token alone. Times are seconds since 1970."""

    is_active: bool
    scope: str | None = None
    client_id: str | None = None
    username: str | None = None
    token_type: str | None = None
    expires_at: int | None = None
    issued_at: int | None = None
    sub: str | None = None
    tenant: str | None = None
    cnf: Confirmation | None = None


class OwnToken(
    Model, rename={"issued_at": "issuedAt", "expires_at": "expiresAt", "is_bound": "bound", "is_current": "current"}
):
    """A valid token of the user. Times are seconds since 1970; `is_current`: the list was asked for with it."""

    id: str
    client: str
    scope: str
    issued_at: int
    expires_at: int
    is_bound: bool
    is_current: bool


class ServerMetadata(Model):
    """What the token endpoints can do (RFC 8414)."""

    issuer: str
    token_endpoint: str
    revocation_endpoint: str
    introspection_endpoint: str
    response_types_supported: list[str] = []
    grant_types_supported: list[str] = []
    scopes_supported: list[str] = []
    token_endpoint_auth_methods_supported: list[str] = []
    revocation_endpoint_auth_methods_supported: list[str] = []
    introspection_endpoint_auth_methods_supported: list[str] = []
    dpop_signing_alg_values_supported: list[str] = []


class ResourceMetadata(Model):
    """Where assistants connect, and with what tokens (RFC 9728)."""

    resource: str
    authorization_servers: list[str] = []
    scopes_supported: list[str] = []
    bearer_methods_supported: list[str] = []
    resource_name: str = ""


class Health(Model):
    status: str
    checks: dict[str, bool] = {}
