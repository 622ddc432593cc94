"""Tokens and keys: OAuth2 (2-legged), API keys, and encryption for callers without a library of their own."""

import base64
import binascii
import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from kontor.api.answers import BASE64, FORM, NO_STORE, Answer, HttpError, OAuthError, empty_answer, json_answer
from kontor.api.auth import nonce_header, read_basic, read_proof_header, single_header
from kontor.api.bodies import parse_pairs
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.errors import TooManyAttemptsError
from kontor.domain.secrets import Secret
from kontor.services.identity import ClientLogin, GrantError, TokenRequest
from kontor.services.security import ProofError, SentProof
from kontor.wire.tokens import GrantType, Introspection, Token, show_introspection, show_pair, show_token

COMMON: dict[str, Any] = {"tag": "Tokens", "security": Security.BASIC, "is_oauth": True}
CHALLENGE = {"WWW-Authenticate": 'Basic realm="kontor", charset="UTF-8"'}
PROOF = "proof of a key (RFC 9449) that the token shall be bound to; then token_type is DPoP"
KEY_CHALLENGE = {"WWW-Authenticate": 'ApiKey realm="kontor", header="X-API-KEY"'}


class TokenForm(msgspec.Struct):
    grant_type: GrantType
    scope: str | msgspec.UnsetType = msgspec.UNSET
    username: str | msgspec.UnsetType = msgspec.UNSET
    password: str | msgspec.UnsetType = msgspec.UNSET
    client_id: str | msgspec.UnsetType = msgspec.UNSET
    code: str | msgspec.UnsetType = msgspec.UNSET
    redirect_uri: str | msgspec.UnsetType = msgspec.UNSET
    code_verifier: str | msgspec.UnsetType = msgspec.UNSET
    refresh_token: str | msgspec.UnsetType = msgspec.UNSET
    resource: str | msgspec.UnsetType = msgspec.UNSET


class TokenToLookAt(msgspec.Struct):
    token: str
    token_type_hint: str | msgspec.UnsetType = msgspec.UNSET
    client_id: str | msgspec.UnsetType = msgspec.UNSET


@operation(
    "POST",
    "/auth/oauth2/token",
    body=TokenForm,
    body_media_type=FORM,
    headers={"Customer-IP-Address": "IP address of the end user, by which wrong passwords are counted", "DPoP": PROOF},
    success=Success(shape=Token, headers={"Cache-Control": "no-store"}),
    errors=(401, 429),
    **COMMON,
)
async def issue_token(call: Call) -> Answer:
    """Issue a token for a client (client_credentials) or a user (password).

    OAuth2 as in RFC 6749. With `scope`, the token gets at most the scopes that are named. Errors have the body of the
    RFC. After several wrong passwords, 429 with `Retry-After`; a right one is accepted even so from an address that
    the user has logged in from in the last 30 days. Clients that log in many users from one address should send
    `Customer-IP-Address`.

    Assistants send no login but `client_id`: `authorization_code` with `code`, `redirect_uri` and `code_verifier`, then
    `refresh_token` with the refresh token of the last answer, which is used once.
    """
    form = await _read_form(call)
    grant_type = form.get("grant_type")
    if grant_type in ("authorization_code", "refresh_token") and read_basic(call.request, call.address) is None:
        return await _issue_to_assistant(call, form)
    login = _require_login(call)
    if not grant_type:
        raise OAuthError(400, "invalid_request", "The parameter grant_type is missing.")
    password = form.get("password")
    request = TokenRequest(
        grant_type,
        form.get("scope"),
        form.get("username"),
        None if password is None else Secret(password),
        _read_proof(call),
        _read_customer_address(call),
    )
    with _login_errors(CHALLENGE):
        issued = await call.services.tokens.issue_token(login, request)
    return json_answer(show_token(issued), headers=dict(NO_STORE))


async def _issue_to_assistant(call: Call, form: dict[str, str]) -> Answer:
    if call.header("dpop") is not None:
        raise OAuthError(400, "invalid_request", "Tokens for assistants are not bound to keys; leave out DPoP.")
    is_code = form["grant_type"] == "authorization_code"
    needed = ("client_id", "code", "redirect_uri", "code_verifier") if is_code else ("client_id", "refresh_token")
    if missing := [name for name in needed if name not in form]:
        raise OAuthError(400, "invalid_request", f"Missing: {', '.join(missing)}.")
    authorizations = call.services.authorizations
    try:
        if is_code:
            issued = await authorizations.exchange_code(
                form["client_id"], Secret(form["code"]), form["redirect_uri"], form["code_verifier"],
                form.get("resource"),
            )  # fmt: skip
        else:
            issued = await authorizations.refresh(
                form["client_id"], Secret(form["refresh_token"]), form.get("scope"), form.get("resource")
            )
    except GrantError as error:
        if error.error == "invalid_client":
            raise OAuthError(401, error.error, error.message, CHALLENGE) from None
        raise OAuthError(400, error.error, error.message) from None
    return json_answer(show_pair(issued), headers=dict(NO_STORE))


