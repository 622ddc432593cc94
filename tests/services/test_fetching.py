"""Fetching with a bank that does as told: what is stored, when, and by whom, whatever happens meanwhile."""

import asyncio
import base64
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import ClassVar
from uuid import UUID, uuid4

import psycopg
import pytest
from fake_bank import DEPOT, GIRO, POSITIONS, ROWS, SAVINGS, FakeBank

from kontor import bootstrap
from kontor.connectors.base import Failed, FailureKind
from kontor.connectors.registry import Registry
from kontor.domain.errors import BusyError, ConflictError, InvalidError
from kontor.domain.principals import Principal
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.accesses.accesses import Accesses
from kontor.services.accesses.requests import AccessRequest
from kontor.services.accesses.waiting import LAST_POLL_SECONDS
from kontor.services.fetching.fetching import Outcome
from kontor.services.identity.tenants import new_tenant
from kontor.services.identity.users import NewUser
from kontor.services.transactions.transactions import PushedTransaction
from kontor.storage import fetches, leases
from processes import beside

DEMO_BANK = UUID(int=0)
DATA = ("products", "transactions", "positions")


@pytest.fixture(scope="module")
def own(settings):
    with beside(settings) as own:
        yield own


@pytest.fixture
def bank(monkeypatch):
    bank = FakeBank()
    monkeypatch.setattr(bootstrap, "make_registry", lambda settings: Registry([bank]))
    yield bank
    for gate in Gate.closed:  # a test that failed must not leave threads behind that wait for it
        gate.open.set()


@pytest.fixture
def owner(own):
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
        yield connection


class FetchHarness:
    """Services without a worker; a test runs each fetch itself. `principal` is a user without accesses."""

    def __init__(self, services, principal, owner):
        self.services, self.principal, self.owner = services, principal, owner

    @property
    def user_id(self):
        return self.principal.user_id

    async def request(self, login="anna", pin="demo", **facts):
        encrypt = self.services.encryption.encrypt
        sealed = {
            key: base64.b64encode(await encrypt(self.principal, text.encode())).decode()
            for key, text in (("userid", login), ("pin", pin))
        }
        return AccessRequest(DEMO_BANK, sealed, **facts)

    def post(self, requests, *, refresh=False):
        """The call as the API makes it; it waits until a fetch is run."""
        call = self.services.accesses.add_accesses(self.principal, requests, refresh=refresh, is_attended=True)
        return asyncio.create_task(call)

    async def add(self, access_id="a", **facts):
        posted = self.post({access_id: await self.request(**facts)})
        outcome = await self.services.fetching.run(await self.queued(access_id))
        await posted
        return outcome

    async def refresh(self, access_id="a", request=None):
        posted = self.post({access_id: request or AccessRequest()}, refresh=True)
        await self.services.fetching.run(await self.queued(access_id))
        await posted

    async def queued(self, access_id="a"):
        query = "select id from fetches where user_id = %s and access_id = %s and state = 'QUEUED'"
        for _ in range(2000):
            if row := self.owner.execute(query, [self.user_id, access_id]).fetchone():
                return row[0]
            await asyncio.sleep(0.005)
        raise AssertionError("no fetch was asked for")

    async def view(self, access_id="a"):
        return await self.services.accesses.read_access(self.principal, access_id)

    async def notices(self, access_id="a"):
        access = (await self.view(access_id)).access
        return [str(message.kind) for message in access.messages], [str(issue.kind) for issue in access.issues]

    def rows(self, table, columns="*"):
        return self.owner.execute(
            f"select {columns} from {table} where user_id = %s order by 1, 2", [self.user_id]
        ).fetchall()

    def data(self):
        """Everything stored about products, as text."""
        return {table: self.rows(table, f"{table}::text, 1") for table in DATA}


@pytest.fixture
async def harness(own, bank, owner):
    for table in ("pgqueuer", "accesses", "credential_leases"):
        owner.execute(f"delete from {table}")
    async with bootstrap.open_services(replace(own, pool_size=6), "kontor tests") as services:
        yield FetchHarness(services, await make_user(services, owner), owner)


