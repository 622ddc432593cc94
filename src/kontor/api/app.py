"""The application: a Litestar app made from the declared operations, inside the edge."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from datetime import date, datetime
from functools import lru_cache, partial
from typing import Any
from weakref import finalize

from litestar import Litestar, Request, Response
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import ASGIApp

from kontor.api import (  # noqa: F401 (declares the operations)
    adviser_credit_v2,
    adviser_v2,
    ai_v1,
    health,
    jwks,
    management_v1,
    oauth2,
    oauth2_metadata,
    ops_egress_v1,
    ops_interventions_v1,
    ops_v1,
    providers_v2,
    tags_v1,
    tenant_merchants_v1,
    tenant_rules_v1,
    webhooks_v1,
)
from kontor.api.answers import JSON, PROBLEM_JSON, Answer, HttpError
from kontor.api.auth import authenticate
from kontor.api.customer_v2 import (  # noqa: F401 (declares the operations)
    accesses,
    account_statements,
    affordability,
    alerts,
    analyses,
    balances,
    budgets,
    cancellations,
    cashflow,
    completeness,
    consents,
    contracts,
    credit_files,
    customer_transactions,
    debit_returns,
    deltas,
    direct_debits,
    disclosures,
    exports,
    form_sessions,
    imports,
    legacy_transfers,
    life,
    own_categories,
    own_logins,
    payees,
    payment_answers,
    payment_files,
    payments,
    permissions,
    push_subscriptions,
    savings_goals,
    standing_orders,
    tagging,
    transaction_edits,
    transactions,
)
from kontor.api.data_uses import note_use
from kontor.api.dispatch import Dispatch
from kontor.api.documentation import documentation_routes
from kontor.api.edge import Edge, send_answer
from kontor.api.errors import answer_error
from kontor.api.head_requests import HeadRequests
from kontor.api.languages import TRANSLATED_PATHS, translate_answer
from kontor.api.operations import OPERATIONS, Call, Operation
from kontor.api.tracing import make_tracing
from kontor.config import Settings
from kontor.domain.clocks import BERLIN
from kontor.domain.operators import Operator
from kontor.domain.principals import Principal
from kontor.pages.browser import find_address
from kontor.services.bundle import Services
from kontor.wire.urls import Urls

ServicesFactory = Callable[[], AbstractAsyncContextManager[Services]]
# Pages for people are made by packages of their own; they get the services when the application runs.
PagesFactory = Callable[[Settings, Callable[[], Services]], list[HTTPRouteHandler]]
# Pages that know nothing but the API: they get the whole application, to call it as others do.
MissingPage = Callable[[Request[Any, Any, Any]], ASGIResponse]  # below an address that belongs to pages
ApiPagesFactory = Callable[[Settings, Callable[[], ASGIApp]], list[HTTPRouteHandler]]


def make_app(
    settings: Settings,
    open_services: ServicesFactory,
    operations: Sequence[Operation] = OPERATIONS,
    pages: Sequence[PagesFactory] = (),
    api_pages: Sequence[ApiPagesFactory] = (),
    missing_pages: Mapping[str, MissingPage] | None = None,
) -> ASGIApp:
    tracing = make_tracing(settings.otlp_endpoint)
    runner = Runner(settings, operations)

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        async with open_services() as services:
            runner.services = services
            warming = asyncio.create_task(services.compute.warm_up())
            yield
            warming.cancel()
        tracing.shut_down()

    app = Litestar(
        [
            *_options_routes(operations),  # first: Litestar makes its own where there is none yet
            *(runner.make_route(operation) for operation in operations),
            *documentation_routes(operations, settings.base_url, has_demo=settings.console_sample is not None),
            *(route for make_routes in pages for route in make_routes(settings, lambda: runner.services)),
            *(route for make_routes in api_pages for route in make_routes(settings, lambda: edge)),
        ],
        lifespan=[lifespan],
        exception_handlers={Exception: partial(_answer_routing_error, missing_pages or {})},
        openapi_config=None,
        logging_config=None,
    )
    dispatch = Dispatch(operations, runner.serve, app)
    transport_security = settings.transport_security if settings.base_url.startswith("https://") else None
    limits = (settings.request_seconds, settings.body_seconds)
    edge = Edge(HeadRequests(dispatch), *limits, tracing, transport_security)
    return edge


class Runner:
    """Runs operations: the checks that all of them share, in their fixed order, then the handler."""

    def __init__(self, settings: Settings, operations: Sequence[Operation]) -> None:
        self.settings = settings
        self.urls = Urls(settings.base_url, [operation.id for operation in operations])
        self._scopes = {operation.id: operation.scope for operation in operations}
        self._find_urls = lru_cache(maxsize=256)(self._make_urls)
        self.services: Services

    def _choose_urls(self, bearer: Principal | Operator | None) -> Urls:
        if isinstance(bearer, Principal):
            return self._find_urls(bearer.is_regulated, bearer.may_collect, bearer.scopes)
        return self.urls

    def _make_urls(self, is_regulated: bool, may_collect: bool, scopes: frozenset[str]) -> Urls:
        """They offer what a token can be used for."""
        withheld = set()
        if not is_regulated:
            # Such tenants pay on our own pages: the legacy form takes credentials.
            withheld.add("start_legacy_transfer")
        if not may_collect:
            withheld.add("initiate_direct_debit")
        offered = [name for name, scope in self._scopes.items() if scope is None or scope in scopes]
        return Urls(self.settings.base_url, [name for name in offered if name not in withheld])

    def make_route(self, operation: Operation) -> HTTPRouteHandler:
        async def handle(request: Request[Any, Any, Any]) -> ASGIResponse:
            return to_response(await self.answer(operation, request))

        return HTTPRouteHandler(
            _route_paths(operation), http_method=operation.method, name=operation.id, status_code=200
        )(handle)

    async def serve(self, operation: Operation, request: Request[Any, Any, Any], send: Any) -> None:
        answer = await self.answer(operation, request)
        if answer.pieces is not None:
            await to_response(answer)(request.scope, request.receive, send)
        else:
            await send_answer(answer, send)

    async def answer(self, operation: Operation, request: Request[Any, Any, Any]) -> Answer:
        """What the operation answers, or its error, in the caller's language."""
        try:
            answer = await self.run(operation, request)
        except Exception as error:
            answer = answer_error(error, request.headers.get("accept", ""))
        if operation.path.startswith(TRANSLATED_PATHS) and answer.media_type in (JSON, PROBLEM_JSON):
            await translate_answer(answer, request.headers.get("accept-language", ""))
        return answer

    async def run(self, operation: Operation, request: Request[Any, Any, Any]) -> Answer:
        scope: dict[str, Any] = request.scope  # type: ignore[assignment]
        scope["kontor.operation"] = operation.id
        if operation.retired_on is not None and operation.retired_on <= datetime.now(BERLIN).date():
            raise HttpError(410, f"This operation was retired on {operation.retired_on}.")
        bearer: Principal | Operator | None = None
        if operation.security.is_bearer:
            bearer = await authenticate(operation, request, self.services, self.settings.base_url)
        success = operation.success
        if success.media_type == JSON and not success.other_media_types and not operation.is_forgiving:
            _check_accept(find_accept(request.scope))
        address = find_address(request, self.settings.trusted_proxies)
        call = Call(operation, request, self.services, self.settings, self._choose_urls, bearer, address)
        if not operation.is_oauth:
            call.query_values()  # repeated and unknown parameters are refused everywhere, also where none is read
        answer = await _answer_admitted(call) if operation.is_heavy else await operation.handler(call)
        await note_use(call, answer)
        if operation.retired_on is not None:
            answer.headers["Sunset"] = _format_http_date(operation.retired_on)
        return answer


