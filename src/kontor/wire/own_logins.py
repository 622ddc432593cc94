"""A user's own password and tokens."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.domain.tenants import MAX_PASSWORD_LENGTH
from kontor.services.identity import OwnToken as DomainToken

MAX_TOKENS = 1000
CurrentPassword = Annotated[
    str, Meta(min_length=1, max_length=MAX_PASSWORD_LENGTH, description="the user's present one", examples=["demo"])
]


class PasswordChange(msgspec.Struct):
    password: CurrentPassword
    newPassword: Annotated[  # noqa: N815
        str, Meta(min_length=1, max_length=MAX_PASSWORD_LENGTH, examples=["a long passphrase"])
    ]


class Revocation(msgspec.Struct):
    password: CurrentPassword
    ids: Annotated[list[UUID], Meta(max_length=MAX_TOKENS, description="left out: all tokens")] | None = None


class OwnToken(msgspec.Struct):
    id: Annotated[UUID, Meta(description="names the token, and cannot be used as one")]
    client: Annotated[str, Meta(description="name of the client that it was issued to", examples=["app"])]
    scope: Annotated[str, Meta(description="space-separated scopes", examples=["http://service/customer/read"])]
    issuedAt: Annotated[int, Meta(description="epoch seconds")]  # noqa: N815
    expiresAt: Annotated[int, Meta(description="epoch seconds")]  # noqa: N815
    bound: Annotated[bool, Meta(description="usable with a key of the caller's only (DPoP)")]
    current: Annotated[bool, Meta(description="the token of this call")]
    grant: (
        Annotated[bool, Meta(description="true: granted to an assistant, which renews its tokens")] | msgspec.UnsetType
    ) = msgspec.UNSET


def show_own_token(token: DomainToken) -> OwnToken:
    return OwnToken(
        token.id,
        token.client_name,
        " ".join(token.scopes),
        int(token.issued_at.timestamp()),
        int(token.expires_at.timestamp()),
        token.is_bound,
        token.is_current,
        token.is_grant or msgspec.UNSET,
    )