async def make_user(services, owner):
    tenant = await find_tenant(services, owner)
    user = await services.users.create_user_by_operator("t", NewUser(f"user-{uuid4().hex[:12]}", Secret("password")))
    client = owner.execute("select id from clients where tenant_id = %s", [tenant]).fetchone()[0]
    return Principal(tenant, "t", True, client, "app", frozenset(ALL_SCOPES), user.id, user.pseudonym)


async def find_tenant(services, owner):
    """One for the whole file: its keys take a second."""
    row = owner.execute("select id from tenants where name = 't'").fetchone()
    if row is None:
        administration = services.tenant_administration
        await administration.create_tenant(new_tenant("t", is_regulated=True, scopes=ALL_SCOPES))
        await administration.create_client("t", "app", ClientKind.USER, MANAGEMENT_SCOPES)
        row = owner.execute("select id from tenants where name = 't'").fetchone()
    return row[0]


@asynccontextmanager
async def second_worker(own, harness):
    """Another process's services on the same database, with the same bank."""
    async with bootstrap.open_services(replace(own, pool_size=4), "kontor tests, second") as services:
        yield FetchHarness(services, harness.principal, harness.owner)


def forget_heartbeat(harness):
    """As if the worker that holds the leases had been silent for too long."""
    harness.owner.execute("update credential_leases set until = now() - interval '1 second'")


class Gate:
    """Lets the bank wait in the middle of a call."""

    closed: ClassVar[list["Gate"]] = []

    def __init__(self):
        self.closed.append(self)
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self):
        self.reached.set()
        assert self.open.wait(60)

    async def wait(self):
        assert await asyncio.to_thread(self.reached.wait, 60)


# The whole of it


async def test_first_fetch_stores_products_transactions_and_positions(harness, bank):
    assert await harness.add() is Outcome.FINISHED
    view = await harness.view()
    assert view.access.status == "COMPLETE"
    assert [stored.product for stored in view.products] == [GIRO, SAVINGS, DEPOT]
    assert {str(stored.status) for stored in view.products} == {"COMPLETE"}
    assert len(harness.rows("transactions")) == 12
    assert len(harness.rows("positions")) == 1
    assert bank.calls == ["begin", "resume"]
    assert harness.owner.execute("select count(*) from credential_leases").fetchone() == (0,)


async def test_header_data_is_stored_before_the_rest_is_asked_for(harness, bank):
    seen = []
    bank.on_resume = lambda: seen.append((harness.rows("accesses", "status, 1"), len(harness.rows("products"))))
    await harness.add()
    assert seen == [([("HEADERS", 1)], 3)]


async def test_refresh_stores_nothing_before_its_end(harness, bank):
    await harness.add()
    before, seen = harness.data(), []
    bank.products = (replace(GIRO, balance=Decimal("9.00")), SAVINGS, DEPOT)
    bank.on_resume = lambda: seen.append(harness.data() == before)
    await harness.refresh()
    assert seen == [True]
    assert (await harness.view()).products[0].product.balance == Decimal("9.00")


# A failed refresh


@pytest.mark.parametrize("kind", FailureKind)
@pytest.mark.parametrize("moment", ["refusal", "refusal_at_the_end"])
async def test_failed_refresh_leaves_the_stored_data_byte_for_byte(harness, bank, kind, moment):
    await harness.add()
    before = harness.data()
    bank.products = (replace(GIRO, balance=Decimal("9.00")),)
    bank.transactions, bank.positions = {"giro": ROWS[:1]}, {}
    setattr(bank, moment, Failed(kind))
    await harness.refresh()
    assert harness.data() == before
    assert (await harness.view()).access.status == "COMPLETE"
    messages, issues = await harness.notices()
    assert len(issues) == 1
    is_told = kind in (FailureKind.WRONG_CREDENTIALS, FailureKind.LOCKED, FailureKind.INCOMPLETE_CREDENTIALS)
    assert messages == (issues if is_told else [])


