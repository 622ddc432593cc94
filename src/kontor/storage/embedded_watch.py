"""Looking after the embedded PostgreSQL: when its server is killed, whoever uses it starts it again."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import structlog

from kontor.storage.embedded import Addresses, EmbeddedPostgres
from kontor.storage.embedded_host import EmbeddedError

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0


@contextmanager
def restart_when_killed(server: EmbeddedPostgres) -> Iterator[None]:
    """For the time of a block. Several commands may do this for one server: the first one starts it."""
    ended = threading.Event()
    watch = threading.Thread(target=_watch, args=(server, ended), name="embedded postgres", daemon=True)
    watch.start()
    try:
        yield
    finally:
        ended.set()
        watch.join()


@contextmanager
def running_embedded(data: Path, *, is_restored: bool = False) -> Iterator[Addresses]:
    """For the time of one command: use the server that runs, else start one; the last user stops it."""
    server = EmbeddedPostgres(data, is_restored=is_restored)
    try:
        addresses = server.start()
        with restart_when_killed(server):
            yield addresses
    finally:
        server.stop()


def _watch(server: EmbeddedPostgres, ended: threading.Event) -> None:
    while not ended.wait(LOOK_SECONDS):
        if server.is_running():
            continue
        try:
            server.start()
        except (EmbeddedError, psycopg.Error, OSError) as error:
            log.error("postgres.not-restarted", reason=str(error))
        else:
            log.error("postgres.restarted")
