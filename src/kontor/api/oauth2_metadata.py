"""What the token endpoints can do, and where assistants connect, for programs (RFC 8414, RFC 9728)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, json_answer
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.scopes import ALL_SCOPES, CUSTOMER_READ, CUSTOMER_TAGS
from kontor.domain.tenants import Grant
from kontor.services.security import ALGORITHMS

LOGIN = ["client_secret_basic"]


class ServerMetadata(msgspec.Struct):
    issuer: Annotated[str, Meta(description="the service's address")]
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str
    introspection_endpoint: str
    response_types_supported: list[str]
    grant_types_supported: list[str]
    scopes_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]
    revocation_endpoint_auth_methods_supported: list[str]
    introspection_endpoint_auth_methods_supported: list[str]
    code_challenge_methods_supported: list[str]
    authorization_response_iss_parameter_supported: Annotated[bool, Meta(description="RFC 9207")]
    dpop_signing_alg_values_supported: Annotated[list[str], Meta(description="of DPoP proofs (RFC 9449)")]


class ResourceMetadata(msgspec.Struct):
    resource: Annotated[str, Meta(description="where assistants connect (MCP)")]
    authorization_servers: list[str]
    scopes_supported: list[str]
    bearer_methods_supported: list[str]
    resource_name: str


@operation(
    "GET",
    "/.well-known/oauth-protected-resource",
    other_paths=("/.well-known/oauth-protected-resource/mcp",),
    tag="Tokens",
    security=Security.NONE,
    success=Success(shape=ResourceMetadata),
)
async def read_resource_metadata(call: Call) -> Answer:
    """Describe the endpoint for assistants, `/mcp`, as a protected resource (RFC 9728).

    It takes users' tokens of this server. `customer/tags` is needed for changes only.
    """
    base = call.settings.base_url
    metadata = ResourceMetadata(
        resource=f"{base}/mcp",
        authorization_servers=[base],
        scopes_supported=[CUSTOMER_READ, CUSTOMER_TAGS],
        bearer_methods_supported=["header"],
        resource_name="Kontor",
    )
    return json_answer(metadata)


@operation(
    "GET",
    "/.well-known/oauth-authorization-server",
    tag="Tokens",
    security=Security.NONE,
    success=Success(shape=ServerMetadata),
)
async def read_server_metadata(call: Call) -> Answer:
    """Describe the authorization and token endpoints (RFC 8414).

    The authorization endpoint is for assistants: a page on which a user signs in and agrees.
    """
    base = call.settings.base_url
    metadata = ServerMetadata(
        issuer=base,
        authorization_endpoint=f"{base}/auth/oauth2/authorize",
        token_endpoint=f"{base}/auth/oauth2/token",
        revocation_endpoint=f"{base}/auth/oauth2/revoke",
        introspection_endpoint=f"{base}/auth/oauth2/introspect",
        response_types_supported=["code"],
        grant_types_supported=[*(str(grant) for grant in Grant), "authorization_code", "refresh_token"],
        scopes_supported=list(ALL_SCOPES),
        token_endpoint_auth_methods_supported=[*LOGIN, "none"],
        revocation_endpoint_auth_methods_supported=[*LOGIN, "none"],
        introspection_endpoint_auth_methods_supported=LOGIN,
        code_challenge_methods_supported=["S256"],
        authorization_response_iss_parameter_supported=True,
        dpop_signing_alg_values_supported=list(ALGORITHMS),
    )
    return json_answer(metadata)