async def test_connector_that_raises_is_an_internal_error_of_this_access_alone(harness, bank):
    bank.refusal = ValueError("a defect")
    await harness.add()
    assert await harness.notices() == ([], ["INTERNAL"])


async def test_next_success_clears_what_was_said_about_the_failure(harness, bank):
    bank.refusal = Failed(FailureKind.UNREACHABLE)
    await harness.add()
    assert await harness.notices() == ([], ["UNREACHABLE"])
    bank.refusal = None
    await harness.refresh()
    assert await harness.notices() == ([], [])


# What a bad bank sends


async def test_unstorable_parts_of_products_and_positions_do_not_stop_the_fetch(harness, bank):
    broken = replace(
        GIRO, name="Giro\x00konto", holder="A\ud800nna", balance=Decimal("NaN"), overdraft_limit=Decimal("1E+30")
    )
    bank.products = (broken, replace(SAVINGS, balance=Decimal(5), institution="x" * 9000), DEPOT)
    bank.positions = {"depot": (replace(POSITIONS[0], name="\x00Aktie", quantity=Decimal("Infinity")),)}
    await harness.add()
    view = await harness.view()
    assert view.access.status == "COMPLETE"
    giro, savings, _ = [stored.product for stored in view.products]
    assert (giro.name, giro.holder, giro.balance, giro.overdraft_limit) == ("Girokonto", "Anna", None, None)
    assert str(savings.balance) == "5.00"
    assert harness.rows("positions", "name, quantity") == [("Aktie", None)]


@pytest.mark.parametrize(
    "change",
    [
        {"currency": "EUR\n"},
        {"currency": '"x'},
        {"amount": Decimal("sNaN")},
        {"amount": Decimal("1E+19")},
        {"booked_at": ROWS[0].booked_at.replace(year=9999, month=12, day=31, hour=23)},
        {"value_at": ROWS[0].booked_at.replace(year=1)},
    ],
)
async def test_unstorable_row_is_left_out_and_said(harness, bank, change):
    bank.transactions = {"giro": (replace(ROWS[0], **change), *ROWS[1:])}
    await harness.add()
    assert len(harness.rows("transactions")) == 9
    assert await harness.notices() == ([], ["ACCESS_INCOMPLETE", "TRANSACTIONS"])


async def test_product_that_the_bank_no_longer_names_keeps_its_history(harness, bank):
    await harness.add()
    bank.products, bank.transactions, bank.positions = (GIRO,), {"giro": ROWS}, {}
    await harness.refresh()
    assert len((await harness.view()).products) == 3
    assert len(harness.rows("transactions")) == 12


# Pushed transactions are not the bank's


async def test_fetch_neither_changes_nor_removes_what_was_pushed(harness, bank):
    await harness.add()
    giro = (await harness.view()).products[0].id
    pushed = [PushedTransaction("b", row) for row in (ROWS[0], ROWS[9], replace(ROWS[0], purpose="pushed"))]
    await harness.services.transactions.push(harness.principal, "a", giro, pushed)
    own_rows = "select transactions::text from transactions where user_id = %s and batch_id is not null order by id"
    before = harness.owner.execute(own_rows, [harness.user_id]).fetchall()
    bank.transactions = {"giro": ROWS[:8], "spar": ()}
    await harness.refresh()
    assert harness.owner.execute(own_rows, [harness.user_id]).fetchall() == before
    assert len(harness.rows("transactions")) == 3 + 8 + 2


# Nobody left to fetch for


async def deactivate(harness):
    harness.owner.execute("update users set is_active = false where id = %s", [harness.user_id])


@pytest.mark.parametrize("is_first", [True, False])
async def test_user_deactivated_while_the_bank_is_asked_gets_nothing_written_and_no_further_call(
    harness, bank, is_first
):
    if not is_first:
        await harness.add()
        bank.products, bank.calls = (replace(GIRO, balance=Decimal("9.00")),), []
    before = harness.data(), harness.rows("accesses", "status, issues, updated_at")
    gate = bank.on_begin = Gate()
    posted = harness.post({"a": await harness.request() if is_first else AccessRequest()}, refresh=True)
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await deactivate(harness)
    gate.open.set()
    await running
    posted.cancel()
    assert bank.calls == ["begin"]
    assert harness.data() == before[0]
    if not is_first:
        assert harness.rows("accesses", "status, issues, updated_at") == before[1]


