"""The simulated bank: a process of its own, which notes every call of it and loses some.

A call is one line of JSON over a connection. The bank writes down when a call begins and when it ends, answered or
not: what Kontor did is judged by this book, not by what Kontor says.
"""

import asyncio
import json
import random
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from simulation.bookings import list_bookings
from simulation.clocks import SimulatedClock
from simulation.ledgers import Ledger

DAY = timedelta(days=1)
WORK_SECONDS = (0.001, 0.02)


class Bank:
    def __init__(self, clock: SimulatedClock, folder: Path, failure_rate: float, outage_hours: float) -> None:
        self._clock = clock
        self._ledger = Ledger(folder / "bank.jsonl")
        self._calm = folder / "calm"  # once this file is there, nothing fails any more
        self._failure_rate = failure_rate
        self._outage = timedelta(hours=outage_hours)
        self._random = random.Random(7)  # faults, not secrets

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            request = json.loads(await reader.readuntil(b"\n"))
            await self._serve(request, reader, writer)
        writer.close()

    async def _serve(self, request: dict[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number, login = uuid4().hex, request["login"]
        self._write("begin", number, login)
        fails = not self._calm.exists() and (self._random.random() < self._failure_rate or self._is_out())
        # A worker that is killed hangs up: its call is over, and the bank knows.
        hung_up = asyncio.ensure_future(reader.read(1))
        await asyncio.wait({hung_up}, timeout=self._random.uniform(*WORK_SECONDS))
        if fails or hung_up.done():
            self._write("lost", number, login)
        else:
            now = self._clock.now()
            rows = [
                [booking.id, booking.at.isoformat(), booking.cents, booking.purpose]
                for booking in list_bookings(login, self._clock.start, now)
                if booking.at >= datetime.fromisoformat(request["since"])
            ]
            self._write("answered", number, login)
            writer.write(json.dumps(rows).encode() + b"\n")
            await writer.drain()
        hung_up.cancel()

    def _is_out(self) -> bool:
        """On every third day the bank answers nobody for some hours."""
        passed = self._clock.now() - self._clock.start
        return passed % (3 * DAY) > 3 * DAY - self._outage

    def _write(self, what: str, number: str, login: str) -> None:
        self._ledger.write(what=what, call=number, login=login, at=self._clock.now().isoformat())


async def serve(folder: Path, setting: str, failure_rate: float, outage_hours: float) -> None:
    bank = Bank(SimulatedClock(setting), folder, failure_rate, outage_hours)
    server = await asyncio.start_server(bank.answer, "127.0.0.1", 0, backlog=1024)
    (folder / "bank.port").write_text(str(server.sockets[0].getsockname()[1]))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4])))
