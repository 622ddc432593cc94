"""The load generator counts what really happened. Nothing here depends on how fast the machine is."""

import asyncio

import pytest
from benchmarks.endpoints import Request
from benchmarks.load import Load, format_request, measure

pytestmark = pytest.mark.long

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class Answering(asyncio.Protocol):
    """Counts requests, and answers each with the given pieces, one after the other."""

    def __init__(self, seen, pieces):
        self.seen = seen
        self.pieces = pieces

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.seen.append(data)
        self.send(0)

    def send(self, index):
        if self.transport.is_closing():
            return
        self.transport.write(self.pieces[index])
        if index + 1 < len(self.pieces):
            asyncio.get_running_loop().call_later(0.001, self.send, index + 1)


async def load(pieces, connections=3):
    seen = []
    server = await asyncio.get_running_loop().create_server(lambda: Answering(seen, pieces), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    requests = [{"path": f"/{number}", "token": "t"} for number in range(4)]
    try:
        return await measure(Load(port, connections, 0.05, 0.2, requests)), seen
    finally:
        server.close()


@pytest.mark.parametrize(
    "pieces",
    [[ANSWER], [ANSWER[:20], ANSWER[20:]], [ANSWER[:-2], ANSWER[-2:]], [ANSWER[:30], ANSWER[30:-4], ANSWER[-4:]]],
)
async def test_every_answer_is_counted_once(pieces):
    measured, seen = await load(pieces)
    assert measured.answers == len(seen)
    assert measured.failures == 0
    assert 0 < measured.p50 <= measured.p99


async def test_no_request_is_sent_before_the_answer_to_the_last():
    _, seen = await load([ANSWER])
    assert all(request.count(b"GET ") == 1 and request.endswith(b"\r\n\r\n") for request in seen)


async def test_requests_are_sent_in_turn():
    _, seen = await load([ANSWER], connections=1)
    paths = [request.split(b" ")[1] for request in seen]
    assert paths[:5] == [b"/0", b"/1", b"/2", b"/3", b"/0"]


async def test_other_statuses_are_failures():
    measured, seen = await load([b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"])
    assert measured.failures == len(seen)


def test_a_request_carries_its_token():
    assert format_request(Request("/a", "secret")) == (
        b"GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\nAccept: application/json\r\n\r\n"
    )