@pytest.mark.parametrize("moment", ["on_begin", "on_resume"])
async def test_access_deleted_while_the_bank_is_asked_leaves_nothing(harness, bank, moment):
    gate = Gate()
    setattr(bank, moment, gate)
    posted = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await harness.services.accesses.delete_access(harness.principal, "a")
    gate.open.set()
    await running
    await posted
    assert [harness.rows(table) for table in (*DATA, "accesses", "fetches")] == [[]] * 5
    assert harness.owner.execute("select count(*) from pgqueuer where entrypoint = 'fetch'").fetchone() == (0,)
    assert harness.owner.execute("select count(*) from credential_leases").fetchone() == (0,)


async def test_deleting_takes_waiting_and_failed_jobs_out_of_the_queue(harness, bank):
    posted = harness.post({"a": await harness.request()})
    fetch_id = await harness.queued()
    jobs = "select count(*) from pgqueuer where payload = %s"
    assert harness.owner.execute(jobs, [fetch_id.bytes]).fetchone() == (1,)
    harness.owner.execute("update pgqueuer set status = 'failed' where payload = %s", [fetch_id.bytes])
    harness.owner.execute("update fetches set state = 'DONE' where id = %s", [fetch_id])
    await posted
    await harness.services.accesses.delete_access(harness.principal, "a")
    assert harness.owner.execute(jobs, [fetch_id.bytes]).fetchone() == (0,)


# Leases, fences, the reaper


async def test_two_accesses_with_the_same_credentials_never_call_the_bank_at_once(harness, bank):
    gate = bank.on_begin = Gate()
    posted = harness.post({"a": await harness.request(), "b": await harness.request()})
    first, second = await harness.queued("a"), await harness.queued("b")
    running = asyncio.create_task(harness.services.fetching.run(first))
    await gate.wait()
    assert await harness.services.fetching.run(second) is Outcome.BUSY
    gate.open.set()
    await running
    assert await harness.services.fetching.run(second) is Outcome.FINISHED
    await posted
    assert bank.most_at_once == 1
    assert bank.calls == ["begin", "resume"] * 2


async def test_other_logins_are_not_held_up(harness, bank):
    gate = bank.on_begin = Gate()
    posted = harness.post({"a": await harness.request("anna"), "b": await harness.request("berta")})
    first, second = await harness.queued("a"), await harness.queued("b")
    running = [asyncio.create_task(harness.services.fetching.run(fetch_id)) for fetch_id in (first, second)]
    for _ in range(1000):
        if bank.at_once == 2:
            break
        await asyncio.sleep(0.01)
    assert bank.at_once == 2
    gate.open.set()
    await asyncio.gather(*running, posted)


async def test_worker_that_was_silent_too_long_cannot_write_any_more(own, harness, bank):
    """The late write is refused by the fence, and what the new worker stored stays as it is."""
    gate = bank.on_resume = Gate()
    posted = harness.post({"a": await harness.request()})
    late = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await posted
    forget_heartbeat(harness)
    async with second_worker(own, harness) as second:
        assert await second.services.fetching.take_over_abandoned() == 1
        bank.on_resume = lambda: None
        bank.transactions = {"giro": ROWS[:8]}
        assert await second.services.fetching.run(await harness.queued()) is Outcome.FINISHED
    after = harness.data()
    assert len(after["transactions"]) == 8
    bank.transactions = {"giro": ROWS, "spar": ROWS}
    gate.open.set()
    await late
    assert harness.data() == after
    assert harness.rows("fetches", "state, attempts") == [("DONE", 2)]


