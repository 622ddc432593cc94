"""The bank's OAuth 2 server: metadata, a page for the customer, codes with PKCE, tokens that are renewed and end.

Kept in memory, as consents are: who starts the bank anew must authorise again.
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

from kontor.demobank.pages import HEADERS, HTML, draw_login, name_problem
from kontor.demobank.xs2a.aspsp import DemoAspsp
from kontor.demobank.xs2a.consents import Consents
from kontor.demobank.xs2a.dialects import Dialect, OAuthUse
from kontor.demobank.xs2a.exchanges import RefusedError, Request, Response
from kontor.demobank.xs2a.payments import PaymentOrders
from kontor.demobank.xs2a.resources import BoundedStore, Payment
from kontor.storage.demo_bank import show_order

ACCESS_SECONDS = 600
CODE_SECONDS = 60
REFRESH_DAYS = 180
AUTHORISE = "/v1/authorise"
# A new consent, or a new order.
_NEW = re.compile(r"/v1/consents|/v1/(bulk-|periodic-)?payments/[^/]+")
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_CONSENT_SCOPE, _PAYMENT_SCOPE = "AIS:", "PIS:"


@dataclass
class AuthorisationRequest:
    """What a customer is asked on the bank's page, and the code that the answer leads to."""

    client_id: str
    redirect_uri: str
    scope: str
    state: str
    challenge: str
    consent_id: str | None
    login: str | None
    payment: Payment | None = None
    is_decided: bool = False


@dataclass
class Grant:
    """What a customer has allowed. All tokens of a grant end with it."""

    client_id: str
    login: str | None
    consent_id: str | None
    payment_path: str | None = None
    is_revoked: bool = False


@dataclass
class OAuthCredential:
    """A code, an access token or a refresh token: what it grants, and how long."""

    grant: Grant
    until: datetime
    request: AuthorisationRequest | None = None
    is_used: bool = False


