"""A user's own password and tokens. Changes need the password again: a token that was taken is not enough."""

from kontor.api.answers import Answer, empty_answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, MODIFY, READ
from kontor.api.operations import Call, Success, operation
from kontor.domain.secrets import Secret
from kontor.wire.own_logins import OwnToken, PasswordChange, Revocation, show_own_token

TOKENS = CUSTOMER + "/tokens"


@operation(
    "PUT",
    CUSTOMER + "/password",
    body=PasswordChange,
    success=Success(description="changed"),
    errors=(404, 409, 429),
    **MODIFY,
)
async def change_password(call: Call) -> Answer:
    """Change the user's password.

    All tokens of the user end, that of the call too. API keys stay. 400 where the present password is wrong, 429
    after several wrong ones.
    """
    body = await call.json(PasswordChange)
    await call.services.own_logins.change_password(call.principal, Secret(body.password), Secret(body.newPassword))
    return empty_answer()


@operation("GET", TOKENS, success=Success(shape=list[OwnToken]), **READ)
async def list_own_tokens(call: Call) -> Answer:
    """List the valid tokens of the user, the newest first.

    Tokens themselves are not shown; they are stored as hashes.
    """
    current = (call.header("authorization") or "").partition(" ")[2].strip()
    found = await call.services.own_logins.list_tokens(call.principal, current)
    return json_answer([show_own_token(token) for token in found])


@operation(
    "POST",
    TOKENS + "/revoke",
    body=Revocation,
    success=Success(description="revoked"),
    errors=(404, 429),
    **MODIFY,
)
async def revoke_own_tokens(call: Call) -> Answer:
    """Revoke tokens of the user: those named, or all with that of the call.

    400 where the password is wrong, 429 after several wrong ones. Ids of tokens that have ended are no error.
    """
    body = await call.json(Revocation)
    ids = None if body.ids is None else frozenset(body.ids)
    await call.services.own_logins.revoke_tokens(call.principal, Secret(body.password), ids)
    return empty_answer()
