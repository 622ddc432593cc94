"""`kontor worker`: no fault of the database ends it, its schedules go on afterwards, and it ends when it should."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kontor.config import Settings, export_settings
from kontor.storage.embedded import EmbeddedPostgres
from process_tree import Running, clean_environment, is_alive, own_database, wait_until

# The program itself, only that it waits less long before it looks again.
IMPATIENT = """
import sys
from kontor.cli.commands import run
from kontor.jobs import worker
worker.PROBE_SECONDS, worker.SILENCE_SECONDS, worker.RECONNECT_SECONDS = 0.5, 1.5, (0.1, 0.5)
sys.exit(run(["worker"]))
"""

WorkerSetup = tuple[EmbeddedPostgres, Settings, Running]


@pytest.fixture(scope="module")
def worker_setup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerSetup]:
    """A database of one's own with a worker on it; the tests of this file share the two."""
    folder = tmp_path_factory.mktemp("worker")
    with own_database(folder / "data") as (database, settings):
        environment = clean_environment(**export_settings(settings))
        worker = Running(["-c", IMPATIENT], folder / "worker.log", environment, [sys.executable])
        worker.wait_for("worker.ready")
        yield database, settings, worker
        worker.discard()


def owner(settings: Settings) -> psycopg.Connection:
    return psycopg.connect(settings.migration_database_url.reveal(), autocommit=True)


def leave_work(settings: Settings) -> None:
    """Something only housekeeping removes, and its turn has come."""
    with owner(settings) as connection:
        connection.execute(
            "insert into login_failures values (gen_random_uuid()::text::bytea, 1, now(), now() - interval '1 day')"
        )
        # Not while it is at work: cut off then, it has its turn again only when its heartbeat is long silent.
        statement = (
            "update pgqueuer_schedules set next_run = now() - interval '1 minute'"
            " where entrypoint = %s and status = 'queued'"
        )
        wait_until(lambda: connection.execute(statement, ["housekeeping"]).rowcount == 1, "the schedule waits")


def is_work_done(settings: Settings) -> bool:
    with owner(settings) as connection:
        return connection.execute("select count(*) from login_failures").fetchone() == (0,)


def count_ready(worker: Running) -> int:
    return worker.printed.count("worker.ready")


def test_it_survives_a_restart_of_postgresql_and_its_schedules_go_on(worker_setup):
    database, settings, worker = worker_setup
    before = count_ready(worker)
    leave_work(settings)
    database.stop()
    wait_until(lambda: "worker.database-lost" in worker.printed, "the worker notices")
    assert worker.process.poll() is None
    database.start()
    wait_until(lambda: count_ready(worker) > before, "the worker is back")
    wait_until(lambda: is_work_done(settings), "housekeeping goes on")


def test_it_survives_that_its_connections_are_terminated(worker_setup):
    """An administrator's pg_terminate_backend, for the queue's connection alone and for all."""
    _, settings, worker = worker_setup
    for condition in ("application_name = 'kontor queue'", "usename = 'kontor'"):
        before = count_ready(worker)
        leave_work(settings)
        with owner(settings) as connection:
            rows = connection.execute(
                f"select pg_terminate_backend(pid) from pg_stat_activity where {condition}"
            ).fetchall()
            assert rows
        wait_until(lambda before=before: count_ready(worker) > before, "the worker is back")
        wait_until(lambda: is_work_done(settings), "housekeeping goes on")
        assert worker.process.poll() is None


def test_it_gives_up_a_server_that_does_not_answer(worker_setup):
    """A frozen server closes nothing, so that every query waits for ever; the watchdog cuts the line."""
    _, settings, worker = worker_setup
    with owner(settings) as connection:
        [(backend,)] = connection.execute(
            "select pid from pg_stat_activity where application_name = 'kontor queue'"
        ).fetchall()
    before = count_ready(worker)
    os.kill(backend, signal.SIGSTOP)
    try:
        wait_until(lambda: count_ready(worker) > before, "the worker has left the frozen connection")
    finally:
        os.kill(backend, signal.SIGCONT)
    assert worker.process.poll() is None


def test_sigterm_ends_it_promptly_and_with_a_word(worker_setup):
    _, settings, worker = worker_setup
    second = Running(["worker"], worker.output.with_name("second.log"), clean_environment(**export_settings(settings)))
    second.wait_for("worker.ready")
    assert second.end(signal.SIGTERM, seconds=10) == 0
    assert "worker.stopped" in second.printed
    assert "Traceback" not in second.printed


def test_sigterm_ends_it_promptly_while_the_database_is_away(worker_setup):
    database, _, worker = worker_setup
    database.stop()
    try:
        wait_until(lambda: worker.printed.rstrip().splitlines()[-1].count("database-lost"), "the worker notices")
        assert worker.end(signal.SIGTERM, seconds=15) == 0
    finally:
        database.start()


def test_it_ends_with_the_process_that_started_it(worker_setup, tmp_path):
    """kill -9 of the parent, as of a demo: nobody else would stop it."""
    _, settings, _ = worker_setup
    script = (
        "import os, subprocess, sys\n"
        "environment = os.environ | {'KONTOR_PARENT_PID': str(os.getpid())}\n"
        "child = subprocess.Popen([sys.executable, '-m', 'kontor', 'worker'], env=environment)\n"
        "print(child.pid, flush=True)\n"
        "child.wait()"
    )
    log = Path(tmp_path / "orphan.log")
    with log.open("wb") as file:
        parent = subprocess.Popen(
            [sys.executable, "-c", script], env=clean_environment(**export_settings(settings)),
            stdout=subprocess.PIPE, stderr=file, text=True,
        )  # fmt: skip
        child = int(parent.stdout.readline())
        wait_until(lambda: "worker.ready" in log.read_text(), "the child works")
        parent.kill()
        parent.wait()
        parent.stdout.close()
    wait_until(lambda: not is_alive(child), "the child ends too")
