"""Real processes, real faults: slow banks, workers that are killed or frozen, a database that restarts, days that pass.

Each part has a database of its own, so that no other worker looks into its queue. The workers are the program itself,
only that leases run out and are looked after sooner.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta

import psycopg
import pytest

from banking import ACCESSES, new_customer, new_id, wait_for
from kontor.bootstrap import open_services
from kontor.config import export_settings
from kontor.connectors.demo.people import person_for
from kontor.domain.clocks import BERLIN
from plain_http import plain_client
from process_tree import own_database
from processes import beside, running_server
from tenants import create_tenant

pytestmark = pytest.mark.long

# Where no worker dies, leases run as long as they do in earnest: how fast a worker is must not matter.
PATIENT = """
import sys
from kontor.cli.commands import run
from kontor.jobs import tasks
tasks.REAPER_SECONDS, tasks.BUSY_SECONDS = 0.3, 0.3
sys.exit(run(["worker"]))
"""
IMPATIENT = """
import sys
from kontor.cli.commands import run
from kontor.jobs import tasks, worker
from kontor.services.banks import leasing
from kontor.storage import leases
leases.LEASE_SECONDS, leasing.HEARTBEAT_SECONDS, tasks.REAPER_SECONDS, tasks.BUSY_SECONDS = 2, 0.5, 0.3, 0.3
worker.PROBE_SECONDS, worker.RECONNECT_SECONDS = 0.5, (0.1, 0.3)
sys.exit(run(["worker"]))
"""
HASTY = IMPATIENT.replace("worker.PROBE_SECONDS", "worker.GRACE_SECONDS = 1\nworker.PROBE_SECONDS")
SLOW_SECONDS = 3
TODAY = date(2026, 11, 12)  # a Thursday, with card payments still pending


class OwnService:
    """A service of its own: server, workers that can be hurt, and a tenant."""

    def __init__(self, settings, folder):
        self.settings, self.folder, self.stack = settings, folder, ExitStack()
        self.workers = []

    def start_worker(self, program=IMPATIENT, **changes):
        with (self.folder / "workers.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", program],
                env=os.environ | export_settings(replace(self.settings, log_level="info", **changes)),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.workers.append(process)
        return process

    def stop_workers(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
        self.workers = []

    def query(self, text, *values):
        with psycopg.connect(self.settings.migration_database_url.reveal(), autocommit=True) as connection:
            return connection.execute(text, values).fetchall()

    def fetches(self, customer, access_id):
        return self.query(
            "select state, attempts from fetches where user_id = %s and access_id = %s", customer.reference, access_id
        )

    def wait_until_running(self, customer, access_id, attempts=1):
        wait_for(lambda: self.fetches(customer, access_id), lambda fetches: fetches == [("RUNNING", attempts)])

    @property
    def log(self):
        return (self.folder / "workers.log").read_text()


@contextmanager
def running_service(settings, folder, make_tenant):
    service = OwnService(settings, folder)
    try:
        with (
            running_server(settings, folder / "server.log"),
            plain_client(base_url=settings.base_url, timeout=60) as http,
        ):
            service.tenant = make_tenant(settings, http)
            yield service
    finally:
        service.stop_workers()


@pytest.fixture(scope="module")
def make_tenant():
    """A tenant in a database of one's own, made without this process's event loop."""

    def make(settings, http):
        async def create():
            async with open_services(replace(settings, pool_size=2), "kontor tests") as services:
                return await create_tenant(services, http)

        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, create()).result()

    return make


@pytest.fixture(scope="module")
def slow(settings, make_tenant, tmp_path_factory):
    with (
        beside(settings, request_seconds=2, demo_slow_seconds=SLOW_SECONDS) as own,
        running_service(own, tmp_path_factory.mktemp("slow"), make_tenant) as service,
    ):
        yield service


@pytest.fixture
def customer(slow):
    yield new_customer(slow.tenant)
    slow.stop_workers()


def count_entries(login, today=None):
    person = person_for(login, today or datetime.now(BERLIN).date())
    return sum(len(account.entries) for account in person.accounts)


def count_stored(customer, access_id):
    rows = [transaction for product in customer.products(access_id) for transaction in customer.transactions(product)]
    assert len({row["id"] for row in rows}) == len(rows)
    return len(rows)


# Slow banks


def test_slow_bank_is_504_the_fetch_goes_on_and_a_repeated_call_finds_its_result(slow, customer):
    slow.start_worker(PATIENT)
    access_id = new_id()
    body = {access_id: customer.access("test_slow+504")}
    answer = customer.post(ACCESSES, body)
    assert answer.status_code == 504
    assert customer.read_access(access_id)["status"] == "GESTARTET"
    statuses = []
    wait_for(
        lambda: statuses.append(customer.post(ACCESSES, body).status_code) or statuses, lambda seen: seen[-1] == 201
    )
    access = wait_for(lambda: customer.read_access(access_id), lambda access: access["status"] == "VOLLSTAENDIG")
    assert access["bankprodukte"]
    assert slow.fetches(customer, access_id) == [("DONE", 1)]


def test_busy_credentials_are_409_with_retry_after_and_never_used_twice_at_once(slow, customer):
    slow.start_worker(PATIENT)
    slow.start_worker(PATIENT)
    first, second = new_id(), new_id()
    seen = []
    with ThreadPoolExecutor(2) as pool:
        posted = [pool.submit(customer.post, ACCESSES, {first: customer.access("test_slow+busy")})]
        slow.wait_until_running(customer, first)
        posted.append(pool.submit(customer.post, ACCESSES, {second: customer.access("test_slow+busy")}))

        def look():
            seen.append(slow.query("select count(*) from fetches where state = 'RUNNING'")[0][0])
            return [slow.fetches(customer, access_id) for access_id in (first, second)]

        wait_for(look, lambda fetches: fetches == [[("DONE", 1)]] * 2)
    waited, refused = [future.result() for future in posted]
    assert (waited.status_code, refused.status_code) == (504, 409)
    assert int(refused.headers["retry-after"]) > 0
    assert max(seen) == 1


def test_a_worker_that_is_told_to_stop_ends_while_a_bank_does_not_answer_and_the_bank_is_called_once(slow, customer):
    worker = slow.start_worker(HASTY, demo_slow_seconds=600)
    access_id = new_id()
    assert customer.post(ACCESSES, {access_id: customer.access("test_slow+stop")}).status_code == 504
    slow.wait_until_running(customer, access_id)
    before = len(slow.log)
    worker.terminate()
    assert worker.wait(60) == 0, slow.log[before:]
    said = slow.log[before:]
    assert "worker.jobs-cut-off" in said
    assert "worker.stopped" in said
    assert "Traceback" not in said
    assert slow.fetches(customer, access_id) == [("INTERRUPTED", 1)]
    slow.start_worker()
    # 409 until the lease of the dead worker has run out; or the next slot does it.
    wait_for(lambda: customer.refresh(access_id).status_code, lambda status: status in (201, 504))
    wait_for(lambda: slow.fetches(customer, access_id), lambda fetches: ("DONE", 1) in fetches)
    assert sorted(slow.fetches(customer, access_id)) == [("DONE", 1), ("INTERRUPTED", 1)]


def test_slow_banks_do_not_hold_up_the_others(slow, customer):
    """More of them than a small pool of threads would have."""
    slow.start_worker(PATIENT)
    with ThreadPoolExecutor(1) as pool:
        body = {f"slow-{number}": customer.access(f"test_slow+many{number}") for number in range(12)}
        waiting = pool.submit(customer.post, ACCESSES, body)
        running = "select count(*) from fetches where state = 'RUNNING'"
        wait_for(lambda: slow.query(running)[0][0], lambda count: count == 12)
        customer.add_complete("leer")
        assert slow.query(running)[0][0] > 0
        assert waiting.result().status_code == 504


# Workers that die


def test_killed_workers_fetch_is_taken_over_and_completes_once(slow, customer):
    access_id = new_id()
    victim = slow.start_worker()
    with ThreadPoolExecutor(1) as pool:
        posted = pool.submit(customer.post, ACCESSES, {access_id: customer.access("test_slow+killed")})
        slow.wait_until_running(customer, access_id)
        victim.send_signal(signal.SIGKILL)
        slow.start_worker()
        assert posted.result().status_code == 504
    customer.wait_until_complete(access_id)
    assert slow.fetches(customer, access_id) == [("DONE", 2)]
    assert count_stored(customer, access_id) == count_entries("test_slow+killed")
    wait_for(
        lambda: slow.query("select count(*) from pgqueuer where entrypoint = 'fetch'"), lambda rows: rows == [(0,)]
    )


def test_worker_frozen_past_its_lease_cannot_write_when_it_thaws(slow, customer):
    access_id = new_id()
    frozen = slow.start_worker()
    with ThreadPoolExecutor(1) as pool:
        posted = pool.submit(customer.post, ACCESSES, {access_id: customer.access("test_slow+frozen")})
        slow.wait_until_running(customer, access_id)
        frozen.send_signal(signal.SIGSTOP)
        slow.start_worker()
        posted.result()
    customer.wait_until_complete(access_id)
    before = customer.get(f"{ACCESSES}/{access_id}").text
    frozen.send_signal(signal.SIGCONT)
    wait_for(lambda: slow.log, lambda text: "lease-lost" in text)
    assert customer.get(f"{ACCESSES}/{access_id}").text == before
    assert count_stored(customer, access_id) == count_entries("test_slow+frozen")


def test_deleted_while_a_fetch_runs_means_gone_for_good(slow, customer):
    access_id = new_id()
    slow.start_worker()
    with ThreadPoolExecutor(1) as pool:
        posted = pool.submit(customer.post, ACCESSES, {access_id: customer.access("test_slow+deleted")})
        slow.wait_until_running(customer, access_id)
        assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 200
        posted.result()
    held = "select count(*) from credential_leases where until > now()"  # those of killed workers only run out
    wait_for(lambda: slow.query(held), lambda rows: rows == [(0,)])
    for table in ("accesses", "products", "transactions", "fetches"):
        assert slow.query(f"select count(*) from {table} where user_id = %s", customer.reference) == [(0,)]


# A database that restarts


def test_fetch_outlives_a_restart_of_postgresql(make_tenant, tmp_path):
    with own_database(tmp_path / "data") as (database, base):
        own = replace(base, demo=True, request_seconds=2, demo_slow_seconds=SLOW_SECONDS)
        with running_service(own, tmp_path, make_tenant) as service:
            customer, access_id = new_customer(service.tenant), new_id()
            service.start_worker()
            with ThreadPoolExecutor(1) as pool:
                posted = pool.submit(customer.post, ACCESSES, {access_id: customer.access("test_slow+restart")})
                service.wait_until_running(customer, access_id)
                database.stop()
                time.sleep(0.5)
                database.start()
                assert posted.result().status_code in (503, 504)
            look = lambda: customer.get(f"{ACCESSES}/{access_id}")  # noqa: E731
            wait_for(look, lambda answer: answer.status_code == 200 and answer.json()["status"] == "VOLLSTAENDIG")
            assert count_stored(customer, access_id) == count_entries("test_slow+restart")


# Days that pass


def test_the_next_days_keep_the_ids_and_pendings_become_final(settings, make_tenant, tmp_path):
    logins = ("demo1+days", "familie+days")
    with beside(settings, today=TODAY) as own:
        with running_service(own, tmp_path, make_tenant) as service:
            service.start_worker()
            customer = new_customer(service.tenant)
            accesses = [customer.add_complete(login) for login in logins]
            before = read_all(customer, accesses)
            service.stop_workers()
        later = replace(own, today=TODAY + timedelta(days=4))
        with running_server(later, tmp_path / "later.log"), plain_client(base_url=own.base_url, timeout=60) as http:
            customer.tenant.http = http
            service.start_worker(today=later.today)
            try:
                assert [customer.refresh(access_id).status_code for access_id in accesses] == [201, 201]
                after = read_all(customer, accesses)
            finally:
                service.stop_workers()
    finals = {key for key, transaction in before.items() if "vorgemerkt" not in transaction}
    pendings = {key for key, transaction in before.items() if "vorgemerkt" in transaction}
    assert pendings
    assert finals <= set(after), "a final booking keeps its id"
    for key in finals:
        assert after[key]["betrag"] == before[key]["betrag"]
        assert "vorgemerkt" not in after[key]
    booked = {key for key in pendings if key in after and "vorgemerkt" not in after[key]}
    assert len(booked) == len(pendings), "each pending booking has become final under its own id"
    assert all(after[key]["betrag"] == before[key]["betrag"] for key in booked)
    assert len(after) == sum(count_entries(login, later.today) for login in logins)


def read_all(customer, accesses):
    found = {}
    for access_id in accesses:
        for product in customer.products(access_id):
            if product["kategorie"] != "DEPOT":
                found |= {transaction["id"]: transaction for transaction in customer.transactions(product)}
    return found
