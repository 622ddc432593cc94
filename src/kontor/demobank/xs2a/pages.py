"""The bank's own page, where a redirect leads, for a bank that runs on its own."""

import asyncio
from collections.abc import MutableMapping
from importlib import resources
from string import Template
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from kontor.demobank.routes import HEADERS, LARGEST_FORM, STYLE, show_orders
from kontor.demobank.xs2a.asgi import AsgiApp
from kontor.domain.callbacks import add_to_query
from kontor.storage.demo_bank_pages import DemoBankPages

PREFIX = "/demobank/confirm/"


def make_pages(bank: DemoBankPages) -> AsgiApp:
    files = resources.files("kontor.demobank")
    ask_access = Template(files.joinpath("confirm.html").read_text(encoding="utf-8"))
    ask_payment = Template(files.joinpath("pay.html").read_text(encoding="utf-8"))
    gone = files.joinpath("gone.html").read_bytes()
    style = files.joinpath("style.css").read_bytes()

    def show(page_id: UUID) -> tuple[int, bytes, dict[str, str]]:
        page = bank.find_page(page_id)
        if page is None:
            return 410, gone, {}
        question = ask_payment if page.orders else ask_access
        return 200, question.substitute(page_id=page_id, orders=show_orders(page.orders)).encode(), {}

    def decide(page_id: UUID, form: bytes) -> tuple[int, bytes, dict[str, str]]:
        page = bank.find_page(page_id)
        is_confirmed = parse_qs(form[:LARGEST_FORM].decode("latin-1")).get("decision") == ["confirm"]
        if page is None or not bank.decide_page(page_id, is_confirmed=is_confirmed):
            return 410, gone, {}
        target = add_to_query(page.return_url, result="ok" if is_confirmed else "cancelled")
        return 303, b"", {"Location": target}

    async def app(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        path: str = scope["path"]
        form = (await receive()).get("body", b"")
        try:
            page_id = UUID(path.removeprefix(PREFIX)) if path.startswith(PREFIX) else None
        except ValueError:
            page_id = None
        if path == STYLE:
            await _send(send, 200, style, {"Content-Type": "text/css"})
        elif page_id is not None and scope["method"] == "GET":
            await _send(send, *await asyncio.to_thread(show, page_id))
        elif page_id is not None and scope["method"] == "POST":
            await _send(send, *await asyncio.to_thread(decide, page_id, form))
        else:
            await _send(send, 404, gone, {})

    return app


async def _send(send: Any, status: int, body: bytes, headers: dict[str, str]) -> None:
    headers = {**HEADERS, "Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **headers}
    listed = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})