async def test_late_worker_is_refused_also_while_nobody_has_taken_over_yet(harness, bank):
    """The reaper has put the fetch back: from then on the old worker's result is nobody's."""
    gate = bank.on_resume = Gate()
    posted = harness.post({"a": await harness.request()})
    late = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await posted
    forget_heartbeat(harness)
    assert await harness.services.fetching.take_over_abandoned() == 1
    gate.open.set()
    await late
    assert harness.rows("transactions") == []
    assert await harness.services.fetching.run(await harness.queued()) is Outcome.FINISHED
    assert len(harness.rows("transactions")) == 12


async def test_reaper_leaves_living_fetches_alone(harness, bank):
    gate = bank.on_resume = Gate()
    posted = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    assert await harness.services.fetching.take_over_abandoned() == 0
    gate.open.set()
    await running
    await posted
    assert await harness.services.fetching.take_over_abandoned() == 0


async def test_a_fetch_does_not_wait_in_line_for_credentials_whose_holder_is_storing(own, harness, bank, monkeypatch):
    """A lease that was got after such a wait had run out already: its fetch was taken for abandoned and tried twice."""
    reached, go_on = asyncio.Event(), asyncio.Event()
    retag = harness.services.transaction_tagging.retag_changed

    async def stall(*arguments):
        reached.set()
        await go_on.wait()
        await retag(*arguments)

    monkeypatch.setattr(harness.services.transaction_tagging, "retag_changed", stall)
    posted = harness.post({"a": await harness.request(), "b": await harness.request()})
    first, second = await harness.queued("a"), await harness.queued("b")
    bank.on_resume = lambda: forget_heartbeat(harness)  # the last heartbeat was too long ago when it begins to store
    storing = asyncio.create_task(harness.services.fetching.run(first))
    await reached.wait()
    bank.on_resume = lambda: None
    async with second_worker(own, harness) as other:
        try:
            assert await asyncio.wait_for(other.services.fetching.run(second), 20) is Outcome.BUSY
        finally:
            go_on.set()
        await storing
        gate = bank.on_begin = Gate()
        running = asyncio.create_task(other.services.fetching.run(second))
        await gate.wait()
        assert await harness.services.fetching.take_over_abandoned() == 0
        gate.open.set()
        await running
    await posted
    assert harness.rows("fetches", "state, attempts") == [("DONE", 1)] * 2
    assert bank.most_at_once == 1


async def prepare_then(harness, monkeypatch, act):
    """Run a fetch; `act` happens between the taking of its lease and its start."""
    gateway = harness.services.fetching._gateway
    prepare = gateway.prepare

    async def prepare_slowly(*arguments):
        prepared = await prepare(*arguments)
        await act()
        return prepared

    monkeypatch.setattr(gateway, "prepare", prepare_slowly)
    posted = harness.post({"a": await harness.request()})
    return posted, asyncio.create_task(harness.services.fetching.run(await harness.queued()))


async def test_a_lease_that_ran_out_before_the_start_is_valid_again_when_the_bank_is_called(harness, bank, monkeypatch):
    async def stall():
        forget_heartbeat(harness)

    gate = bank.on_begin = Gate()
    posted, running = await prepare_then(harness, monkeypatch, stall)
    await gate.wait()
    assert await harness.services.fetching.take_over_abandoned() == 0
    gate.open.set()
    await running
    await posted
    assert harness.rows("fetches", "state, attempts") == [("DONE", 1)]


async def test_no_bank_is_called_once_the_lease_is_in_other_hands(own, harness, bank, monkeypatch):
    taken = []
    async with second_worker(own, harness) as other:

        async def lose():
            if not taken:
                forget_heartbeat(harness)
                [(key,)] = harness.owner.execute("select key from credential_leases").fetchall()
                async with other.services.database.connect() as connection:
                    taken.append(await leases.take_lease(connection, key, other.services.fetching._leasing.holder))

        posted, running = await prepare_then(harness, monkeypatch, lose)
        assert await running is Outcome.BUSY
        assert taken[0] is not None
        assert bank.calls == []
        assert harness.rows("fetches", "state, attempts") == [("QUEUED", 0)]
        async with other.services.database.connect() as connection:
            assert await leases.renew_lease(connection, taken[0])
            await leases.release_lease(connection, taken[0])
    assert await harness.services.fetching.run(await harness.queued()) is Outcome.FINISHED
    await posted
    assert harness.rows("fetches", "state, attempts") == [("DONE", 1)]


