"""A bank's server that means harm: it answers any request with whatever bytes it likes, as slowly as it likes."""

import gzip
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

PIECE = b"A" * 65536
PAUSE_SECONDS = 0.01
Handling = Callable[["Visit"], None]


@dataclass
class HostileBank:
    """`visits` are connections; `handle` decides what happens on one."""

    url: str
    handle: Handling
    visits: list["Visit"] = field(default_factory=list)

    @property
    def sent_bytes(self) -> int:
        return sum(visit.sent for visit in self.visits)

    @property
    def received(self) -> bytes:
        return b"".join(visit.received for visit in self.visits)


@dataclass
class Visit:
    """`was_left`: the caller hung up while the bank still had something to say."""

    connection: socket.socket
    received: bytes = b""
    sent: int = 0
    was_left: threading.Event = field(default_factory=threading.Event)

    def read_request(self) -> bool:
        """Head and body of one request; False when there is none."""
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.connection.recv(65536)
            if not piece:
                return False
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        while len(body) < length:
            body += self.connection.recv(65536)
        self.received += head + b"\r\n\r\n" + body
        return True

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)
        self.sent += len(data)

    def drip(self, data: bytes) -> None:
        for number in range(len(data)):
            self.send(data[number : number + 1])
            time.sleep(PAUSE_SECONDS)


@contextmanager
def running_hostile_bank(handle: Handling) -> Iterator[HostileBank]:
    """Plain HTTP on 127.0.0.1."""
    listener = socket.create_server(("127.0.0.1", 0))
    bank = HostileBank(f"http://127.0.0.1:{listener.getsockname()[1]}", handle)

    def serve(visit: Visit) -> None:
        with visit.connection:
            try:
                bank.handle(visit)
            except OSError:
                visit.was_left.set()

    def listen() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                visit = Visit(connection)
                bank.visits.append(visit)
                threading.Thread(target=serve, args=[visit], daemon=True).start()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield bank
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for visit in bank.visits:
            with suppress(OSError):
                visit.connection.shutdown(socket.SHUT_RDWR)


def answer(body: bytes, status: str = "200 OK", **headers: str) -> Handling:
    """The same to every request."""
    told = {"Content-Length": str(len(body)), "Content-Type": "application/json"}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = f"HTTP/1.1 {status}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in told.items()) + "\r\n"

    def handle(visit: Visit) -> None:
        while visit.read_request():
            visit.send(head.encode("latin-1") + body)

    return handle


def after_request(handle: Handling) -> Handling:
    def wait(visit: Visit) -> None:
        if visit.read_request():
            handle(visit)

    return wait


def repeat(data: bytes, before: bytes = b"", *, is_slow: bool = False) -> Handling:
    """Without end."""

    def handle(visit: Visit) -> None:
        visit.send(before)
        while True:
            if is_slow:
                visit.drip(data)
            else:
                visit.send(data)

    return after_request(handle)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
# Nothing in these is ever complete: without a limit to the whole exchange the caller would stay for ever.
ENDLESS_SLOW = {
    "head byte by byte": repeat(b"X-Word: a word\r\n", HEAD, is_slow=True),
    "body byte by byte": repeat(b" ", HEAD + b"Content-Length: 1000000\r\n\r\n", is_slow=True),
    "body without length": repeat(b" ", HEAD + b"Connection: close\r\n\r\n", is_slow=True),
    "chunks of one byte": repeat(b"1\r\n \r\n", CHUNKED, is_slow=True),
    "one size of a chunk": repeat(b"0", CHUNKED, is_slow=True),
    "preliminary answers": repeat(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", is_slow=True),
}
ENDLESS_FAST = {
    "head": repeat(b"X-Word: a word\r\n" * 1000, HEAD),
    "one line of the head": repeat(PIECE, HEAD + b"X-Word: "),
    "body without length": repeat(PIECE, HEAD + b"Connection: close\r\n\r\n"),
    "body of a terabyte": repeat(PIECE, HEAD + b"Content-Length: 1000000000000\r\n\r\n"),
    "chunks": repeat(b"10000\r\n" + PIECE + b"\r\n", CHUNKED),
    "extension of a chunk": repeat(PIECE, CHUNKED + b"1;"),
    "trailer": repeat(b"X-Word: a word\r\n" * 1000, CHUNKED + b"0\r\n"),
}


def _compress_twice(data: bytes) -> bytes:
    """With `BOMB`, these are three layers, in less than 1 KB."""
    return gzip.compress(gzip.compress(data))


ZEROS = bytes(50_000_000)
BOMB = gzip.compress(ZEROS, 1)
COMPRESSED = {
    "gzip": answer(BOMB, Content_Encoding="gzip"),
    "gzip three times": answer(_compress_twice(BOMB), Content_Encoding="gzip, gzip, gzip"),
    "gzip in several headers": answer(_compress_twice(BOMB), Content_Encoding="gzip\r\nContent-Encoding: gzip"),
    "GZIP": answer(BOMB, Content_Encoding="GZIP"),
    "deflate": answer(zlib.compress(ZEROS, 1), Content_Encoding="deflate"),
    "br": answer(b"\x5b\xff\xff\x03\x00" * 1000, Content_Encoding="br"),
    "zstd": answer(b"\x28\xb5\x2f\xfd" * 1000, Content_Encoding="zstd"),
    "unknown": answer(b"{}", Content_Encoding="identity, x-kontor"),
    "as transfer": answer(gzip.compress(b"{}"), Transfer_Encoding="gzip, chunked"),
}
MALFORMED = {
    "nothing": after_request(lambda visit: None),
    "no HTTP": after_request(lambda visit: visit.send(b"\x00\xff" * 500)),
    "HTTP/0.9": after_request(lambda visit: visit.send(b"<html>hello</html>\r\n")),
    "status without number": after_request(lambda visit: visit.send(b"HTTP/1.1 yes\r\n\r\n")),
    "two lengths": answer(b"{}", Content_Length="2\r\nContent-Length: 3"),
    "negative length": answer(b"{}", Content_Length="-1"),
    "cut off": after_request(lambda visit: visit.send(HEAD + b"Content-Length: 100\r\n\r\n{")),
    "zeros in the head": answer(b"{}", X_Word="a\x00b"),
    "another protocol": answer(b"", "101 Switching Protocols", Upgrade="h2c", Connection="Upgrade"),
}
REDIRECTS = ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent", "300 Choices", "305 Proxy")
