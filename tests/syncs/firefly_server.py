"""A small Firefly III: the part of its API that `kontor sync firefly` uses, as its documentation describes it.

What comes in is checked against `FIELDS`, our own words for what the API takes. With `observe`, each request and answer
is shown to somebody who knows better.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "firefly-token"
ACCOUNT = {"name", "type", "account_role", "currency_code", "iban", "opening_balance", "opening_balance_date"}
SPLIT = {
    "type", "date", "amount", "description", "category_name", "source_id", "source_name", "destination_id",
    "destination_name", "tags", "external_id",
}  # fmt: skip
FIELDS = {
    ("POST", "accounts"): (ACCOUNT, {"name", "type"}),
    ("PUT", "accounts"): (ACCOUNT, {"name"}),
    ("POST", "transactions"): (SPLIT, {"type", "date", "amount", "description"}),
    ("PUT", "transactions"): (SPLIT | {"transaction_journal_id"}, set()),
}
Observer = Callable[[str, str, Any, int, Any], None]


@dataclass
class FireflyServer:
    """Its books. `breaks_after` entries that were stored, the connection breaks without an answer."""

    address: str = ""
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    observe: Observer | None = None
    breaks_after: int | None = None
    page_rows: int = 500
    number: int = 0

    def next_id(self) -> str:
        self.number += 1
        return str(self.number)

    def entries(self) -> dict[str, dict[str, Any]]:
        """By description."""
        return {group["description"]: group for group in self.groups.values()}

    def balance(self, id: str) -> Decimal:
        signed = [
            Decimal(split["amount"]) * (1 if split.get("destination_id") == id else -1)
            for split in self.groups.values()
            if id in (split.get("source_id"), split.get("destination_id"))
        ]
        return sum(signed, Decimal(self.accounts[id].get("opening_balance") or 0))

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        kind, _, id = path.partition("/")
        if kind == "about":
            return 200, {"data": {"version": "6.6.2", "api_version": "6.6.2", "php_version": "8.4", "os": "Linux"}}
        if path == "search/transactions":
            wanted = re.fullmatch(r'external_id_is:"(.*)"', query["query"])
            assert wanted, query
            return self._list(
                [self._show_group(key) for key, group in self.groups.items() if group["external_id"] == wanted[1]],
                query,
            )
        if method in ("POST", "PUT"):
            for sent in body["transactions"] if kind == "transactions" else [body]:
                known, required = FIELDS[method, kind]
                assert set(sent) <= known, set(sent) - known
                assert required <= set(sent), required - set(sent)
        handle = self._answer_accounts if kind == "accounts" else self._answer_transactions
        return handle(method, id, query, body)

    def _answer_accounts(self, method: str, id: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        if method == "POST":
            id = self.next_id()
            self.accounts[id] = body
        elif not id:
            return self._list([self._show_account(key) for key in self.accounts], query)
        elif id not in self.accounts:
            return 404, {"message": "Resource not found", "exception": "NotFoundHttpException"}
        elif method == "PUT":
            self.accounts[id] |= body
        return 200, {"data": self._show_account(id)}

    def _answer_transactions(self, method: str, id: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        if method == "POST":
            [split] = body["transactions"]
            same = next(
                (key for key, group in self.groups.items() if {**group, "journal": 0} == {**split, "journal": 0}), None
            )
            if body["error_if_duplicate_hash"] and same:
                text = f"Duplicate of transaction #{same}."
                return 422, {"message": text, "errors": {"transactions.0.description": [text]}}
            id = self.next_id()
            self.groups[id] = split | {"journal": self.next_id()}
        elif not id:
            return self._list([self._show_group(key) for key in self.groups], query)
        elif id not in self.groups:
            return 404, {"message": "Resource not found", "exception": "NotFoundHttpException"}
        elif method == "DELETE":
            del self.groups[id]
            return 204, None
        elif method == "PUT":
            [split] = body["transactions"]
            assert split.pop("transaction_journal_id") == self.groups[id]["journal"]
            if split.get("type", self.groups[id]["type"]) != self.groups[id]["type"]:
                self.groups[id] = {
                    key: value for key, value in self.groups[id].items() if not key.startswith(("source", "dest"))
                }
            self.groups[id] |= split
        return 200, {"data": self._show_group(id)}

    def _list(self, shown: list[Any], query: dict[str, str]) -> tuple[int, Any]:
        size, page = min(int(query.get("limit", 50)), self.page_rows), int(query.get("page", 1))
        part = shown[(page - 1) * size : page * size]
        pagination = {
            "total": len(shown), "count": len(part), "per_page": size, "current_page": page,
            "total_pages": max(1, -(-len(shown) // size)),
        }  # fmt: skip
        return 200, {"data": part, "meta": {"pagination": pagination}, "links": {"self": "http://x/?page=1"}}

    def _show_account(self, id: str) -> dict[str, Any]:
        account = self.accounts[id]
        names = ("name", "type", "account_role", "currency_code", "iban", "opening_balance")
        shown = {name: account.get(name) for name in names if account.get(name) is not None}
        opened = account.get("opening_balance_date")
        shown |= {"opening_balance_date": f"{opened}T00:00:00+00:00"} if opened else {}
        return {
            "type": "accounts",
            "id": id,
            "attributes": shown | {"current_balance": str(self.balance(id)), "active": True},
        }

    def _show_group(self, id: str) -> dict[str, Any]:
        group = self.groups[id]
        sides = {
            "source_id": group.get("source_id", "901"),
            "source_name": group.get("source_name", "own"),
            "destination_id": group.get("destination_id", "902"),
            "destination_name": group.get("destination_name", "own"),
        }
        split = {key: value for key, value in group.items() if key != "journal"} | sides
        split |= {"transaction_journal_id": group["journal"], "date": f"{group['date']}T00:00:00+01:00"}
        return {
            "type": "transactions",
            "id": id,
            "attributes": {"group_title": None, "transactions": [split]},
            "links": {"self": f"http://x/{id}", "0": {"rel": "self", "uri": f"/transactions/{id}"}},
        }


@contextmanager
def serve_firefly(server: FireflyServer) -> Iterator[FireflyServer]:
    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self.send(401, {"message": "Unauthenticated.", "exception": "AuthenticationException"})
                return
            path = url.path.removeprefix("/api/v1/")
            status, answer = server.answer(self.command, path, query, json.loads(json.dumps(body)))
            if server.observe is not None:
                server.observe(self.command, path, body, status, answer)
            if self.command == "POST" and path == "transactions" and server.breaks_after is not None:
                server.breaks_after -= 1
                if server.breaks_after < 0:
                    server.breaks_after = None
                    self.close_connection = True
                    self.connection.close()
                    return
            self.send(status, answer)

        def send(self, status: int, answer: Any) -> None:
            content = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.api+json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815 the library's names

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    server.address = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