async def test_a_renewal_that_had_to_wait_counts_from_when_it_was_made(harness, bank):
    """The holder's own storing transaction locks the lease's row; its heartbeat waits for that."""
    database = harness.services.database
    async with database.connect() as connection:
        lease = await leases.take_lease(connection, b"a key", harness.user_id)
    waiting = "select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')"
    async with database.connect() as renewing:
        async with database.transaction() as storing:
            assert await leases.holds_lease(storing, lease)
            renewal = asyncio.create_task(leases.renew_lease(renewing, lease))
            for _ in range(3000):
                if harness.owner.execute(waiting).fetchone():
                    break
                await asyncio.sleep(0.01)
            cursor = await storing.execute("select clock_timestamp()")
            (stored_at,) = await cursor.fetchone()
        assert await renewal
    (until,) = harness.owner.execute("select until from credential_leases where key = %s", [b"a key"]).fetchone()
    assert until - timedelta(seconds=leases.LEASE_SECONDS) >= stored_at


async def test_fetch_whose_workers_always_die_ends_with_an_issue(harness, bank):
    posted = harness.post({"a": await harness.request(is_synced=False)})
    fetch_id = await harness.queued()
    harness.owner.execute(
        "update fetches set state = 'RUNNING', attempts = %s, fence = 0 where id = %s", [fetches.MAX_ATTEMPTS, fetch_id]
    )
    assert await harness.services.fetching.take_over_abandoned() == 1
    await posted
    assert harness.rows("fetches", "state, 1") == [("INTERRUPTED", 1)]
    assert await harness.notices() == ([], ["INTERNAL"])
    assert harness.rows("accesses", "credentials, memory") == [(None, None)]


@pytest.mark.parametrize(
    "lost", ["delete from pgqueuer where payload = %s", "update pgqueuer set status = 'failed' where payload = %s"]
)
async def test_fetch_whose_job_got_lost_is_queued_anew(harness, bank, lost):
    posted = harness.post({"a": await harness.request()})
    fetch_id = await harness.queued()
    harness.owner.execute(lost, [fetch_id.bytes])
    assert await harness.services.fetching.take_over_abandoned() == 0, "it may just be on its way"
    harness.owner.execute("update fetches set requested_at = now() - interval '1 minute' where id = %s", [fetch_id])
    assert await harness.services.fetching.take_over_abandoned() == 1
    jobs = harness.owner.execute("select status::text from pgqueuer where payload = %s", [fetch_id.bytes]).fetchall()
    assert jobs == [("queued",)]
    await harness.services.fetching.run(fetch_id)
    await posted


async def test_fetch_that_is_done_is_not_run_again(harness, bank):
    posted = harness.post({"a": await harness.request()})
    fetch_id = await harness.queued()
    for _ in range(3):
        assert await harness.services.fetching.run(fetch_id) is Outcome.FINISHED
    await posted
    assert await harness.services.fetching.run(uuid4()) is Outcome.FINISHED
    assert bank.calls == ["begin", "resume"]


# Changes while a fetch runs


async def test_other_credentials_are_tried_although_a_fetch_runs_with_the_old_ones(harness, bank):
    gate = bank.on_begin = Gate()
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    old = harness.post({"a": await harness.request(pin="wrong")})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    new = harness.post({"a": await harness.request(pin="right")})
    following = await harness.queued()
    gate.open.set()
    await running
    await old
    assert await harness.notices() == ([], [])
    bank.refusal = None
    assert await harness.services.fetching.run(following) is Outcome.FINISHED
    await new
    assert bank.pins == ["wrong", "right"]
    assert (await harness.view()).access.status == "COMPLETE"


