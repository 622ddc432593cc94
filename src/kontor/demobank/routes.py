"""The page to which the demo bank sends its customers. It looks like a bank's, not like ours; in the demo only."""

from collections.abc import Awaitable, Callable
from html import escape
from importlib import resources
from string import Template
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from litestar import Request
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse

from kontor.config import Settings
from kontor.domain.callbacks import add_to_query
from kontor.services.bundle import Services
from kontor.storage import demo_bank

CONFIRM = "/demobank/confirm/{page_id:uuid}"
STYLE = "/demobank/style.css"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
    ),
}
LARGEST_FORM = 4096


def make_routes(settings: Settings, get_services: Callable[[], Services]) -> list[HTTPRouteHandler]:
    if not settings.demo_bank:
        return []
    files = resources.files("kontor.demobank")
    ask_access = Template(files.joinpath("confirm.html").read_text(encoding="utf-8"))
    ask_payment = Template(files.joinpath("pay.html").read_text(encoding="utf-8"))
    gone = files.joinpath("gone.html").read_bytes()
    style = files.joinpath("style.css").read_bytes()

    async def show(request: Request[Any, Any, Any]) -> ASGIResponse:
        _name(request, "demobank show")
        page_id: UUID = request.path_params["page_id"]
        async with get_services().database.connect() as connection:
            page = await demo_bank.find_page(connection, page_id)
        if page is None:
            return _html(gone, 410)
        question = ask_payment if page.orders else ask_access
        return _html(question.substitute(page_id=page_id, orders=show_orders(page.orders)).encode())

    async def decide(request: Request[Any, Any, Any]) -> ASGIResponse:
        """Once: the first decision stands, and the browser goes back with it."""
        _name(request, "demobank decide")
        page_id: UUID = request.path_params["page_id"]
        body = await request.body()
        form = parse_qs(body[:LARGEST_FORM].decode("latin-1"))
        is_confirmed = form.get("decision") == ["confirm"]
        async with get_services().database.transaction() as connection:
            page = await demo_bank.find_page(connection, page_id)
            if page is None:
                return _html(gone, 410)
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


def show_orders(orders: list[list[str]]) -> str:
    """What the customer is about to pay, as a description list per order."""
    labels = ("Name", "IBAN", "Betrag", "Verwendungszweck")
    lists = (
        "".join(f"<dt>{label}</dt><dd>{escape(text)}</dd>" for label, text in zip(labels, order, strict=True) if text)
        for order in orders
    )
    return "\n".join(f"<dl>{rows}</dl>" for rows in lists)


def _name(request: Request[Any, Any, Any], operation: str) -> None:
    scope: dict[str, Any] = request.scope  # type: ignore[assignment]
    scope["kontor.operation"] = operation


def _html(body: bytes, status: int = 200) -> ASGIResponse:
    return ASGIResponse(body=body, status_code=status, media_type="text/html", headers=HEADERS)
