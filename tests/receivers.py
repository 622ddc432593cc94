"""Receivers on real sockets: they keep what they are sent, and answer as they are told."""

import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

from banking import wait_for


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)

    def verify(self, secret: str) -> Any:
        """Raises unless the library finds a good signature."""
        return Webhook(secret).verify(self.body, self.headers)


@dataclass
class Receiver:
    """`answer` gets the number of the call, from 0, and returns (status, headers, body). `gate` holds answers back."""

    answer: Callable[[int], tuple[int, dict[str, str], bytes]] = lambda number: (204, {}, b"")
    received: list[Received] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    context: ssl.SSLContext | None = None
    names: list[str] = field(default_factory=list)  # asked for by SNI

    def __enter__(self) -> "Receiver":
        self.gate.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.received.append(Received(self.path, headers, body))
                number = len(receiver.received) - 1
                receiver.gate.wait(60)
                status, answered, content = receiver.answer(number)
                self.send_response(status)
                for name, value in answered.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                """Callers that hang up are what some tests are about."""

        self.server = Server(("127.0.0.1", 0), Handler)
        if self.context is not None:
            self.context.sni_callback = lambda _, name, __: self.names.append(name)
            self.server.socket = self.context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def port(self) -> int:
        return self.server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?from=kontor"

    @property
    def serials(self) -> list[int]:
        return [call.content["serial"] for call in list(self.received)]

    def wait_for(self, count: int) -> list[Received]:
        return wait_for(lambda: list(self.received), lambda found: len(found) >= count)


def say(status: int, body: bytes = b"", **headers: str) -> Callable[[int], tuple[int, dict[str, str], bytes]]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda number: (status, named, body)


async def deliveries_of(office, webhook, **query):
    return await office.read(f"/{webhook['id']}/deliveries", params=query)
