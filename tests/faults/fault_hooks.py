"""Kontor's processes as they are, only that they die, stand still or wait at a chosen moment of a payment.

Run as `python -c "import fault_hooks; fault_hooks.main()" serve …`. A moment is met when the payment services say so
(`kontor.services.runtime.fault_points`), and also, without their help, at every commit of this process, at every call
of a bank and at every commit of the bank's own books. Which moment, and what is to happen there, stands in a file
`plan` in the folder of the process; the file `record` gets a line for every moment while it is there. The demo bank
pays twice if asked twice.
"""

import gc
import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import psycopg
from psycopg.pq import TransactionStatus

import kontor

FOLDER = "KONTOR_TEST_FAULT_FOLDER"
WRITING = re.compile(r"\s*(insert|update|delete|with\b.*\b(insert|update|delete))\b", re.IGNORECASE | re.DOTALL)
SOURCE = f"{Path(kontor.__file__).parent}{os.sep}"  # a checkout may be called kontor too, with all its packages below
# A heartbeat, and the note of who reads, which is written now and then: no steps of a payment.
NO_STEPS = ("renew_lease", "note_use")
# Who commits is the one above these.
WRAPPERS = ("Database.transaction", "DemoBankBooks._open", "DemoBankBooks._locked")

_lock = threading.Lock()
_counts: Counter[str] = Counter()
_token = ""


def folder() -> Path:
    return Path(os.environ[FOLDER])


def meet(name: str, kind: str) -> None:
    """`kind`: a point of the services, or `before` or `effect`: what others can see has not, or has, changed."""
    global _token
    with _lock:
        record = folder() / "record"
        if record.exists():
            with record.open("a") as file:
                file.write(json.dumps({"name": name, "kind": kind}) + "\n")
        try:
            plan = json.loads((folder() / "plan").read_text())
        except FileNotFoundError:
            return
        if plan["token"] != _token:
            _token = plan["token"]
            _counts.clear()
        _counts[name] += 1
        if (plan["name"], plan["count"]) != (name, _counts[name]):
            return
        (folder() / "pid").write_text(str(os.getpid()))
        try:
            (folder() / "plan").rename(folder() / f"met-{_token}")  # once, whichever process comes first
        except FileNotFoundError:
            return
        act(plan["action"])


def act(action: str) -> None:
    match action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)  # not one step further
        case "stop":
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
        case "hold":
            while not (folder() / f"go-{_token}").exists():
                time.sleep(0.01)


def watch_points() -> None:
    """The points that the payment services name."""
    from kontor.services.runtime import fault_points

    fault_points.reach = lambda name: meet(name, "point")


def find_site() -> str | None:
    """The function of Kontor that commits; None for libraries on their own."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_qualname
        if frame.f_code.co_filename.startswith(SOURCE) and name not in WRAPPERS:
            return None if name in NO_STEPS else name
        frame = frame.f_back
    return None


def is_lone_write(cursor, query) -> bool:
    connection = cursor.connection
    is_alone = connection.autocommit and connection.pgconn.transaction_status == TransactionStatus.IDLE
    return is_alone and isinstance(query, str) and WRITING.match(query) is not None


def watch_transactions() -> None:
    end = psycopg.AsyncTransaction.__aexit__

    async def watched_end(self, exc_type, *others):
        connection = self._conn
        is_open = exc_type is None and connection.pgconn.transaction_status == TransactionStatus.INTRANS
        site = find_site() if is_open and self._outer_transaction and not self.force_rollback else None
        if site is not None:
            cursor = await connection.execute("select pg_current_xact_id_if_assigned() is not null")
            site = site if (await cursor.fetchone())[0] else None
        if site is not None:
            meet(f"before commit of {site}", "before")
        ended = await end(self, exc_type, *others)
        if site is not None:
            meet(f"after commit of {site}", "effect")
        return ended

    psycopg.AsyncTransaction.__aexit__ = watched_end


def watch_lone_writes() -> None:
    execute, blocking_execute = psycopg.AsyncCursor.execute, psycopg.Cursor.execute

    async def watched_execute(self, query, *others, **more):
        site = find_site() if is_lone_write(self, query) else None
        if site is not None:
            meet(f"before write of {site}", "before")
        done = await execute(self, query, *others, **more)
        if site is not None and self.rowcount > 0:
            meet(f"after write of {site}", "effect")
        return done

    def watched_blocking_execute(self, query, *others, **more):
        site = find_site() if is_lone_write(self, query) else None
        if site is not None:
            meet(f"before write of {site}", "before")
        done = blocking_execute(self, query, *others, **more)
        if site is not None and self.rowcount > 0:
            meet(f"after write of {site}", "effect")
        return done

    psycopg.AsyncCursor.execute, psycopg.Cursor.execute = watched_execute, watched_blocking_execute


def watch_books() -> None:
    """The bank's own commits: blocking, at the end of a `with`."""
    commit = psycopg.Connection.commit

    def watched_commit(self):
        is_open = self.pgconn.transaction_status == TransactionStatus.INTRANS
        site = find_site() if is_open else None
        if site is not None and not self.execute("select pg_current_xact_id_if_assigned() is not null").fetchone()[0]:
            site = None
        if site is not None:
            meet(f"before commit of {site}", "before")
        commit(self)
        if site is not None:
            meet(f"after commit of {site}", "effect")

    psycopg.Connection.commit = watched_commit


