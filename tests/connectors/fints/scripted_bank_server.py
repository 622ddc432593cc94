"""A FinTS server that does what it is told: the demo bank behind TLS, and something bad in between."""

import base64
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from kontor.demobank.certificates import ensure_certificates
from kontor.demobank.fints import FintsBank
from kontor.demobank.fints.segments import Segment, parse_segments, write_segments

Handling = Callable[[Any, bytes, bytes], None]  # handler, question, right answer


@dataclass
class ScriptedBank:
    url: str
    authority: Path
    bank: FintsBank
    handle: Handling | None = None
    messages: int = 0


def open_message(raw: bytes) -> list[Segment]:
    """What is inside, without head, end and signature."""
    outer = parse_segments(raw)
    inner = parse_segments(outer[2].read_binary(1)) if outer[1].code == "HNVSK" else outer[1:-1]
    return [segment for segment in inner if segment.code not in ("HNSHK", "HNSHA")]


def rewrite(raw: bytes, change: Callable[[list[Segment]], Sequence[Segment]]) -> bytes:
    """The message with other segments inside."""
    outer = parse_segments(raw)
    if outer[1].code != "HNVSK":
        return write_segments([outer[0], *change(list(outer[1:-1])), outer[-1]])
    inner = list(change(list(parse_segments(outer[2].read_binary(1)))))
    shell = replace(outer[2], elements=((write_segments(inner),),))
    return write_segments([outer[0], outer[1], shell, outer[-1]])


def say(handler: Any, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in ({"Content-Length": str(len(body))} | headers).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def send(answer: Callable[[bytes], bytes], when: str | None = None) -> Handling:
    """Another answer to each message, or to those with this segment."""

    def handle(handler: Any, question: bytes, right: bytes) -> None:
        is_meant = when is None or any(segment.code == when for segment in open_message(question))
        say(handler, base64.b64encode(answer(right) if is_meant else right))

    return handle


def serve_bytes(body: bytes, status: int = 200, **headers: str) -> Handling:
    return lambda handler, question, right: say(handler, body, status, **headers)


def hang(handler: Any, question: bytes, right: bytes) -> None:
    time.sleep(1.5)


def dribble(handler: Any, question: bytes, right: bytes) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(40):
        handler.wfile.write(b"A")
        handler.wfile.flush()
        time.sleep(0.05)


@contextmanager
def running_scripted_bank(folder: Path, bank: FintsBank) -> Iterator[ScriptedBank]:
    files = ensure_certificates(folder, "127.0.0.1")

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_POST(self) -> None:
            question = base64.b64decode(self.rfile.read(int(self.headers["Content-Length"])))
            script.messages += 1
            right = script.bank.answer(question)
            if script.handle is None:
                say(self, base64.b64encode(right))
            else:
                script.handle(self, question, right)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that goes away is no event."""

    server = Server(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    script = ScriptedBank(f"https://127.0.0.1:{server.server_address[1]}/fints", files.authority, bank)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
