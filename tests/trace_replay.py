"""Replaying a trace: a server answers the n-th request with the n-th recorded answer.

It checks that the connector sends the same kinds of segments, or the same method and path, as in the recording.
"""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

from kontor.connectors.base import (
    Answer,
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Connector,
    Context,
    Continue,
    Done,
    Failed,
    Fetch,
    Fetched,
    Headers,
    NeedMedium,
    NeedMethod,
    Poll,
    Progress,
    Returned,
    Step,
    Tan,
)
from kontor.connectors.fints import FintsBank, FintsConnector
from kontor.connectors.fints.quirks import find_quirks
from kontor.connectors.profiles import load_shipped
from kontor.connectors.traces.fints_messages import list_kinds, read_message, show_message, split_message
from kontor.connectors.traces.http_messages import HOST
from kontor.connectors.xs2a import Xs2aConnector, read_profile
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret

CREDENTIALS = {"userid": Secret("replayed"), "pin": Secret("replayed")}
CUSTOMER_IP = "93.184.216.34"
CALLBACK_URL = "https://caller.example/back"
RETURNED = "code=replayed"  # a bank's confirmation code is masked in the trace


@dataclass
class ReplayingBank:
    """`mismatches` says where the connector did something else than in the recording."""

    trace: dict[str, Any]
    url: str = ""
    served: int = 0
    mismatches: list[str] = field(default_factory=list)

    def take(self, asked: Any) -> dict[str, Any] | None:
        """The recorded exchange for this request; None where it does not fit."""
        exchanges = self.trace["exchanges"]
        number, self.served = self.served, self.served + 1
        if number >= len(exchanges):
            self.mismatches.append(f"request {number}: more than recorded, {asked}")
            return None
        recorded = self._describe(exchanges[number])
        if asked != recorded:
            self.mismatches.append(f"request {number}: {asked} instead of {recorded}")
            return None
        return exchanges[number]

    @staticmethod
    def _describe(exchange: dict[str, Any]) -> Any:
        if "request" in exchange:
            return list_kinds(exchange["request"])
        return [exchange["method"], exchange["path"].partition("?")[0]]

    def make_connector(self) -> Connector:
        bank = self.trace["bank"]
        if self.trace["connector"] == "fints":
            known = FintsBank(bank["code"], self.url, find_quirks(load_shipped(), bank["code"], bank["group"]))
            return FintsConnector(lambda provider: known, "replay")
        prefix = self.trace["exchanges"][0]["path"].partition("/v1/")[0]
        profile = read_profile({"base_url": self.url + prefix} | self.trace.get("profile", {}), bank["code"] or "")
        return Xs2aConnector(lambda provider: profile)


@contextmanager
def replaying(trace: dict[str, Any]) -> Iterator[ReplayingBank]:
    bank = ReplayingBank(trace)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length", 0)))
            if trace["connector"] == "fints":
                exchange = bank.take(list_kinds(show_message(split_message(base64.b64decode(content)))))
                if exchange is not None and "answer" in exchange:
                    self._send(200, base64.b64encode(read_message(exchange["answer"])), {})
                return
            exchange = bank.take([self.command, self.path.partition("?")[0]])
            if exchange is not None and "answer" in exchange:
                answer = exchange["answer"]
                text = answer.get("body", "")
                body = (text if isinstance(text, str) else json.dumps(text)).replace(HOST, bank.url)
                self._send(answer["status"], body.encode(), answer["headers"])

        do_GET = do_PUT = do_DELETE = do_POST  # noqa: N815

        def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    bank.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield bank
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def replay(trace: dict[str, Any]) -> tuple[ReplayingBank, Headers | None, Done | Failed]:
    """The fetch of the recording, with the same answers of the customer."""
    bank_code = trace["bank"]["code"]
    provider = Provider(UUID(int=9), trace["bank"]["name"], trace["connector"], (), (), bank_code=bank_code)
    context = Context(date.fromisoformat(trace["today"]), "customer", CUSTOMER_IP, CALLBACK_URL)
    answers, headers = iter(trace["steps"]), None
    with replaying(trace) as bank:
        connector = bank.make_connector()
        step = connector.begin(provider, CREDENTIALS, Fetch(), None, context)
        while not isinstance(step, Done | Failed):
            if isinstance(step, Progress):
                headers, answer = step.partial, Continue()
            else:
                answer = answer_as(step, next(answers))
            step = connector.resume(provider, CREDENTIALS, step.state, answer, context)
    return bank, headers, step


def answer_as(step: Step, noted: dict[str, Any]) -> Answer:
    assert type(step).__name__ == noted["question"]
    match noted["answer"], step:
        case "ChooseMethod", NeedMethod(methods):
            return ChooseMethod(methods[noted["choice"]].code)
        case "ChooseMedium", NeedMedium(media):
            return ChooseMedium(media[noted["choice"]].name)
        case "Tan", _:
            return Tan(Secret("123456"))
        case "Poll", _:
            return Poll()
        case "Returned", _:
            return Returned(RETURNED)
    return Cancel()


def describe(headers: Headers | None, end: Done | Failed) -> dict[str, Any]:
    """In the form of a trace's `expected`."""
    if isinstance(end, Failed):
        return {"failure": str(end.kind)}
    fetched = end.result
    assert isinstance(fetched, Fetched)
    assert headers is not None
    accounts = []
    for product in headers.products:
        rows, positions = fetched.transactions.get(product.key), fetched.positions.get(product.key)
        accounts.append(
            {
                "category": str(product.category),
                "bookings": None if rows is None else len(rows),
                "sum": None if rows is None else f"{sum((row.amount for row in rows), Decimal(0)):f}",
                "positions": None if positions is None else len(positions),
            }
        )
    return {"accounts": accounts, "problems": sorted(str(problem.kind) for problem in fetched.problems)}
