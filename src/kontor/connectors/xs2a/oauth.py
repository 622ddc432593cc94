"""OAuth 2 at a bank: authorisation code with PKCE and state, tokens and their renewal.

Two variants: a new consent or order links to the bank's OAuth server (`scaOAuth`), or the bank wants a token before
anything else. The customer decides on the bank's page. Tokens are part of states, which callers keep sealed.
"""

import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from urllib.parse import parse_qs, urlsplit

from kontor.connectors.base import Answer, Context, FailureKind, NeedRedirect, Returned, State
from kontor.connectors.xs2a.banks import Xs2aBank
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import KINDS, NoResponseError, StoppedError
from kontor.connectors.xs2a.messages import Discovery, TokenAnswer
from kontor.domain.callbacks import add_to_query
from kontor.domain.secrets import Secret

# A token is renewed this long before its end.
LEEWAY_SECONDS = 30
LOST_CODES = frozenset(("invalid_grant", "TOKEN_UNKNOWN", "TOKEN_INVALID", "TOKEN_EXPIRED"))


class OAuth:
    def __init__(self, client: Client, bank: Xs2aBank, context: Context) -> None:
        self._client = client
        self._bank = bank
        self._context = context

    def ask(self, state: State, discovery: str, scope: str) -> NeedRedirect:
        """Send the customer to the bank's page. `discovery` is the address of the server's metadata."""
        if not self._bank.client_id:
            raise StoppedError(FailureKind.NO_SUPPORTED_METHOD, "the bank's profile has no client_id")
        callback = self._context.callback_url
        if callback is None:
            raise StoppedError(FailureKind.REJECTED, "a redirect needs a callback URL")
        server = self._client.get(discovery, Discovery)
        if self._bank.issuer is not None and server.issuer != self._bank.issuer:
            raise NoResponseError("the metadata are those of another server")
        verifier, request_state = token_urlsafe(48), token_urlsafe(24)
        digest = urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
        url = add_to_query(
            self._client.check_page(server.authorization_endpoint),
            response_type="code",
            client_id=self._bank.client_id,
            redirect_uri=callback,
            scope=scope,
            state=request_state,
            code_challenge=digest,
            code_challenge_method="S256",
        )
        asked = {
            "state": request_state,
            "verifier": verifier,
            "redirect": callback,
            "token": self._bank.token_address or server.token_endpoint,
            "issuer": server.issuer,
            "names_issuer": server.authorization_response_iss_parameter_supported,
        }
        return NeedRedirect(url, state | {"oauth": asked})

    def return_from_page(self, state: State, answer: Answer) -> State:
        """The state with tokens instead of the open question."""
        if not isinstance(answer, Returned):
            raise StoppedError(FailureKind.REJECTED, "this answer does not fit the open step")
        asked = state["oauth"]
        # The bank's values follow those that the caller's address has of its own.
        values = parse_qs(answer.query)
        told = {name: given[-1] for name, given in values.items()}
        if not compare_digest(told.get("state", "").encode(), asked["state"].encode()):
            raise StoppedError(FailureKind.REJECTED, "the customer came back from another authorisation")
        if not _is_issuer(asked, values.get("iss", [])):
            raise StoppedError(FailureKind.REJECTED, "the customer came back from another server")
        if "error" in told:
            raise StoppedError(KINDS.get(told["error"], FailureKind.REJECTED), told["error"][:100])
        if not told.get("code"):
            raise StoppedError(FailureKind.REJECTED, "the bank's page brought no authorisation code")
        tokens = self._request(
            asked["token"],
            grant_type="authorization_code",
            code=told["code"],
            redirect_uri=asked["redirect"],
            code_verifier=asked["verifier"],
        )
        rest = {key: value for key, value in state.items() if key != "oauth"}
        return rest | {"tokens": tokens}

    def is_ending(self, tokens: State) -> bool:
        return tokens["until"] is not None and tokens["until"] <= time.time() + LEEWAY_SECONDS

    def use(self, tokens: State) -> None:
        """Requests carry it from now on."""
        self._client.use_token(Secret(tokens["access"]))

    def renew(self, tokens: State) -> State:
        if tokens["refresh"] is None:
            raise StoppedError(FailureKind.EXPIRED)
        self._client.use_token(None)
        renewed = self._request(tokens["address"], grant_type="refresh_token", refresh_token=tokens["refresh"])
        if renewed["refresh"] is None:
            renewed["refresh"] = tokens["refresh"]
        self.use(renewed)
        return renewed

    def use_client_token(self) -> None:
        """A token of our own, for banks that want one before a customer is known."""
        if self._bank.token_address is None:
            raise StoppedError(FailureKind.INTERNAL, "the bank's profile has no token_address")
        tokens = self._request(self._bank.token_address, grant_type="client_credentials")
        self.use(tokens)

    def _request(self, address: str, **form: str) -> State:
        form["client_id"] = self._bank.client_id
        told = self._client.read(self._client.post_form(address, form), TokenAnswer)
        if told.token_type.lower() != "bearer" or not told.access_token:
            raise NoResponseError("the bank's token is of an unknown kind")
        until = None if told.expires_in is None else int(time.time()) + told.expires_in
        return {"access": told.access_token, "refresh": told.refresh_token, "until": until, "address": address}


def _is_issuer(asked: State, given: list[str]) -> bool:
    """Does the response come from the server that was asked (RFC 9207)? Not every server names itself."""
    own = parse_qs(urlsplit(asked["redirect"]).query).get("iss", [])
    issuers = given[len(own) :]
    if not issuers:
        return not asked.get("names_issuer")
    return asked.get("issuer") is None or issuers == [asked["issuer"]]
