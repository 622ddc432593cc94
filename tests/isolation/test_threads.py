"""Calls that block have a pool of threads for each kind: banks that hang hold up no login."""

import asyncio
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from uuid import uuid4

import pytest

from kontor.connectors.base import Context, Failed, FailureKind, Fetch
from kontor.domain.errors import BusyError
from kontor.domain.secrets import Secret
from kontor.services.banks import Admissions, BankGateway, HeldLease, Leasing, Prepared
from kontor.services.banks import gateway as gateway_module
from kontor.services.banks.gateway import BANK_THREADS, PROVIDER_CALLS
from kontor.services.runtime import DaemonThreads
from kontor.services.security.passwords import Passwords
from kontor.storage.database import Database
from kontor.storage.leases import Lease
from timeouts import WAIT_TIMEOUT_SECONDS


@pytest.fixture
async def database(settings):
    database = Database(settings.database_url, 4, "test leases")
    await database.open()
    try:
        yield database
    finally:
        await database.close()


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


async def open_dialogue(gateway, bank, provider, lease=None):
    held = HeldLease(lease or Lease(b"key", uuid4(), 1))
    prepared = Prepared(None, provider, bank, {"pin": Secret("1")}, None, Context(None, ""))
    return held, gateway.open(prepared, gateway.admissions.admit_customer(held))


def make_gateway(seconds):
    return BankGateway(None, None, None, None, Admissions(None, None), seconds)


def make_provider(name="Bank"):
    return SimpleNamespace(id=uuid4(), name=name, login_fields=())


async def count(bank, calls):
    while bank.called < calls:  # noqa: ASYNC110 (threads decide)
        await asyncio.sleep(0.01)


async def test_banks_that_hang_leave_logins_working():
    bank, gateway, passwords = HangingBank(), make_gateway(200), Passwords()
    providers = [make_provider() for _ in range(BANK_THREADS // PROVIDER_CALLS + 1)]
    hanging = []
    for provider in providers:
        for _ in range(PROVIDER_CALLS):
            _, dialogue = await open_dialogue(gateway, bank, provider)
            hanging.append(asyncio.create_task(dialogue.begin(Fetch())))
    try:
        await count(bank, BANK_THREADS)
        async with asyncio.timeout(100):
            stored = await passwords.hash("a password")
            assert await passwords.verify(stored, "a password")
    finally:
        bank.door.set()
        assert all(isinstance(step, Failed) for step in await asyncio.gather(*hanging))
    assert bank.called == len(hanging)


async def test_a_provider_that_hangs_leaves_threads_to_the_others():
    hanging_bank, other, gateway = HangingBank(), HangingBank(), make_gateway(200)
    other.door.set()
    provider, hanging = make_provider(), []
    for _ in range(200):
        _, dialogue = await open_dialogue(gateway, hanging_bank, provider)
        hanging.append(asyncio.create_task(dialogue.begin(Fetch())))
    try:
        await count(hanging_bank, PROVIDER_CALLS)
        _, dialogue = await open_dialogue(gateway, other, make_provider())
        async with asyncio.timeout(100):
            await dialogue.begin(Fetch())
        assert hanging_bank.called == PROVIDER_CALLS
    finally:
        hanging_bank.door.set()
        await asyncio.gather(*hanging)
    assert hanging_bank.called == 200


async def test_a_call_beyond_its_deadline_keeps_the_lease_until_it_ends(database, monkeypatch):
    monkeypatch.setattr(gateway_module, "GRACE_SECONDS", 0)
    bank, gateway, leasing, key = HangingBank(), make_gateway(0.2), Leasing(database), uuid4().bytes
    async with leasing.hold(key) as held:
        prepared = Prepared(None, make_provider(), bank, {}, None, Context(None, ""))
        step = await gateway.open(prepared, gateway.admissions.admit_customer(held)).begin(Fetch())
        assert step == Failed(FailureKind.UNREACHABLE)
    other = Leasing(database)
    with pytest.raises(BusyError):
        async with other.hold(key, wait_seconds=0):
            pass
    bank.door.set()
    async with other.hold(key, wait_seconds=100):
        assert not held.calls


async def test_no_call_begins_and_no_order_leaves_after_the_deadline():
    class LateBank(HangingBank):
        def begin(self, provider, credentials, job, connector_state, context):
            assert not context.wait(100), "the deadline comes first"
            self.answers = [context.may_send(), context.remaining_seconds() > 0]
            return Failed(FailureKind.UNREACHABLE)

    bank, gateway = LateBank(), make_gateway(0.2)
    _, dialogue = await open_dialogue(gateway, bank, make_provider())
    await dialogue.begin(Fetch())
    assert bank.answers == [False, False]


async def test_a_call_that_finds_no_thread_until_its_deadline_is_never_begun_and_holds_nothing(monkeypatch):
    monkeypatch.setattr(gateway_module, "GRACE_SECONDS", 0)
    hanging, healthy, patient, hasty = HangingBank(), HangingBank(), make_gateway(200), make_gateway(0.2)
    hasty._threads = patient._threads
    healthy.door.set()
    tasks = []
    for _ in range(BANK_THREADS // PROVIDER_CALLS):
        provider = make_provider()
        for _ in range(PROVIDER_CALLS):
            _, dialogue = await open_dialogue(patient, hanging, provider)
            tasks.append(asyncio.create_task(dialogue.begin(Fetch())))
    try:
        await count(hanging, BANK_THREADS)
        held, dialogue = await open_dialogue(hasty, healthy, make_provider())
        assert await dialogue.begin(Fetch()) == Failed(FailureKind.UNREACHABLE, was_called=False)
        async with asyncio.timeout(100):
            while held.calls:  # noqa: ASYNC110 (callbacks decide)
                await asyncio.sleep(0.01)
    finally:
        hanging.door.set()
        await asyncio.gather(*tasks)
    assert healthy.called == 0


def test_a_call_that_hangs_does_not_hold_up_the_end_of_the_process():
    script = (
        "import threading\n"
        "from kontor.services.runtime import DaemonThreads, start_in\n"
        "begun = threading.Event()\n"
        "start_in(DaemonThreads(2, 'bank'), lambda: (begun.set(), threading.Event().wait()))\n"
        "begun.wait()\n"
        "print('end')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=WAIT_TIMEOUT_SECONDS, check=True
    )
    assert ended.stdout == "end\n"


def test_a_thread_serves_one_call_after_the_other_whatever_they_raise():
    threads = DaemonThreads(1, "bank")
    failing = threads.submit(int, "no number")
    assert threads.submit(int, "7").result(30) == 7
    assert isinstance(failing.exception(30), ValueError)
    assert len({threads.submit(threading.get_ident).result(30) for _ in range(20)}) == 1
