"""The page to which the demo bank sends its customers. In the demo only."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from litestar import Request
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse

from kontor.config import Settings
from kontor.demobank.pages import HEADERS, MAX_FORM, STYLE, draw_gone, draw_question, read_style
from kontor.domain.callbacks import add_to_query
from kontor.services.bundle import Services
from kontor.storage import demo_bank

CONFIRM = "/demobank/confirm/{page_id:uuid}"


def make_routes(settings: Settings, get_services: Callable[[], Services]) -> list[HTTPRouteHandler]:
    if not settings.demo_bank:
        return []
    style = read_style()

    async def show(request: Request[Any, Any, Any]) -> ASGIResponse:
        _name(request, "demobank show")
        page_id: UUID = request.path_params["page_id"]
        async with get_services().database.connect() as connection:
            page = await demo_bank.find_page(connection, page_id)
        accepted = _find_accepted(request)
        if page is None:
            return _html(draw_gone(accepted), 410)
        return _html(draw_question(accepted, request.url.path, page.orders))

    async def decide(request: Request[Any, Any, Any]) -> ASGIResponse:
        """Once: the first decision stands, and the browser goes back with it."""
        _name(request, "demobank decide")
        page_id: UUID = request.path_params["page_id"]
        body = await request.body()
        form = parse_qs(body[:MAX_FORM].decode("latin-1"))
        is_confirmed = form.get("decision") == ["confirm"]
        async with get_services().database.transaction() as connection:
            page = await demo_bank.find_page(connection, page_id)
            if page is None:
                return _html(draw_gone(_find_accepted(request)), 410)
            await demo_bank.decide_page(connection, page_id, is_confirmed=is_confirmed)
        target = add_to_query(page.return_url, result="ok" if is_confirmed else "cancelled")
        return ASGIResponse(status_code=303, headers=HEADERS | {"Location": target}, media_type="text/plain")

    async def show_style(request: Request[Any, Any, Any]) -> ASGIResponse:
        _name(request, "demobank style")
        return ASGIResponse(body=style, media_type="text/css", headers={"Cache-Control": "public, max-age=3600"})

    handlers: list[tuple[str, str, Callable[[Request[Any, Any, Any]], Awaitable[ASGIResponse]]]] = [
        ("GET", CONFIRM, show),
        ("POST", CONFIRM, decide),
        ("GET", STYLE, show_style),
    ]
    return [
        HTTPRouteHandler(path, http_method=method, status_code=200, name=f"demobank {handler.__name__}")(handler)  # type: ignore[arg-type]
        for method, path, handler in handlers
    ]


def _find_accepted(request: Request[Any, Any, Any]) -> str:
    return request.headers.get("accept-language", "")


def _name(request: Request[Any, Any, Any], operation: str) -> None:
    scope: dict[str, Any] = request.scope  # type: ignore[assignment]
    scope["kontor.operation"] = operation


def _html(body: bytes, status: int = 200) -> ASGIResponse:
    return ASGIResponse(body=body, status_code=status, media_type="text/html", headers=HEADERS)
