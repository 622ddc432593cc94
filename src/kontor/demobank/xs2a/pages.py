"""The bank's own page, where a redirect leads, for a bank that runs on its own."""

import asyncio
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from kontor.demobank.pages import HEADERS, HTML, MAX_FORM, STYLE, draw_gone, draw_question, read_style
from kontor.demobank.xs2a.asgi import AsgiApp
from kontor.domain.callbacks import add_to_query
from kontor.storage.demo_bank_pages import DemoBankPages

PREFIX = "/demobank/confirm/"


def make_pages(bank: DemoBankPages) -> AsgiApp:
    style = read_style()

    def show(page_id: UUID, path: str, accepted: str) -> tuple[int, bytes, dict[str, str]]:
        page = bank.find_page(page_id)
        if page is None:
            return 410, draw_gone(accepted), {}
        return 200, draw_question(accepted, path, page.orders), {}

    def decide(page_id: UUID, form: bytes, accepted: str) -> tuple[int, bytes, dict[str, str]]:
        page = bank.find_page(page_id)
        is_confirmed = parse_qs(form[:MAX_FORM].decode("latin-1")).get("decision") == ["confirm"]
        if page is None or not bank.decide_page(page_id, is_confirmed=is_confirmed):
            return 410, draw_gone(accepted), {}
        target = add_to_query(page.return_url, result="ok" if is_confirmed else "cancelled")
        return 303, b"", {"Location": target}

    async def app(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        path: str = scope["path"]
        accepted = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
        form = (await receive()).get("body", b"")
        try:
            page_id = UUID(path.removeprefix(PREFIX)) if path.startswith(PREFIX) else None
        except ValueError:
            page_id = None
        if path == STYLE:
            await _send(send, 200, style, {"Content-Type": "text/css"})
        elif page_id is not None and scope["method"] == "GET":
            await _send(send, *await asyncio.to_thread(show, page_id, path, accepted))
        elif page_id is not None and scope["method"] == "POST":
            await _send(send, *await asyncio.to_thread(decide, page_id, form, accepted))
        else:
            await _send(send, 404, draw_gone(accepted), {})

    return app


async def _send(send: Any, status: int, body: bytes, headers: dict[str, str]) -> None:
    headers = {**HEADERS, "Content-Type": HTML, "Content-Length": str(len(body)), **headers}
    listed = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})
