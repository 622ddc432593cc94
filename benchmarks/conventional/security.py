"""The bearer token as a dependency: looked up by its hash, then held against the scope."""

import hashlib
from typing import Annotated

from fastapi import Depends, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import contains_eager, load_only

from benchmarks.conventional.database import DatabaseSession
from benchmarks.conventional.models import AccessToken, Client, Tenant, User

bearer = HTTPBearer(auto_error=False)


def select_token(token_hash: bytes) -> Select[tuple[AccessToken]]:
    """Tuned: one query for everything, with only the columns that are needed.

    Statements are written where they are used, with their values in them, as the SQLAlchemy documentation and nearly
    everybody writes them. A statement made once from `bindparam` would save the making and the key under which
    SQLAlchemy finds the compiled SQL, about a fifth of a single read's processor time; but then this would no longer
    be the conventional way. The cache of compiled statements is on, as it is by default.
    """
    return (
        select(AccessToken)
        .join(AccessToken.tenant)
        .join(AccessToken.client)
        .outerjoin(AccessToken.user)
        .options(
            load_only(AccessToken.hash, AccessToken.tenant_id, AccessToken.user_id, AccessToken.scopes),
            contains_eager(AccessToken.tenant).load_only(Tenant.name),
            contains_eager(AccessToken.client).load_only(Client.name),
            contains_eager(AccessToken.user).load_only(User.pseudonym),
        )
        .where(
            AccessToken.hash == token_hash,
            AccessToken.expires_at > func.now(),
            or_(AccessToken.user_id.is_(None), User.is_active),
        )
    )


# Tuned: `async def`, so that FastAPI does not send it through a thread.
async def find_token(
    session: DatabaseSession, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> AccessToken:
    if credentials is None:
        challenge = {"WWW-Authenticate": 'Bearer realm="kontor"'}
        raise HTTPException(401, "Send the header Authorization: Bearer <token>.", challenge)
    token_hash = hashlib.sha256(credentials.credentials.encode()).digest()
    token = await session.scalar(select_token(token_hash))
    if token is None:
        challenge = {"WWW-Authenticate": 'Bearer realm="kontor", error="invalid_token"'}
        raise HTTPException(403, "The token is invalid, expired or revoked.", challenge)
    return token


class ClientScope:
    """Asks for a client's token with a scope."""

    wants_user = False
    refusal = "This needs a client's token; a user's token was sent."

    def __init__(self, scope: str) -> None:
        self.scope = scope

    async def __call__(self, token: Annotated[AccessToken, Depends(find_token)]) -> AccessToken:
        if (token.user_id is not None) is not self.wants_user:
            raise self._refuse(self.refusal)
        if self.scope not in token.scopes:
            raise self._refuse(f"The token lacks the scope {self.scope}.")
        return token

    def _refuse(self, message: str) -> HTTPException:
        challenge = f'Bearer realm="kontor", error="insufficient_scope", scope="{self.scope}"'
        return HTTPException(403, message, {"WWW-Authenticate": challenge})


class UserScope(ClientScope):
    """Asks for a user's token with a scope."""

    wants_user = True
    refusal = "This needs a user's token; a client's token was sent."