@operation(
    "POST",
    "/auth/oauth2/revoke",
    body=TokenToLookAt,
    body_media_type=FORM,
    success=Success(description="always, whether or not there was anything to revoke"),
    is_forgiving=True,
    **COMMON,
)
async def revoke_token(call: Call) -> Answer:
    """Revoke a token of the client's own tenant; with `client_id` instead of a login, a grant to an assistant.

    The answer is 200 whatever is sent, as RFC 7009 wants it for unknown tokens.
    """
    headers: dict[str, str] = {}
    try:
        form = await _read_form(call)
    except OAuthError as error:
        form, headers = {}, error.headers
    try:
        login = read_basic(call.request, call.address)
    except HttpError:  # two logins are as good as none
        login = None
    if login is None and "client_id" in form:
        await call.services.authorizations.revoke(form["client_id"], Secret(form.get("token", "")))
    else:
        await call.services.tokens.revoke_token(login, form.get("token", ""))
    return empty_answer(headers=headers)


@operation(
    "POST",
    "/auth/oauth2/introspect",
    body=TokenToLookAt,
    body_media_type=FORM,
    success=Success(shape=Introspection, headers={"Cache-Control": "no-store"}),
    errors=(401, 429),
    **COMMON,
)
async def introspect_token(call: Call) -> Answer:
    """Tell whether a token of the client's own tenant is valid (RFC 7662).

    For a token that is expired, revoked or of another tenant, only `active: false`.
    """
    form = await _read_form(call)
    login = _require_login(call)
    if "token" not in form:
        raise OAuthError(400, "invalid_request", "The parameter token is missing.")
    with _login_errors(CHALLENGE):
        facts = await call.services.tokens.introspect_token(login, form["token"])
    return json_answer(show_introspection(facts), headers=dict(NO_STORE))


@operation(
    "POST",
    "/one/bc-token",
    tag="Tokens",
    security=Security.API_KEY,
    is_oauth=True,
    headers={"DPoP": PROOF},
    success=Success(shape=Token, headers={"Cache-Control": "no-store"}),
    errors=(401, 429),
)
async def issue_classic_token(call: Call) -> Answer:
    """Issue a user's token for an API key.

    The key is sent in the header `X-API-KEY`. There is no body.
    """
    with _form_errors():
        call.query_values()
        key = single_header(call.request, "x-api-key")
    if not key:
        raise OAuthError(401, "invalid_client", "Send the header X-API-KEY.", KEY_CHALLENGE)
    with _login_errors(KEY_CHALLENGE):
        issued = await call.services.tokens.issue_token_for_key(Secret(key), call.address, _read_proof(call))
    return json_answer(show_token(issued), headers=dict(NO_STORE))


@operation(
    "PUT",
    "/encrypt",
    tag="Tokens",
    security=Security.ANY_TOKEN,
    body=str,
    body_media_type=BASE64,
    success=Success(shape=str, media_type=BASE64, description="Base64 ciphertext"),
)
async def encrypt(call: Call) -> Answer:
    """Encrypt a value for the tenant of the token.

    The body is the plaintext in Base64, at most 256 bytes; the answer its RSA-OAEP (SHA-256) ciphertext in Base64.
    """
    body = await call.read_body()
    try:
        plaintext = base64.b64decode(body.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise HttpError(400, "body: expected Base64") from None
    if not plaintext:
        raise HttpError(400, "body: there is nothing to encrypt")
    ciphertext = await call.services.encryption.encrypt(call.principal, plaintext)
    return Answer(200, base64.b64encode(ciphertext), BASE64)


async def _read_form(call: Call) -> dict[str, str]:
    """The form of a token endpoint. A parameter sent empty counts as omitted (RFC 6749, 3.2)."""
    with _form_errors():
        body = await call.read_body()
        try:
            text = body.decode("ascii")
        except UnicodeDecodeError:
            raise HttpError(400, "The form is not URL-encoded.") from None
        values = parse_pairs(text, "form")
        call.query_values()
    return {name: value for name, value in values.items() if value}


def _read_proof(call: Call) -> SentProof | None:
    proof = read_proof_header(call.request, call.settings.base_url)
    return proof if proof.headers else None


def _read_customer_address(call: Call) -> str | None:
    """A login is not refused because of it: what is no address counts as not sent."""
    text = (call.header("customer-ip-address") or "").strip()
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


def _require_login(call: Call) -> ClientLogin:
    with _form_errors():
        login = read_basic(call.request, call.address)
    if login is None:
        raise OAuthError(
            401, "invalid_client", "Send the client's username and secret by Basic authentication.", CHALLENGE
        )
    return login


def _ascii(text: str) -> str:
    """RFC 6749 allows printable ASCII only, without quotes and backslashes."""
    return "".join(character if " " <= character <= "~" and character not in '"\\' else "?" for character in text)


@contextmanager
def _form_errors() -> Iterator[None]:
    """Turns refusals of the request's form into RFC 6749 answers, which know no 415."""
    try:
        yield
    except HttpError as error:
        status = 400 if error.status == 415 else error.status
        raise OAuthError(status, "invalid_request", _ascii(error.message), error.headers) from None


@contextmanager
def _login_errors(challenge: dict[str, str]) -> Iterator[None]:
    """Turns refusals of the use case into RFC 6749 answers; a failed login gets the challenge."""
    try:
        yield
    except GrantError as error:
        if error.error in ("invalid_client", "invalid_grant"):
            raise OAuthError(401, error.error, error.message, challenge) from None
        raise OAuthError(400, error.error, error.message) from None
    except ProofError as error:
        raise OAuthError(400, error.error, error.message, nonce_header(error)) from None
    except TooManyAttemptsError as error:
        headers = {"Retry-After": str(error.retry_after_seconds)}
        raise OAuthError(429, "temporarily_unavailable", error.message, headers) from None
