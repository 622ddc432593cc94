"""The ASGI application: paths, methods, and one way from a request to its response."""

import asyncio
import re
import secrets
from collections.abc import Callable, MutableMapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import unquote
from uuid import UUID, uuid4

import msgspec
import structlog

from kontor.demobank.faults import Fault, FaultInjector
from kontor.demobank.xs2a.accounts import Accounts
from kontor.demobank.xs2a.asgi import AsgiApp, live, read_request
from kontor.demobank.xs2a.aspsp import DemoAspsp
from kontor.demobank.xs2a.authorising import Authoriser
from kontor.demobank.xs2a.cards import CardAccounts
from kontor.demobank.xs2a.consents import Consents
from kontor.demobank.xs2a.dialects import JSON, STANDARD, Dialect, change_amounts
from kontor.demobank.xs2a.exchanges import RefusedError, Request, Response, check_headers
from kontor.demobank.xs2a.fault_hooks import Xs2aFaults
from kontor.demobank.xs2a.oauth import OAuthServer
from kontor.demobank.xs2a.payments import PaymentOrders

log = structlog.get_logger(__name__)

PAGE_SIZE = 200
SERVED = ("/v1", "/v3", "/.well-known")
Handler = Callable[..., Response]
CONSENT = ("consent-id",)
ADDRESS = ("psu-ip-address",)


def draw_code() -> str:
    return secrets.token_urlsafe(16)