async def _answer_admitted(call: Call) -> Answer:
    """Until the answer is sent, also when it is sent in pieces."""
    with ExitStack() as stack:
        stack.enter_context(call.admit())
        answer = await call.operation.handler(call)
        if answer.pieces is not None:
            answer.pieces = _close_after(answer.pieces, stack.pop_all())
    return answer


def _close_after(pieces: AsyncIterator[bytes], stack: ExitStack) -> AsyncIterator[bytes]:
    async def send() -> AsyncIterator[bytes]:
        with stack:
            async for piece in pieces:
                yield piece

    sending = send()
    finalize(sending, stack.close)  # the caller may be gone before the first piece is asked for
    return sending


def _route_paths(operation: Operation) -> list[str]:
    paths = list(operation.paths)
    for name in operation.path_names:
        paths = [path.replace("{" + name + "}", "{" + name.replace("-", "_") + ":str}") for path in paths]
    return paths


def _options_routes(operations: Sequence[Operation]) -> list[HTTPRouteHandler]:
    """Litestar's own answer to OPTIONS names the methods of the first operation of a path only."""
    methods: dict[str, set[str]] = {}
    for operation in operations:
        for path in _route_paths(operation):
            methods.setdefault(path, {"OPTIONS"}).update(
                ("GET", "HEAD") if operation.method == "GET" else (operation.method,)
            )

    def make_route(path: str, allowed: str) -> HTTPRouteHandler:
        async def tell_methods() -> ASGIResponse:
            return ASGIResponse(status_code=204, headers={"Allow": allowed})

        return HTTPRouteHandler(path, http_method="OPTIONS", status_code=200)(tell_methods)

    return [make_route(path, ", ".join(sorted(names))) for path, names in methods.items()]