class OAuthServer:
    def __init__(
        self,
        aspsp: DemoAspsp,
        consents: Consents,
        orders: PaymentOrders,
        dialect: Dialect,
        draw: Callable[[], str],
    ) -> None:
        self._aspsp = aspsp
        self._consents = consents
        self._orders = orders
        self._granted: BoundedStore[Grant] = BoundedStore()  # of payments, by their paths
        self._dialect = dialect
        self._draw = draw
        self._requests: BoundedStore[AuthorisationRequest] = BoundedStore()
        self._codes: BoundedStore[OAuthCredential] = BoundedStore()
        self._access: BoundedStore[OAuthCredential] = BoundedStore()
        self._refresh: BoundedStore[OAuthCredential] = BoundedStore()

    def answer(self, request: Request) -> Response | None:
        """None for what is no business of an OAuth server."""
        route = (request.method, request.path)
        if route == ("GET", self._dialect.discovery_path):
            return self._describe(request)
        if route == ("GET", AUTHORISE):
            return self._open(request)
        if request.method == "POST" and request.path.startswith(f"{AUTHORISE}/"):
            return self._decide(request, request.path.removeprefix(f"{AUTHORISE}/"))
        if route == ("POST", self._dialect.token_path):
            return self._issue(request)
        return None

    def check(self, request: Request) -> Request:
        """The request of a third party whose token reaches that far. Raises RefusedError for any other."""
        if not self._needs_token(request):
            return request
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        ticket = self._access.find(token) if kind.lower() == "bearer" else None
        if ticket is None or ticket.grant.is_revoked:
            raise RefusedError("TOKEN_INVALID", "Dieses Token gilt nicht.")
        if ticket.until <= self._aspsp.read_time():
            raise RefusedError("TOKEN_EXPIRED", "Dieses Token ist abgelaufen.")
        paid = self._find_granted(request)
        if paid is not None and ticket.grant.payment_path != paid.payment_path:
            raise RefusedError("TOKEN_INVALID", "Dieses Token gehört zu einem anderen Auftrag.")
        consent_id = request.headers.get("consent-id")
        if self._dialect.oauth is OAuthUse.INSTEAD:
            return replace(request, headers={**request.headers, "consent-id": ticket.grant.consent_id or ""})
        is_own = self._dialect.oauth is OAuthUse.BEFORE_CONSENT or ticket.grant.consent_id == consent_id
        if consent_id is not None and not is_own:
            raise RefusedError("TOKEN_INVALID", "Dieses Token gehört zu einer anderen Einwilligung.")
        return request

    def _needs_token(self, request: Request) -> bool:
        if request.path.startswith(("/v1/accounts", "/v1/card-accounts")):
            return True
        if self._dialect.oauth is OAuthUse.FOR_CONSENT:
            is_new = request.method == "POST" and _NEW.fullmatch(request.path) is not None
            return (is_new and self._dialect.needs_client_token) or self._find_granted(request) is not None
        return request.path.startswith("/v1/consents")

    def _find_granted(self, request: Request) -> Grant | None:
        """Of a payment that its customer has authorised here: from then on it is read with a token."""
        return self._granted.find("/".join(request.path.split("/")[:5]))

    # For the third party and the browser

    def _describe(self, request: Request) -> Response:
        base = _name_issuer(request)
        return Response(
            200,
            {
                "issuer": base,
                "authorization_endpoint": f"{base}{AUTHORISE}",
                "token_endpoint": f"{base}{self._dialect.token_path}",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
            },
        )

    def _open(self, request: Request) -> Response:
        """The page. Who asks wrongly is told so here: an address that is not proven gets no redirect."""
        query = request.query
        scope = query.get("scope", "")
        consent = payment = None
        if scope.startswith(_CONSENT_SCOPE):
            consent = self._consents.find(scope.removeprefix(_CONSENT_SCOPE))
        elif scope.startswith(_PAYMENT_SCOPE):
            payment = self._orders.find_open(scope.removeprefix(_PAYMENT_SCOPE))
        named = payment or consent
        is_right = (
            query.get("response_type") == "code"
            and query.get("code_challenge_method") == "S256"
            and _CHALLENGE.fullmatch(query.get("code_challenge", ""))
            and query.get("redirect_uri", "").startswith(("https://", "http://127.0.0.1", "http://localhost"))
            and query.get("client_id")
            and query.get("state")
            and scope
            and (named is not None) == (self._dialect.oauth is OAuthUse.FOR_CONSENT)
        )
        if not is_right or (consent is not None and consent.status != "received"):
            return _refuse("invalid_request")
        number = str(uuid4())
        asked = AuthorisationRequest(
            query["client_id"],
            query["redirect_uri"],
            scope,
            query["state"],
            query["code_challenge"],
            None if consent is None else consent.id,
            None if named is None else named.login,
            payment,
        )
        self._requests.put(number, asked)
        return self._show(request, number, asked, asked.login or "", None)

    def _show(
        self, request: Request, number: str, asked: AuthorisationRequest, login: str, problem: str | None
    ) -> Response:
        """What is asked for: the orders of a payment, or access to accounts."""
        accepted, action = request.headers.get("accept-language", ""), f"{AUTHORISE}/{number}"
        orders: list[list[str]] = []
        if asked.payment is not None and asked.payment.job is not None:
            orders = [show_order(order) for order in asked.payment.job.orders]
        page = draw_login(
            accepted, action, login, kind="payment" if orders else "access", orders=orders, problem=problem
        )
        return Response(200, content=page, headers={**HEADERS, "Content-Type": HTML})

    def _decide(self, request: Request, number: str) -> Response:
        asked = self._requests.find(number)
        if asked is None or asked.is_decided:
            return _refuse("invalid_request")
        form = dict(parse_qsl(request.body.decode("latin-1")))
        if form.get("decision") != "confirm":
            asked.is_decided = True
            if asked.consent_id is not None:
                self._consents.find(asked.consent_id).status = "rejected"
            if asked.payment is not None:
                self._orders.decline(asked.payment)
            return _return(asked, error="access_denied", iss=_name_issuer(request))
        login = form.get("login", "")
        try:
            self._aspsp.check_pin(login, form.get("pin", ""))
        except RefusedError as error:
            return self._show(request, number, asked, login, name_problem(error.code))
        asked.is_decided = True
        consent_id = asked.consent_id
        if self._dialect.oauth is OAuthUse.INSTEAD:
            consent_id = self._consents.grant_all(login).id
        elif consent_id is not None:
            self._consents.grant(consent_id, login)
        code = self._draw()
        grant = Grant(asked.client_id, login, consent_id)
        if asked.payment is not None:
            self._orders.grant(asked.payment, login)
            grant.payment_path = asked.payment.path
            self._granted.put(asked.payment.path, grant)
        self._codes.put(code, OAuthCredential(grant, self._find_end(seconds=CODE_SECONDS), asked))
        return _return(asked, code=code, iss=_name_issuer(request))

    # Tokens

    def _issue(self, request: Request) -> Response:
        form = dict(parse_qsl(request.body.decode("latin-1")))
        if not form.get("client_id"):
            return _refuse("invalid_client", 401)
        match form.get("grant_type"):
            case "authorization_code":
                return self._exchange_code(form)
            case "refresh_token":
                return self._renew(form)
            case "client_credentials":
                return self._write_tokens(Grant(form["client_id"], None, None), has_refresh=False)
        return _refuse("unsupported_grant_type")

    def _exchange_code(self, form: dict[str, str]) -> Response:
        ticket = self._codes.find(form.get("code", ""))
        if ticket is None or ticket.request is None or ticket.until <= self._aspsp.read_time():
            return _refuse("invalid_grant")
        if ticket.is_used:  # somebody has stolen it: whoever came first loses what he got
            ticket.grant.is_revoked = True
            return _refuse("invalid_grant")
        digest = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
        asked = ticket.request
        known = (asked.client_id, asked.redirect_uri, asked.challenge)
        if (form["client_id"], form.get("redirect_uri"), digest) != known:
            return _refuse("invalid_grant")
        ticket.is_used = True
        return self._write_tokens(ticket.grant, has_refresh=self._dialect.has_refresh_tokens)

    def _renew(self, form: dict[str, str]) -> Response:
        ticket = self._refresh.find(form.get("refresh_token", ""))
        is_good = ticket is not None and not ticket.is_used and ticket.grant.client_id == form["client_id"]
        if ticket is None or not is_good or ticket.grant.is_revoked or ticket.until <= self._aspsp.read_time():
            return _refuse("invalid_grant")
        ticket.is_used = True
        return self._write_tokens(ticket.grant, has_refresh=True)

    def _write_tokens(self, grant: Grant, *, has_refresh: bool) -> Response:
        access, refresh = self._draw(), self._draw()
        self._access.put(access, OAuthCredential(grant, self._find_end(seconds=ACCESS_SECONDS)))
        shown: dict[str, str | int] = {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": ACCESS_SECONDS,
        }
        if has_refresh:
            self._refresh.put(refresh, OAuthCredential(grant, self._find_end(days=REFRESH_DAYS)))
            shown["refresh_token"] = refresh
        return Response(200, shown)

    def _find_end(self, **after: float) -> datetime:
        return self._aspsp.read_time() + timedelta(**after)


def _name_issuer(request: Request) -> str:
    return f"http://{request.headers['host']}"


def _return(asked: AuthorisationRequest, **told: str) -> Response:
    """To the caller's address, whose own query is kept (RFC 6749, 3.1.2)."""
    joint = "&" if "?" in asked.redirect_uri else "?"
    target = f"{asked.redirect_uri}{joint}{urlencode({**told, 'state': asked.state})}"
    return Response(303, content=b"", headers={**HEADERS, "Location": target})


def _refuse(error: str, status: int = 400) -> Response:
    return Response(status, {"error": error})
