"""The ASGI application: paths, tokens, and the bank's page for the customer."""

import asyncio
import re
from collections.abc import Callable, MutableMapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import structlog

from kontor.demobank.enablebanking.applications import check_token
from kontor.demobank.enablebanking.exchanges import (
    AuthorizeSession,
    RefusedError,
    StartAuthorization,
    read_body,
    show_refusal,
)
from kontor.demobank.enablebanking.service import Authorisation, DemoService
from kontor.demobank.pages import HEADERS, HTML, STYLE, draw_login, name_problem, read_style
from kontor.demobank.xs2a.asgi import AsgiApp, live, read_request
from kontor.demobank.xs2a.exchanges import RefusedError as BankRefusedError
from kontor.demobank.xs2a.exchanges import Request, Response
from kontor.domain.callbacks import add_to_query

log = structlog.get_logger(__name__)

PAGE = "/authorise/"
FAILED = {"error": "server_error", "error_description": "Die Bank antwortet zurzeit nicht."}
WRONG_LOGIN = ("PSU_CREDENTIALS_INVALID", "SERVICE_BLOCKED")
Handler = Callable[..., Any]


def make_enablebanking_app(service: DemoService) -> AsgiApp:
    style = read_style()
    routes = _list_routes(service)

    def respond(request: Request) -> Response:
        if request.path == STYLE:
            return Response(200, content=style, headers={"Content-Type": "text/css"})
        if request.path.startswith(PAGE):
            return _show_page(service, request)
        return _answer(service, routes, request)

    async def app(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await live(receive, send)
            return
        request = await read_request(scope, receive)
        await _write(send, await asyncio.to_thread(respond, request))

    return app


def _list_routes(service: DemoService) -> list[tuple[str, re.Pattern[str], Handler]]:
    listed: list[tuple[str, str, Handler]] = [
        ("GET", "/application", lambda request: service.show_application()),
        ("GET", "/aspsps", lambda request: service.list_banks(request.query)),
        ("POST", "/auth", partial(_start, service)),
        ("POST", "/sessions", lambda request: service.open_session(read_body(request.body, AuthorizeSession))),
        ("GET", "/sessions/{}", lambda request, session: service.show_session(session)),
        ("DELETE", "/sessions/{}", lambda request, session: service.close(session)),
        ("GET", "/accounts/{}/details", lambda request, uid: service.show_details(uid, request.headers)),
        ("GET", "/accounts/{}/balances", lambda request, uid: service.show_balances(uid, request.headers)),
        (
            "GET",
            "/accounts/{}/transactions",
            lambda request, uid: service.list_transactions(uid, request.headers, request.query),
        ),
    ]
    return [(method, re.compile(path.replace("{}", "([0-9a-f-]{36})")), handler) for method, path, handler in listed]


def _start(service: DemoService, request: Request) -> dict[str, Any]:
    return service.start(read_body(request.body, StartAuthorization), f"http://{request.headers.get('host', '')}")


def _answer(service: DemoService, routes: list[tuple[str, re.Pattern[str], Handler]], request: Request) -> Response:
    try:
        check_token(service.application, request.headers.get("authorization"))
        for method, pattern, handler in routes:
            match = pattern.fullmatch(request.path)
            if match is not None and method == request.method:
                return Response(200, handler(request, *match.groups()))
        return Response(404, {"code": 404, "message": "There is nothing here"})
    except RefusedError as error:
        return Response(error.status, show_refusal(error))
    except (BankRefusedError, ConnectionError):
        return Response(400, show_refusal(RefusedError("ASPSP_ERROR")))
    except Exception:
        log.exception("enablebanking.failed", method=request.method)
        return Response(500, {"code": 500, "message": "Something went wrong"})


def _show_page(service: DemoService, request: Request) -> Response:
    """The customer logs in and decides. What was decided once cannot be decided again."""
    asked = service.find_open(request.path.removeprefix(PAGE))
    if asked is None:
        return Response(410, content=b"", headers=HEADERS)
    if request.method != "POST":
        return _ask(request, asked, "")
    form = dict(parse_qsl(request.body.decode("latin-1")))
    if form.get("decision") != "confirm":
        return _return(asked, error="access_denied", error_description="Cancelled by the customer")
    login = form.get("login", "")
    try:
        service.aspsp.check_pin(login, form.get("pin", ""))
    except BankRefusedError as error:
        if error.code in WRONG_LOGIN:
            return _ask(request, asked, login, name_problem(error.code))
        return _return(asked, **FAILED)
    return _return(asked, code=service.grant(asked, login))


def _ask(request: Request, asked: Authorisation, login: str, problem: str | None = None) -> Response:
    accepted, until = request.headers.get("accept-language", ""), asked.wanted.access.valid_until
    page = draw_login(accepted, request.path, login, kind="access_until", until=until.date(), problem=problem)
    return Response(200, content=page, headers={**HEADERS, "Content-Type": HTML})


def _return(asked: Authorisation, **told: str) -> Response:
    asked.is_decided = True
    target = add_to_query(asked.wanted.redirect_url, state=asked.wanted.state, **told)
    return Response(303, content=b"", headers={**HEADERS, "Location": target})


async def _write(send: Any, response: Response) -> None:
    headers = {"Cache-Control": "no-store", **response.headers}
    body = response.content
    if body is None:
        body = msgspec.json.encode(response.body)
        headers["Content-Type"] = "application/json"
    headers["Content-Length"] = str(len(body))
    listed = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": listed})
    await send({"type": "http.response.body", "body": body})
