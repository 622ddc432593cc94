"""Tenants, clients, roles, users, tokens and operators."""

from kontor.services.identity.authorizations import (
    AuthorizationError,
    AuthorizationRequest,
    Authorizations,
    IssuedPair,
    UnknownAssistantError,
)
from kontor.services.identity.branding import BrandingChange
from kontor.services.identity.operators import TOKEN_PREFIX, Operators
from kontor.services.identity.own_logins import OwnLogins, OwnToken
from kontor.services.identity.tenants import TenantAdministration, Tenants, new_role, new_tenant
from kontor.services.identity.tokens import (
    TOKEN_SECONDS,
    ClientLogin,
    GrantError,
    IssuedToken,
    TokenFacts,
    TokenRequest,
    Tokens,
)
from kontor.services.identity.users import NewUser, Users

__all__ = [
    "TOKEN_PREFIX",
    "TOKEN_SECONDS",
    "AuthorizationError",
    "AuthorizationRequest",
    "Authorizations",
    "BrandingChange",
    "ClientLogin",
    "GrantError",
    "IssuedPair",
    "IssuedToken",
    "NewUser",
    "Operators",
    "OwnLogins",
    "OwnToken",
    "TenantAdministration",
    "Tenants",
    "TokenFacts",
    "TokenRequest",
    "Tokens",
    "UnknownAssistantError",
    "Users",
    "new_role",
    "new_tenant",
]
