"""A receiver of webhooks that fails often, and notes every call it has accepted."""

import asyncio
import json
import random
import sys
from contextlib import suppress
from pathlib import Path

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from simulation.ledgers import Ledger


class Receiver:
    """`secret` comes in a file, as the webhook is registered after the receiver was started."""

    def __init__(self, folder: Path, failure_rate: float) -> None:
        self._ledger = Ledger(folder / "receiver.jsonl")
        self._secret_file = folder / "webhook.secret"
        self._failure_rate = failure_rate
        self._random = random.Random(11)  # faults, not secrets

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            headers = dict(
                line.lower().split(": ", 1)[0:1] + line.split(": ", 1)[1:2] for line in head.split("\r\n")[1:] if line
            )
            # A sender that is killed leaves a truncated body behind: that was no call.
            body = await reader.readexactly(int(headers["content-length"]))
            status = self._judge(headers, body)
            writer.write(f"HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
            await writer.drain()
        writer.close()

    def _judge(self, headers: dict[str, str], body: bytes) -> int:
        if self._random.random() < self._failure_rate:
            return 503
        try:
            Webhook(self._secret_file.read_text()).verify(body, headers)
        except WebhookVerificationError as error:
            self._ledger.write(forged=str(error))
            return 401
        event = json.loads(body)
        self._ledger.write(
            id=headers["webhook-id"],
            type=event["type"],
            serial=event["serial"],
            count=sum(product["neueUmsaetze"] for product in event.get("produkte", ())),
        )
        return 204


async def serve(folder: Path, failure_rate: float) -> None:
    receiver = Receiver(folder, failure_rate)
    server = await asyncio.start_server(receiver.answer, "127.0.0.1", 0, backlog=1024)
    (folder / "receiver.port").write_text(str(server.sockets[0].getsockname()[1]))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), float(sys.argv[2])))
