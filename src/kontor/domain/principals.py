"""Who is asking: the first argument of every use case."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Principal:
    """The bearer of a valid token. `user_id` is None for a client-level (management) token.

    `may_collect`: the client was made for direct debits. `key_thumbprint`: of the key that the token is bound to.
    """

    tenant_id: UUID
    tenant_name: str
    is_regulated: bool
    client_id: UUID
    client_name: str
    scopes: frozenset[str]
    user_id: UUID | None = None
    user_pseudonym: UUID | None = None
    may_collect: bool = False
    key_thumbprint: bytes | None = None

    @property
    def is_user(self) -> bool:
        return self.user_id is not None


def user_of(principal: Principal) -> UUID:
    assert principal.user_id is not None, "the operation asks for a user's token"
    return principal.user_id
