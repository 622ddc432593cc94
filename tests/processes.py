"""Kontor's processes, started as an operator would start them."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import given_clusters
from kontor.config import Settings, export_settings
from kontor.domain.secrets import Secret
from plain_http import plain_client
from timeouts import WAIT_TIMEOUT_SECONDS

TEMPLATE = "kontor_template"
KONTOR = [sys.executable, "-m", "kontor"]
WITH_CHEAP_PASSWORDS = [sys.executable, "-P", str(Path(__file__).with_name("cheap_passwords.py"))]


class running_server:  # noqa: N801 (reads as a statement)
    """`kontor serve` for the time of a block."""

    def __init__(self, settings: Settings, log: Path, workers: int = 1, program: list[str] = KONTOR) -> None:
        self.settings = settings
        self.program = program
        self.log = log
        self.command = ["serve", "--port", settings.base_url.rpartition(":")[2], "--workers", str(workers)]

    def __enter__(self) -> str:
        self.process = start_kontor(self.settings, self.command, self.log, self.program)
        wait_until_ready(self.settings.base_url, self.process, self.log)
        return self.settings.base_url

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        assert self.process.wait(WAIT_TIMEOUT_SECONDS) == 0, self.log.read_text()


class running_worker:  # noqa: N801 (reads as a statement)
    """`kontor worker` for the time of a block."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self.settings = settings
        self.log = log

    def __enter__(self) -> subprocess.Popen[bytes]:
        self.process = start_kontor(self.settings, ["worker"], self.log)
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        # A worker that was still starting knows no other end; that one at work ends well has tests of its own.
        assert self.process.wait(WAIT_TIMEOUT_SECONDS) in (0, -signal.SIGTERM, 128 + signal.SIGTERM), (
            self.log.read_text()
        )


def start_kontor(
    settings: Settings, arguments: list[str], log: Path, program: list[str] = KONTOR
) -> subprocess.Popen[bytes]:
    """The process also ends when the process of the tests is killed."""
    with log.open("ab") as file:
        return subprocess.Popen(
            [*program, *arguments],
            env=os.environ | export_settings(replace(settings, parent_pid=os.getpid())),
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def wait_until_ready(
    base_url: str, process: subprocess.Popen[bytes], log: Path, seconds: float = WAIT_TIMEOUT_SECONDS
) -> None:
    end = time.monotonic() + seconds
    with plain_client(timeout=2) as client:
        while time.monotonic() < end:
            assert process.poll() is None, log.read_text()
            try:
                if client.get(f"{base_url}/health/ready").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
    raise AssertionError(f"not ready in time:\n{log.read_text()}")


def run_kontor(settings: Settings, *arguments: Any, code: int = 0) -> subprocess.CompletedProcess[str]:
    """A command, as an operator runs it; it ends with this code, and never with a traceback."""
    done = subprocess.run(
        [*KONTOR, *map(str, arguments)],
        env=os.environ | export_settings(settings),
        capture_output=True,
        text=True,
        timeout=WAIT_TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def make_template(settings: Settings) -> None:
    """A copy of the migrated database, which `beside` copies in turn: much faster than migrating again."""
    assert settings.migration_database_url is not None
    migrated = settings.migration_database_url.reveal()
    name = conninfo_to_dict(migrated)["dbname"]
    with psycopg.connect(make_conninfo(migrated, dbname="postgres"), autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} template {}").format(sql.Identifier(TEMPLATE), sql.Identifier(str(name)))
        )


@contextmanager
def beside(settings: Settings, **changes: Any) -> Iterator[Settings]:
    """A second database in the same cluster, migrated, with a queue of its own that no other worker looks into.

    Its processes have one compute process each instead of two, started at the first task: loading takes seconds.
    """
    if given_clusters.is_given():  # it has one database, which all share
        base_url = f"http://127.0.0.1:{free_port()}"
        yield replace(settings, compute_processes=1, compute_preload=False, base_url=base_url, **changes)
        return
    assert settings.database_url is not None
    assert settings.migration_database_url is not None
    name = f"kontor_{uuid4().hex[:12]}"
    admin = settings.migration_database_url.reveal()
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(TEMPLATE))
        )
    try:
        own = replace(
            settings,
            compute_processes=1,
            compute_preload=False,
            database_url=Secret(make_conninfo(settings.database_url.reveal(), dbname=name)),
            migration_database_url=Secret(make_conninfo(admin, dbname=name)),
            base_url=f"http://127.0.0.1:{free_port()}",
            **changes,
        )
        yield own
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