def make_xs2a_app(
    aspsp: DemoAspsp,
    *,
    page_size: int = PAGE_SIZE,
    confirms_redirects: bool = True,
    draw_code: Callable[[], str] = draw_code,
    pages: AsgiApp | None = None,
    faults: FaultInjector | None = None,
    dialect: Dialect = STANDARD,
) -> AsgiApp:
    """`confirms_redirects`: a payment confirmed on the bank's page waits for the third party's confirmation code.

    `pages` serves what the interface does not, the bank's own page above all. `faults` concern the interface.
    """
    consents = Consents(aspsp, Authoriser(aspsp, draw_code), dialect)
    authoriser = Authoriser(aspsp, draw_code)
    orders = PaymentOrders(aspsp, authoriser, confirms_redirects=confirms_redirects, dialect=dialect)
    routes = _list_routes(aspsp, consents, orders, page_size, dialect)
    oauth = None if dialect.oauth is None else OAuthServer(aspsp, consents, orders, dialect, draw_code)
    respond = partial(_answer, routes, dialect, oauth)
    disruptions = None if faults is None else Xs2aFaults(faults)

    async def app(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await live(receive, send)
            return
        if pages is not None and not scope["path"].startswith(SERVED):
            await pages(scope, receive, send)
            return
        request = await read_request(scope, receive)
        if disruptions is None:
            response = await asyncio.to_thread(respond, request)
        else:
            response = await asyncio.to_thread(disruptions.exchange, request, respond)
        await _write(send, request, response, dialect)

    return app


def _list_routes(
    aspsp: DemoAspsp,
    consents: Consents,
    orders: PaymentOrders,
    page_size: int,
    dialect: Dialect,
) -> list[tuple[str, re.Pattern[str], tuple[str, ...], Handler]]:
    accounts = Accounts(aspsp, consents, page_size, dialect)
    cards = CardAccounts(aspsp, consents, page_size, dialect)
    one_payment = "/v1/{}/{}/{}"
    listed: list[tuple[str, str, tuple[str, ...], Handler]] = [
        ("POST", "/v1/consents", ADDRESS, consents.create),
        ("GET", "/v1/consents/{}", (), consents.read),
        ("DELETE", "/v1/consents/{}", (), consents.delete),
        ("GET", "/v1/consents/{}/status", (), consents.read_status),
        ("POST", "/v1/consents/{}/authorisations", (), consents.authorise),
        ("GET", "/v1/consents/{}/authorisations", (), consents.list_authorisations),
        ("GET", "/v1/consents/{}/authorisations/{}", (), consents.read_authorisation),
        ("PUT", "/v1/consents/{}/authorisations/{}", (), consents.update_authorisation),
        ("GET", "/v1/accounts", CONSENT, accounts.list_all),
        ("GET", "/v1/accounts/{}", CONSENT, accounts.read),
        ("GET", "/v1/accounts/{}/balances", CONSENT, accounts.read_balances),
        ("GET", "/v1/accounts/{}/transactions", CONSENT, accounts.list_transactions),
        ("GET", "/v1/accounts/{}/transactions/{}", CONSENT, accounts.read_transaction),
        ("GET", "/v1/card-accounts", CONSENT, cards.list_all),
        ("GET", "/v1/card-accounts/{}", CONSENT, cards.read),
        ("GET", "/v1/card-accounts/{}/balances", CONSENT, cards.read_balances),
        ("GET", "/v1/card-accounts/{}/transactions", CONSENT, cards.list_transactions),
        ("POST", "/v1/{}/{}", ADDRESS, orders.create),
        ("GET", one_payment, (), orders.read),
        ("DELETE", one_payment, (), orders.cancel),
        ("GET", f"{one_payment}/status", (), orders.read_status),
        ("POST", f"{one_payment}/authorisations", (), orders.authorise),
        ("GET", f"{one_payment}/authorisations", (), orders.list_authorisations),
        ("GET", f"{one_payment}/authorisations/{{}}", (), orders.read_authorisation),
        ("PUT", f"{one_payment}/authorisations/{{}}", (), orders.update_authorisation),
        ("POST", f"{one_payment}/cancellation-authorisations", (), orders.authorise_cancellation),
        ("GET", f"{one_payment}/cancellation-authorisations", (), orders.list_cancellation_authorisations),
        ("GET", f"{one_payment}/cancellation-authorisations/{{}}", (), orders.read_cancellation_authorisation),
        ("PUT", f"{one_payment}/cancellation-authorisations/{{}}", (), orders.update_cancellation_authorisation),
    ]
    return [
        (method, re.compile(path.replace("{}", "([^/]+)")), needed, handler) for method, path, needed, handler in listed
    ]


def _answer(
    routes: list[tuple[str, re.Pattern[str], tuple[str, ...], Handler]],
    dialect: Dialect,
    oauth: OAuthServer | None,
    request: Request,
) -> Response:
    """The first route that fits the path decides which methods there are."""
    try:
        if request.visit.fault is Fault.REFUSED_PIN:
            raise RefusedError("PSU_CREDENTIALS_INVALID", "Die Zugangsdaten sind falsch.")
        if request.path.startswith(dialect.accounts_path):
            request = replace(request, path=f"/v1/accounts{request.path.removeprefix(dialect.accounts_path)}")
        if oauth is not None:
            if (answered := oauth.answer(request)) is not None:
                return answered
            request = oauth.check(request)
        matches = [(route, match) for route in routes if (match := route[1].fullmatch(request.path))]
        family = [
            (route, match) for route, match in matches if route[1] is matches[0][0][1] or route[1] == matches[0][0][1]
        ]
        if not family:
            raise RefusedError("RESOURCE_UNKNOWN", "There is nothing here.")
        for (method, _, needed, handler), match in family:
            if method == request.method:
                check_headers(request, needed, _find_media(request, dialect))
                return handler(request, *(unquote(part) for part in match.groups()))
        allowed = ", ".join(sorted({route[0] for route, _ in family}))
        return _refuse(RefusedError("SERVICE_INVALID", "This method is not served here."), {"Allow": allowed})
    except RefusedError as error:
        return _refuse(error, {})
    except ConnectionError:
        return _refuse(RefusedError("SERVICE_UNAVAILABLE"), {})
    except Exception:
        log.exception("xs2a.failed", method=request.method)
        return _refuse(RefusedError("INTERNAL_SERVER_ERROR"), {})


def _find_media(request: Request, dialect: Dialect) -> str:
    is_list = request.path.startswith("/v1/accounts/") and request.path.endswith("/transactions")
    return dialect.media if is_list else JSON


def _refuse(error: RefusedError, headers: dict[str, str]) -> Response:
    message = {"category": "ERROR", "code": error.code} | ({"text": error.text} if error.text else {})
    # The standard gives a body to every refusal but these two.
    body = None if error.status in (500, 503) else {"tppMessages": [message]}
    return Response(error.status, body, headers)


async def _write(send: Any, request: Request, response: Response, dialect: Dialect) -> None:
    try:
        request_id = str(UUID(request.headers.get("x-request-id", "")))
    except ValueError:
        request_id = str(uuid4())
    headers = {"X-Request-ID": request_id, "Cache-Control": "no-store", **response.headers}
    body = b""
    if response.content is not None:
        body = response.content
    elif response.body is not None:
        body = msgspec.json.encode(change_amounts(response.body) if dialect.has_number_amounts else response.body)
        headers["Content-Type"] = "application/json"
    if response.status != 204:
        headers["Content-Length"] = str(len(body) + response.is_cut)  # more than will come
    listed = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": listed})
    await send({"type": "http.response.body", "body": body, "more_body": response.is_cut})
