"""Sends drawn requests over kept connections, several at a time, and notes what came back."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from fuzzing.requests.requests import DrawnRequest, Requests, Worlds

ANSWER_SECONDS = 200  # the server itself gives up after 180
NO_BODY = frozenset({204, 304})


@dataclass(frozen=True)
class Finding:
    """A request that was answered with a 5xx that its operation does not declare, or not at all (status 0)."""

    seed: int
    number: int
    status: int
    operation: str
    target: str
    answer: str


@dataclass
class Batch:
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)  # by tag and class of the status
    statuses: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


class Connection:
    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: DrawnRequest) -> tuple[int, bytes]:
        data = request.encode(f"127.0.0.1:{self._port}")
        if self._streams is not None:
            with suppress(ConnectionError, asyncio.IncompleteReadError):  # closed meanwhile: asked on a new one
                return await self._exchange(*self._streams, data, request.method)
            self.close()
        self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        return await self._exchange(*self._streams, data, request.method)

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes, method: str
    ) -> tuple[int, bytes]:
        writer.write(data)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split(" ")[1])
        fields = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in head[1:]}
        body = b""
        if method != "HEAD" and status not in NO_BODY:
            body = await self._read_body(reader, fields)
        if fields.get("connection", "").lower() == "close":
            self.close()
        return status, body

    async def _read_body(self, reader: asyncio.StreamReader, fields: dict[str, str]) -> bytes:
        if fields.get("transfer-encoding", "").lower() != "chunked":
            return await reader.readexactly(int(fields.get("content-length", 0)))
        body = b""
        while size := int((await reader.readline()).split(b";")[0], 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
        return body

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def send_batch(port: int, requests: Requests, seed: int, numbers: range, worlds: Worlds, at_once: int) -> Batch:
    batch = Batch()
    waiting = iter(numbers)
    await asyncio.gather(*(_send(port, requests, seed, waiting, worlds, batch) for _ in range(at_once)))
    batch.findings.sort(key=lambda finding: finding.number)
    return batch


async def _send(port: int, requests: Requests, seed: int, waiting: Iterator[int], worlds: Worlds, batch: Batch) -> None:
    connection = Connection(port)
    for number in waiting:
        request = requests.draw(number, worlds)
        try:
            status, body = await asyncio.wait_for(connection.ask(request), ANSWER_SECONDS)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError) as error:
            status, body = 0, repr(error).encode()
            connection.close()
        batch.answers[request.operation.tag, f"{status // 100}xx" if status else "none"] += 1
        batch.statuses[str(status)] += 1
        if status == 0 or (status >= 500 and str(status) not in request.operation.statuses):
            text = body[:300].decode("utf-8", "replace")
            target = f"{request.method} {request.target[:200]}"
            batch.findings.append(Finding(seed, number, status, request.operation.id, target, text))
    connection.close()
