"""Token, as the token endpoints show it."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.services.identity import TOKEN_SECONDS, IssuedPair, IssuedToken, TokenFacts
from kontor.services.security import show_thumbprint
from kontor.wire.encoding import format_timestamp

Timestamp = Annotated[
    str,
    Meta(
        pattern=r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$",
        title="Timestamp",
        description="Berlin wall time",
        examples=["2026-11-15 14:30:00"],
    ),
]

GrantType = Annotated[
    Literal["client_credentials", "password", "authorization_code", "refresh_token"], Meta(title="GrantType")
]


class Token(msgspec.Struct):
    scope: Annotated[str, Meta(description="space-separated scopes", examples=["http://service/customer/read"])]
    tenant: str
    tenantId: UUID  # noqa: N815
    client: Annotated[str, Meta(description="client name")]
    additionalData: Annotated[dict[str, str], Meta(description="for user tokens: username")]  # noqa: N815
    validTo: Timestamp  # noqa: N815
    active: bool
    issuedAt: Annotated[int, Meta(description="epoch seconds")]  # noqa: N815
    expiresAt: Annotated[int, Meta(description="epoch seconds")]  # noqa: N815
    access_token: Annotated[str, Meta(examples=["kontor_at_…"])]
    token_type: Annotated[
        Literal["Bearer", "DPoP"], Meta(title="TokenType", description="DPoP only if it was asked for")
    ]
    expires_in: Annotated[int, Meta(description="lifetime in seconds", examples=[7200])]
    user: Annotated[UUID, Meta(description="user reference, for user tokens")] | msgspec.UnsetType = msgspec.UNSET
    refresh_token: Annotated[str, Meta(description="for assistants; used once")] | msgspec.UnsetType = msgspec.UNSET


class Confirmation(msgspec.Struct):
    """RFC 9449, 6."""

    jkt: Annotated[str, Meta(description="thumbprint (RFC 7638) of the key that the token is bound to")]


class Introspection(msgspec.Struct):
    """RFC 7662. Everything but `active` is there only for an active token."""

    active: bool
    scope: str | msgspec.UnsetType = msgspec.UNSET
    client_id: str | msgspec.UnsetType = msgspec.UNSET
    username: str | msgspec.UnsetType = msgspec.UNSET
    token_type: str | msgspec.UnsetType = msgspec.UNSET
    exp: int | msgspec.UnsetType = msgspec.UNSET
    iat: int | msgspec.UnsetType = msgspec.UNSET
    sub: str | msgspec.UnsetType = msgspec.UNSET
    tenant: str | msgspec.UnsetType = msgspec.UNSET
    cnf: Confirmation | msgspec.UnsetType = msgspec.UNSET


def show_token(issued: IssuedToken) -> Token:
    return Token(
        scope=" ".join(issued.scopes),
        tenant=issued.tenant.name,
        tenantId=issued.tenant.id,
        client=issued.client.name,
        user=issued.user.id if issued.user else msgspec.UNSET,
        additionalData={"username": issued.user.username} if issued.user else {},
        validTo=format_timestamp(issued.expires_at),
        active=True,
        issuedAt=int(issued.issued_at.timestamp()),
        expiresAt=int(issued.expires_at.timestamp()),
        access_token=issued.token.reveal(),
        token_type="DPoP" if issued.is_bound else "Bearer",
        expires_in=TOKEN_SECONDS,
    )


def show_pair(issued: IssuedPair) -> Token:
    token = show_token(issued.access)
    token.refresh_token = issued.refresh_token.reveal()
    return token


def show_introspection(facts: TokenFacts | None) -> Introspection:
    if facts is None:
        return Introspection(active=False)
    return Introspection(
        active=True,
        scope=" ".join(facts.scopes),
        client_id=facts.client_username,
        username=facts.username or msgspec.UNSET,
        token_type="DPoP" if facts.key_thumbprint else "Bearer",
        exp=int(facts.expires_at.timestamp()),
        iat=int(facts.issued_at.timestamp()),
        sub=str(facts.user_id) if facts.user_id else facts.client_username,
        tenant=facts.tenant_name,
        cnf=Confirmation(show_thumbprint(facts.key_thumbprint)) if facts.key_thumbprint else msgspec.UNSET,
    )