def to_response(answer: Answer) -> ASGIResponse:
    if answer.pieces is not None:
        return ASGIStreamingResponse(
            iterator=answer.pieces, status_code=answer.status, media_type=answer.media_type, headers=answer.headers
        )
    response = ASGIResponse(
        body=answer.body, status_code=answer.status, media_type=answer.media_type, headers=answer.headers
    )
    if answer.media_type is None:
        del response.headers["content-type"]  # an empty body is of no type; Litestar would call it JSON
    return response


def _answer_routing_error(
    missing_pages: Mapping[str, MissingPage], request: Request[Any, Any, Any], error: Exception
) -> Response[bytes]:
    """Only what happens before an operation is found comes here: unknown paths and methods. People get a page."""
    accept = request.headers.get("accept", "")
    page = next((page for prefix, page in missing_pages.items() if request.url.path.startswith(prefix)), None)
    if page is not None and "text/html" in accept and isinstance(error, NotFoundException):
        drawn = page(request)
        return Response(drawn.body, status_code=404, media_type="text/html", headers=dict(drawn.headers.items()))
    answer = answer_error(error, accept)
    return Response(answer.body, status_code=answer.status, media_type=answer.media_type, headers=answer.headers)


def find_accept(scope: Any) -> str | None:
    """Without building the whole map of headers, which most requests need for nothing else."""
    values = [value for key, value in scope["headers"] if key == b"accept"]
    return values[-1].decode("latin-1") if values else None


def _check_accept(accept: str | None) -> None:
    if not accept or accept in (JSON, "*/*"):
        return
    for part in accept.split(","):
        media, _, parameters = part.partition(";")
        is_refused = any(parameter.strip().replace(" ", "") in ("q=0", "q=0.0") for parameter in parameters.split(";"))
        if media.strip().lower() in (JSON, PROBLEM_JSON, "application/*", "*/*") and not is_refused:
            return
    raise HttpError(406, "Only application/json is served.")


def _format_http_date(day: date) -> str:
    return day.strftime("%a, %d %b %Y 00:00:00 GMT")