async def test_refresh_joins_the_fetch_that_runs_with_the_same_credentials(harness, bank):
    gate = bank.on_begin = Gate()
    first = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    second = harness.post({"a": AccessRequest()}, refresh=True)
    await asyncio.sleep(0.1)
    gate.open.set()
    await asyncio.gather(running, first, second)
    assert bank.calls == ["begin", "resume"]


async def test_sync_switched_off_while_a_fetch_runs_is_respected_at_its_end(harness, bank):
    gate = bank.on_resume = Gate()
    posted = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await posted
    await harness.post({"a": AccessRequest(is_synced=False)})
    gate.open.set()
    await running
    assert harness.rows("accesses", "credentials, memory") == [(None, None)]
    assert harness.rows("accesses", "expires_at is not null, 1") == [(True, 1)]


async def test_incomplete_credentials_never_call_the_bank_not_even_with_refresh(harness, bank):
    await harness.add()
    bank.calls = []
    await harness.post({"a": await harness.request(login="")}, refresh=True)
    assert bank.calls == []
    assert await harness.notices() == (["INCOMPLETE_CREDENTIALS"], ["INCOMPLETE_CREDENTIALS"])


# Two calls at once


async def test_two_calls_that_add_the_same_id_at_two_providers_cannot_mix_them(harness, bank, monkeypatch):
    """The second has looked before the first wrote."""
    other = next(provider for provider in harness.services.providers.search("sparkasse") if provider.login_fields)
    fields = {field.key: "12345" for field in other.login_fields}
    sealed = {
        key: base64.b64encode(await harness.services.encryption.encrypt(harness.principal, text.encode())).decode()
        for key, text in fields.items()
    }
    both_checked = asyncio.Barrier(2)
    write = Accesses._write

    async def write_after_both_checked(*arguments, **options):
        await both_checked.wait()
        return await write(*arguments, **options)

    monkeypatch.setattr(Accesses, "_write", write_after_both_checked)
    calls = [harness.post({"a": await harness.request()}), harness.post({"a": AccessRequest(other.id, sealed)})]
    fetch_id = await harness.queued()
    await harness.services.fetching.run(fetch_id)
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["InvalidError", "NoneType"]
    assert len(harness.rows("accesses")) == 1


async def test_refresh_of_an_access_that_is_deleted_meanwhile_does_not_bring_it_back(harness, bank, monkeypatch):
    await harness.add()
    store = Accesses._store

    async def store_after_deletion(*arguments, **options):
        monkeypatch.setattr(Accesses, "_store", store)
        await harness.services.accesses.delete_access(harness.principal, "a")
        return await store(*arguments, **options)

    monkeypatch.setattr(Accesses, "_store", store_after_deletion)
    with pytest.raises(InvalidError):
        await harness.post({"a": AccessRequest()}, refresh=True)
    assert harness.rows("accesses") == []


# Waiting


async def test_call_that_waits_for_busy_credentials_to_its_limit_is_told_so(harness, bank, monkeypatch):
    # Long enough for the first fetch to be at its bank by then.
    monkeypatch.setattr(harness.services.accesses, "_wait_seconds", 1.5)
    gate = bank.on_begin = Gate()
    slow = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued("a")))
    await gate.wait()
    with pytest.raises(TimeoutError):
        await slow
    with pytest.raises(BusyError):
        await harness.post({"b": await harness.request()})
    gate.open.set()
    await running
    await harness.services.fetching.run(await harness.queued("b"))
    assert {str(view.access.status) for view in await harness.services.accesses.list_accesses(harness.principal)} == {
        "COMPLETE"
    }


async def test_call_that_waits_for_a_worker_to_its_limit_is_timed_out_not_busy(harness, bank, monkeypatch):
    monkeypatch.setattr(harness.services.accesses, "_wait_seconds", 0.2)
    with pytest.raises(TimeoutError):
        await harness.post({"a": await harness.request()})
    assert LAST_POLL_SECONDS < 1


# Planning