def watch_bank() -> None:
    from kontor.connectors.demo.connector import DemoConnector

    begin, resume = DemoConnector.begin, DemoConnector.resume

    def watched_begin(self, provider, credentials, job, *others):
        name = type(job).__name__
        if name == "Fetch":
            return begin(self, provider, credentials, job, *others)
        meet(f"send {name}", "effect")
        step = begin(self, provider, credentials, job, *others)
        meet(f"receive {name}", "effect")
        return step

    def watched_resume(self, provider, credentials, state, answer, context):
        if state["job"].get("kind") != "pay":
            return resume(self, provider, credentials, state, answer, context)
        name = type(answer).__name__
        meet(f"send {name}", "effect")
        step = resume(self, provider, credentials, state, answer, context)
        meet(f"receive {name}", "effect")
        return step

    DemoConnector.begin, DemoConnector.resume = watched_begin, watched_resume


def watch_http() -> None:
    """Banks behind HTTP: each message to them, and each answer."""
    from contextlib import contextmanager
    from urllib.parse import urlsplit

    from kontor.connectors.bank_http import BankHttp

    stream = BankHttp.stream

    @contextmanager
    def watched(self, method, url, headers, content):
        name = f"{method} {re.sub('[0-9a-f-]{30,}', '…', urlsplit(url).path)}"
        meet(f"send {name}", "effect")
        with stream(self, method, url, headers, content) as answer:
            meet(f"receive {name}", "effect")
            yield answer

    BankHttp.stream = watched


def pay_twice() -> None:
    """The demo bank books an order each time it arrives."""
    from functools import partial

    from kontor import bootstrap

    bootstrap.DemoBankMemory = partial(bootstrap.DemoBankMemory, pays_twice=True)


def hurry() -> None:
    """Leases, and a session that stands still in a transaction, run out sooner; the rest follows from that."""
    from kontor import bootstrap
    from kontor.cli import supervisors
    from kontor.jobs import tasks, worker
    from kontor.services.banks import leasing
    from kontor.services.compute.compute import Compute
    from kontor.services.payments import dialogues as payment_dialogues
    from kontor.storage import database, demo_bank_payments, leases

    leases.LEASE_SECONDS, leasing.HEARTBEAT_SECONDS = 1.5, 0.3
    tasks.REAPER_SECONDS, tasks.BUSY_SECONDS = 0.2, 0.3
    payment_dialogues.FIRST_LOOKUP_SECONDS = 0.2
    worker.PROBE_SECONDS, worker.RECONNECT_SECONDS = 0.5, (0.1, 0.3)
    supervisors.LIVED_SECONDS = 0.0  # deaths are meant here: no successor waits
    idle = "idle_in_transaction_session_timeout="
    assert f"{idle}60s" in database.SESSION_OPTIONS["options"]
    options = database.SESSION_OPTIONS["options"].replace(f"{idle}60s", f"{idle}2s")
    database.SESSION_OPTIONS["options"] = options
    demo_bank_payments.PATIENCE = "2s"
    bootstrap.make_compute = lambda *_: Compute()  # payments need no compute processes, which take long to start


def name_connections() -> None:
    """So that those of one process can be cut."""
    from kontor.storage.database import Database

    make = Database.__init__

    def named(self, url, pool_size, application_name):
        make(self, url, pool_size, f"{folder().name} {application_name}")

    Database.__init__ = named


def run_again_and_again(run, arguments: list[str]) -> int:
    """A worker that is killed is followed by another, as any supervisor would have it. Forked: that is fast."""
    while True:
        child = os.fork()
        if child == 0:
            os._exit(run(arguments) or 0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return os.waitstatus_to_exitcode(status)


def load_early() -> None:
    """Before any fork, so that a successor starts fast."""
    import pgqueuer  # noqa: F401

    from kontor import bootstrap, demobank, webform
    from kontor.api import documentation
    from kontor.api.app import make_app
    from kontor.config import read_settings
    from kontor.jobs.worker import Worker  # noqa: F401
    from kontor.services.compute.compute import Compute

    settings = read_settings()
    if sys.argv[1] == "serve":
        documentation.make_document = lambda *_: {}  # making it takes longer than all the rest
        make_app(settings, lambda: None, pages=[webform.make_routes, demobank.make_routes])
    bootstrap.make_services(settings, None, None, None, Compute())
    gc.freeze()


def main() -> None:
    from kontor.cli.commands import run

    load_early()
    hurry()
    name_connections()
    watch_points()
    watch_transactions()
    watch_lone_writes()
    watch_books()
    watch_bank()
    watch_http()
    pay_twice()
    arguments = sys.argv[1:]
    sys.exit(run_again_and_again(run, arguments) if arguments == ["worker"] else run(arguments))
