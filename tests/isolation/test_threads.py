"""Calls that block have a pool of threads for each kind: banks that hang hold up no login."""

import asyncio
import threading
from dataclasses import dataclass, field

from kontor.connectors.base import Context, Failed, FailureKind, Fetch
from kontor.domain.secrets import Secret
from kontor.services.banks.calls import BANK_THREADS, BankCalls, Prepared
from kontor.services.security.passwords import Passwords


@dataclass
class HangingBank:
    kind: str = "hanging"
    called: int = 0
    door: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, *_):
        with self.lock:
            self.called += 1
        self.door.wait()
        return Failed(FailureKind.UNREACHABLE)


async def test_banks_that_hang_leave_logins_working():
    bank = HangingBank()
    calls, passwords = BankCalls(None, None, None, None, 200), Passwords()
    prepared = Prepared(None, None, bank, {"pin": Secret("1")}, None, Context(None, ""))
    hanging = [asyncio.create_task(calls.begin(prepared, Fetch())) for _ in range(BANK_THREADS + 8)]
    try:
        while bank.called < BANK_THREADS:  # noqa: ASYNC110 (threads decide)
            await asyncio.sleep(0.01)
        async with asyncio.timeout(100):
            stored = await passwords.hash("a password")
            assert await passwords.verify(stored, "a password")
    finally:
        bank.door.set()
        assert all(isinstance(one, Failed) for one in await asyncio.gather(*hanging))
    assert bank.called == BANK_THREADS + 8
