"""Transports of httpx for one destination: one connection for each request, as none of them is used again."""

from collections.abc import AsyncIterator, Iterator
from ssl import SSLContext
from typing import TYPE_CHECKING, Any

import httpx

from kontor.egress.connections import Tally, check_host, opening
from kontor.egress.destinations import Destination, find_host

if TYPE_CHECKING:
    from requests.adapters import HTTPAdapter

LINE_BYTES = len(" HTTP/1.1\r\n")
STATUS_BYTES = len("HTTP/1.1 200 \r\n\r\n")


class GuardedTransport(httpx.BaseTransport):
    def __init__(self, destination: Destination, trust: SSLContext) -> None:
        self._destination = destination
        self._inner = httpx.HTTPTransport(verify=trust, trust_env=False, limits=_no_reuse())

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        tally = check_host(self._destination, request.url.raw_host.decode("ascii"))
        with opening(tally):
            response = self._inner.handle_request(request)
        tally.count_sent(measure_request(request))
        tally.count_received(measure_head(response))
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _CountedStream(response.stream, tally)
        return response

    def close(self) -> None:
        self._inner.close()


class GuardedAsyncTransport(httpx.AsyncBaseTransport):
    def __init__(self, destination: Destination, trust: SSLContext) -> None:
        self._destination = destination
        self._inner = httpx.AsyncHTTPTransport(verify=trust, trust_env=False, limits=_no_reuse())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        tally = check_host(self._destination, request.url.raw_host.decode("ascii"))
        with opening(tally):
            response = await self._inner.handle_async_request(request)
        tally.count_sent(measure_request(request))
        tally.count_received(measure_head(response))
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _CountedAsyncStream(response.stream, tally)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def make_guarded_adapter(destination: Destination) -> "HTTPAdapter":
    """For a session of requests, which OpenTelemetry's exporter calls with. It is loaded only where it is used."""
    from requests.adapters import HTTPAdapter

    class GuardedAdapter(HTTPAdapter):
        def send(self, request: Any, *arguments: Any, **named: Any) -> Any:
            tally = check_host(destination, find_host(request.url))
            with opening(tally):
                response = super().send(request, *arguments, **named)
            head = sum(len(name) + len(value) + 4 for name, value in request.headers.items())
            tally.count_sent(len(f"{request.method} {request.path_url}") + LINE_BYTES + head + 2 + len(request.body))
            answer = sum(len(name) + len(value) + 4 for name, value in response.headers.items())
            tally.count_received(STATUS_BYTES + answer + int(response.headers.get("content-length", 0)))
            return response

    return GuardedAdapter()


def measure_request(request: httpx.Request) -> int:
    """As HTTP/1.1 writes it. All bodies here have a known length."""
    line = len(request.method) + 1 + len(request.url.raw_path) + LINE_BYTES
    return line + _measure_headers(request.headers) + 2 + int(request.headers.get("content-length", 0))


def measure_head(response: httpx.Response) -> int:
    return STATUS_BYTES + len(response.reason_phrase) + _measure_headers(response.headers)


def _measure_headers(headers: httpx.Headers) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers.raw)


def _no_reuse() -> httpx.Limits:
    return httpx.Limits(max_keepalive_connections=0)


class _CountedStream(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, tally: Tally) -> None:
        self._stream = stream
        self._tally = tally

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            self._tally.count_received(len(piece))
            yield piece

    def close(self) -> None:
        self._stream.close()


class _CountedAsyncStream(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, tally: Tally) -> None:
        self._stream = stream
        self._tally = tally

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._tally.count_received(len(piece))
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
