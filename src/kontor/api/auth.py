"""The bearer token of a request: read from the header, looked up, and held against what the operation asks for."""

import base64
import binascii
from typing import Any
from urllib.parse import parse_qs, quote, unquote_plus

from litestar import Request

from kontor.api.answers import HttpError
from kontor.api.head_requests import SENT_METHOD
from kontor.api.operations import Operation, Security
from kontor.domain.operators import Operator
from kontor.domain.principals import Principal
from kontor.domain.scopes import add_included_scopes
from kontor.domain.secrets import Secret
from kontor.services.bundle import Services
from kontor.services.identity import TOKEN_PREFIX as OPERATOR_PREFIX
from kontor.services.identity import ClientLogin
from kontor.services.security import ALGORITHMS, ProofError, SentProof

REALM = 'realm="kontor"'
PROVED = f'algs="{" ".join(ALGORITHMS)}"'


async def authenticate(
    operation: Operation, request: Request[Any, Any, Any], services: Services, base_url: str
) -> Principal | Operator:
    """401 without a token, or without a proof that it needs; 403 with one that is invalid, or may not do this."""
    header = single_header(request, "authorization")
    query = request.scope["query_string"].decode("latin-1")
    if query and "access_token" in parse_qs(query, keep_blank_values=True, errors="replace"):
        raise HttpError(400, "A token is sent in the Authorization header, never in the URL.")
    scheme, _, token = (header or "").partition(" ")
    is_proved = scheme.lower() == "dpop"
    if scheme.lower() != "bearer" and not is_proved:
        raise HttpError(401, "Send the header Authorization: Bearer <token>.", {"WWW-Authenticate": f"Bearer {REALM}"})
    token = token.strip()
    bearer: Principal | Operator | None
    if operation.security.admits_operators and not is_proved and token.startswith(OPERATOR_PREFIX):
        bearer = await services.operators.authenticate(token)
    else:
        bearer = await services.tokens.authenticate(token)
    is_bound = isinstance(bearer, Principal) and bearer.key_thumbprint is not None
    if bearer is None or is_bound != is_proved:
        challenge = _challenge(is_proved or is_bound, "invalid_token")
        raise HttpError(403, "The token is invalid, expired or revoked.", {"WWW-Authenticate": challenge})
    _name_caller(request, bearer)
    if isinstance(bearer, Principal):
        if is_proved:
            await _check_proof(request, services, base_url, bearer, token)
        _check_scope(operation, bearer)
    return bearer


async def _check_proof(
    request: Request[Any, Any, Any], services: Services, base_url: str, bearer: Principal, token: str
) -> None:
    try:
        await services.tokens.check_proof(bearer, token, read_proof_header(request, base_url))
    except ProofError as error:
        headers = {"WWW-Authenticate": _challenge(True, error.error)}
        raise HttpError(401, error.message, headers | nonce_header(error)) from None


def read_proof_header(request: Request[Any, Any, Any], base_url: str) -> SentProof:
    """A proof is made for the address that callers know, whatever proxies make of it."""
    headers = [value.decode("latin-1") for key, value in request.scope["headers"] if key == b"dpop"]
    path = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    method = str(request.scope.get(SENT_METHOD, request.method))
    return SentProof(headers, method, base_url + path.decode("latin-1").partition("?")[0])


def nonce_header(error: ProofError) -> dict[str, str]:
    return {} if error.nonce is None else {"DPoP-Nonce": error.nonce}


def _challenge(is_proved: bool, error: str) -> str:
    return f'DPoP {REALM}, error="{error}", {PROVED}' if is_proved else f'Bearer {REALM}, error="{error}"'


def _name_caller(request: Request[Any, Any, Any], bearer: Principal | Operator) -> None:
    """For the log, also of a call that is refused."""
    scope: dict[str, Any] = request.scope  # type: ignore[assignment]
    if isinstance(bearer, Principal):
        scope["kontor.tenant"] = bearer.tenant_name
        scope["kontor.client"] = bearer.client_name
    else:
        scope["kontor.client"] = f"operator {bearer.name}"


def _check_scope(operation: Operation, principal: Principal) -> None:
    wanted = operation.scope
    if operation.security is Security.USER_TOKEN and not principal.is_user:
        raise _insufficient(principal, "This needs a user's token; a client's token was sent.", wanted)
    if operation.security is Security.CLIENT_TOKEN and principal.is_user:
        raise _insufficient(principal, "This needs a client's token; a user's token was sent.", wanted)
    if operation.security is Security.OPERATOR_TOKEN:
        raise _insufficient(principal, "This needs an operator's token.", wanted)
    if operation.security is Security.OPERATOR_OR_CLIENT_TOKEN and principal.is_user:
        raise _insufficient(principal, "This needs an operator's or a client's token; a user's token was sent.", wanted)
    if wanted is not None:
        require_scope(principal, wanted)


def require_scope(principal: Principal, wanted: str) -> None:
    if wanted not in principal.scopes and wanted not in add_included_scopes(principal.scopes):
        raise _insufficient(principal, f"The token lacks the scope {wanted}.", wanted)


def _insufficient(principal: Principal, message: str, scope: str | None) -> HttpError:
    challenge = _challenge(principal.key_thumbprint is not None, "insufficient_scope")
    if scope is not None:
        challenge += f', scope="{scope}"'
    return HttpError(403, message, {"WWW-Authenticate": challenge})


def read_basic(request: Request[Any, Any, Any], address: str) -> ClientLogin | None:
    """The client's login, or None when the header is missing or cannot be read."""
    header = single_header(request, "authorization")
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    username, colon, secret = text.partition(":")
    if not colon:
        return None
    # RFC 6749 wants both parts form-encoded first; our own names and secrets look the same either way.
    return ClientLogin(unquote_plus(username), Secret(unquote_plus(secret)), address)


def single_header(request: Request[Any, Any, Any], name: str) -> str | None:
    wanted = name.encode()
    values = [value for key, value in request.scope["headers"] if key == wanted]
    if len(values) > 1:
        raise HttpError(400, f"The header {name.title()} was sent twice.")
    return values[0].decode("latin-1") if values else None