async def test_selected_products_are_asked_for_alone_and_new_ones_are_fetched_too(harness, bank):
    await harness.add()
    ids = {stored.product.key: stored.id for stored in (await harness.view()).products}
    await harness.refresh(request=AccessRequest(selected_products=(ids["giro"],)))
    assert bank.jobs[-1].selected == ("giro",)
    assert [stored.product.key for stored in (await harness.view()).products] == ["giro"]
    await harness.refresh(request=AccessRequest(selected_products=(ids["giro"], ids["spar"])))
    assert bank.jobs[-1].selected is None
    found = (await harness.view()).products
    assert [(stored.product.key, str(stored.status)) for stored in found] == [
        ("giro", "COMPLETE"),
        ("spar", "COMPLETE"),
    ]
    assert len(harness.rows("transactions")) == 12


@pytest.fixture
def read_together(monkeypatch):
    """Two requests: both have read what is stored before either of them stores."""
    check, barrier = Accesses._check, asyncio.Barrier(2)

    async def check_together(self, *facts):
        plan = await check(self, *facts)
        await barrier.wait()
        return plan

    def begin():
        monkeypatch.setattr(Accesses, "_check", check_together)

    yield begin
    monkeypatch.setattr(Accesses, "_check", check)


def read_selection(harness):
    return harness.owner.execute(
        "select selected_products from accesses where user_id = %s", [harness.user_id]
    ).fetchone()[0]


async def test_of_two_selections_at_once_the_second_is_refused_and_overwrites_nothing(harness, bank, read_together):
    await harness.add()
    ids = {stored.product.key: stored.id for stored in (await harness.view()).products}
    wanted = [[ids["giro"]], [ids["spar"]]]
    read_together()
    posted = [harness.post({"a": AccessRequest(selected_products=tuple(selected))}) for selected in wanted]
    outcomes = await asyncio.gather(*posted, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {type(None), ConflictError}
    assert read_selection(harness) == wanted[outcomes.index(None)]


async def test_equal_selections_at_once_are_both_stored_and_a_selection_after_reading_again_replaces(
    harness, bank, read_together
):
    await harness.add()
    ids = {stored.product.key: stored.id for stored in (await harness.view()).products}
    read_together()
    posted = [harness.post({"a": AccessRequest(selected_products=(ids["giro"],))}) for _ in range(2)]
    assert await asyncio.gather(*posted) == [None, None]
    assert read_selection(harness) == [ids["giro"]]
    posted = [harness.post({"a": AccessRequest(selected_products=(ids["spar"],))}) for _ in range(2)]
    await harness.services.fetching.run(await harness.queued())  # what was not selected is fetched again, once
    assert await asyncio.gather(*posted) == [None, None]
    assert read_selection(harness) == [ids["spar"]]
    assert [stored.product.key for stored in (await harness.view()).products] == ["spar"]


async def test_a_selection_that_is_changed_while_a_fetch_runs_is_the_one_that_counts(harness, bank):
    await harness.add()
    ids = {stored.product.key: stored.id for stored in (await harness.view()).products}
    gate = bank.on_begin = Gate()
    posted = harness.post({"a": AccessRequest()}, refresh=True)
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await harness.post({"a": AccessRequest(selected_products=(ids["spar"],))})
    gate.open.set()
    await running
    await posted
    assert read_selection(harness) == [ids["spar"]]
    assert [stored.product.key for stored in (await harness.view()).products] == ["spar"]


async def test_fetch_of_recent_days_asks_from_some_weeks_before_the_newest_final_booking(harness, bank):
    await harness.add()
    posted = harness.post({"a": AccessRequest()}, refresh=True)
    fetch_id = await harness.queued()
    harness.owner.execute("update fetches set all_history = false where id = %s", [fetch_id])
    before = harness.rows("transactions", "id, purpose")
    await harness.services.fetching.run(fetch_id)
    await posted
    assert bank.jobs[-1].since == {"giro": date(2026, 10, 3), "spar": date(2026, 10, 3)}
    assert harness.rows("transactions", "id, purpose") == before
