"""FinTS over HTTPS: a Base64 message is posted, a Base64 message is the answer. One thread per connection."""

import base64
import binascii
import logging
import socket
import ssl
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from kontor.demobank.faults import LostAnswerError, SubstitutedAnswerError
from kontor.demobank.fints.bank import FintsBank

PATHS = ("/fints", "/")
MAX_BODY_BYTES = 3 * 1024 * 1024  # of Base64
READ_SECONDS = 30
IDLE_SECONDS = 60
DRAIN_SECONDS = 2
MAX_CONNECTIONS = 100
TEXT = "text/plain; charset=iso-8859-1"
_log = logging.getLogger(__name__)


class FintsServer:
    """Listens from the moment it is made; `start` answers in threads of its own until `stop`."""

    def __init__(self, host: str, port: int, certificate: Path, key: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(certificate, key)
        self._server = _Server((host, port), context)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def start(self, bank: FintsBank) -> None:
        self._server.bank = bank
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="fints", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], context: ssl.SSLContext) -> None:
        self.bank: FintsBank | None = None
        self._context = context
        self._places = threading.BoundedSemaphore(MAX_CONNECTIONS)
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Without asking a name server who we are, as the base class does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """The handshake is done here, in the connection's own thread, so that a slow one holds up nobody."""
        request.settimeout(READ_SECONDS)
        with self._context.wrap_socket(request, server_side=True) as connection:
            super().finish_request(connection, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is no event; anything else is a defect, and shown without what was sent."""
        import sys

        error = sys.exc_info()[1]
        if not isinstance(error, OSError | ValueError):
            _log.error("fints.failed", exc_info=error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "KontorDemobank"
    sys_version = ""
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True  # head and body are two writes: the second would wait for the client's ACK, 40 ms
    server: _Server

    def do_POST(self) -> None:
        if self.path not in PATHS:
            self._say(HTTPStatus.NOT_FOUND, b"FinTS is at /fints\n")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            self._say(HTTPStatus.LENGTH_REQUIRED, b"Content-Length is missing\n")
            return
        if int(length) > MAX_BODY_BYTES:
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"The message is too large\n")
            return
        body = self._read_body(int(length))
        if body is None:
            self.close_connection = True
            return
        assert self.server.bank is not None, "the server was started"
        try:
            message = base64.b64decode(body.translate(None, b"\r\n\t "), validate=True)
        except binascii.Error:
            message = b""
        try:
            answer = self.server.bank.answer(message)
        except LostAnswerError:
            self.close_connection = True
            return
        except SubstitutedAnswerError as other:
            self._send(HTTPStatus(other.status), other.body, other.content_type)
            return
        self._send(HTTPStatus.OK, base64.b64encode(answer))

    def do_GET(self) -> None:
        self.close_connection = True
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, b"This is a FinTS 3.0 server: messages are posted in Base64.\n")

    def _read_body(self, length: int) -> bytes | None:
        """All of it within the time limit, however slowly it drips; None if it does not come."""
        end = time.monotonic() + READ_SECONDS
        parts: list[bytes] = []
        while length > 0:
            if time.monotonic() > end:
                return None
            part = self.rfile.read1(min(length, 65536))
            if not part:
                return None
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _say(self, status: HTTPStatus, text: bytes) -> None:
        """What was sent has not been read, so the connection cannot go on.

        Closed at once, the rest of it would make the system throw away our answer as well.
        """
        self.close_connection = True
        self._send(status, text)
        self.wfile.flush()
        end, left = time.monotonic() + DRAIN_SECONDS, 2 * MAX_BODY_BYTES
        self.connection.settimeout(DRAIN_SECONDS)
        while left > 0 and time.monotonic() < end:
            part = self.rfile.read1(65536)
            if not part:
                return
            left -= len(part)

    def _send(self, status: HTTPStatus, body: bytes, content_type: str = TEXT) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what customers ask their bank for is nobody's business."""
