"""Commands that run processes: serve, worker, migrate; and two that only tell: settings, openapi."""

import os
import resource
import shutil
import socket
import tempfile
import time
from dataclasses import replace
from typing import Annotated

import structlog
from cyclopts import Parameter

from kontor import __version__
from kontor.cli.context import AsJson, open_services_once, say
from kontor.cli.output import show_json, show_rows
from kontor.config import Settings, describe_settings, export_settings, read_settings, refuse_unknown_variables
from kontor.domain.errors import ConflictError

log = structlog.get_logger(__name__)

GRACE_SECONDS = 30
CONNECTIONS = 2048  # per API process, idle ones included
OPEN_FILES = CONNECTIONS + 1024  # a connection takes one; many systems allow 1,024 unless a process asks for more

AllowLoopback = Annotated[
    bool, Parameter(negative="", help="Webhooks may lead to this machine itself, for local trials.")
]

# Granian's own messages pass through our log, in its format and with its masks.
GRANIAN_LOGS = {
    "loggers": {
        "_granian": {"handlers": [], "propagate": True},
        "granian.access": {"handlers": [], "propagate": False},
    }
}


def serve(
    *,
    host: Annotated[str, Parameter(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on.")] = 8080,
    workers: Annotated[int, Parameter(help="API processes that share the port; about one per core.")] = 1,
    allow_loopback: AllowLoopback = False,
) -> None:
    """Serve the API. The database must have been migrated."""
    from kontor.bootstrap import with_database
    from kontor.logs import configure_logs
    from kontor.services.runtime import end_with_parent

    if workers < 1:
        raise ConflictError("--workers must be 1 or more.")
    refuse_unknown_variables()
    settings = read_settings(allow_loopback=allow_loopback or None)
    configure_logs(settings.log_level, settings.log_format)
    end_with_parent(settings.parent_pid)
    refuse_used_port(host, port)
    with with_database(settings) as ready:
        _refuse_unusable(ready)
        log.info(
            "serve.starting", version=__version__, host=host, port=port, processes=workers, base_url=ready.base_url
        )
        run_server(ready, host, port, workers)


def run_server(settings: Settings, host: str, port: int, workers: int) -> None:
    """Until SIGTERM or Ctrl-C; requests in flight are finished first."""
    from granian.constants import Interfaces, Loops
    from granian.http import HTTP1Settings
    from granian.log import LogLevels

    from kontor.cli.supervisors import Supervisor

    _raise_file_limit()
    metrics_folder = tempfile.mkdtemp(prefix="kontor-metrics-")
    os.environ.update(
        export_settings(replace(settings, parent_pid=os.getpid())), PROMETHEUS_MULTIPROC_DIR=metrics_folder
    )
    try:
        Supervisor(
            "kontor.bootstrap:create_app",
            factory=True,
            address=host,
            port=port,
            workers=workers,
            interface=Interfaces.ASGI,
            loop=Loops.auto,
            websockets=False,
            backpressure=CONNECTIONS,
            # Granian has one limit for the wait for a request: for its first byte, and for the whole of its head.
            http1_settings=HTTP1Settings(
                header_read_timeout=settings.keep_alive_seconds * 1000, max_buffer_size=64 * 1024
            ),
            workers_kill_timeout=GRACE_SECONDS,
            log_level=LogLevels.warning,
            log_dictconfig=GRANIAN_LOGS,
        ).serve()
    finally:
        shutil.rmtree(metrics_folder, ignore_errors=True)


def _raise_file_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < OPEN_FILES:
        most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def refuse_used_port(host: str, port: int, patience_seconds: float = 0) -> None:
    """Granian's sockets may share a port, so that two servers would take turns in answering."""
    end = time.monotonic() + patience_seconds
    while True:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
            return
        except OverflowError:
            raise ConflictError(f"{port} is not a port.") from None
        except OSError as error:
            if time.monotonic() >= end:
                raise ConflictError(f"Cannot listen on {host} port {port}: {error.strerror}.") from None
            time.sleep(0.1)


def worker(*, allow_loopback: AllowLoopback = False) -> None:
    """Run a worker: it fetches from banks, takes over from dead workers, and cleans up."""
    from kontor.bootstrap import run_worker, with_database
    from kontor.logs import configure_logs
    from kontor.services.runtime import end_with_parent

    refuse_unknown_variables()
    settings = read_settings(allow_loopback=allow_loopback or None)
    configure_logs(settings.log_level, settings.log_format)
    end_with_parent(settings.parent_pid)
    with with_database(settings) as ready:
        _refuse_unusable(ready)
        log.info("worker.starting", version=__version__)
        run_worker(ready)


def _refuse_unusable(settings: Settings) -> None:
    """Before any process is started: is the database there, of this version, safe, and is the master key its own?"""
    from kontor.cli.checks import refuse_unusable_files
    from kontor.storage.migrate import require_migrated

    assert settings.database_url is not None
    refuse_unusable_files(settings)
    require_migrated(settings.database_url)
    open_services_once(settings, "kontor start")


def migrate(
    *,
    alone: Annotated[
        bool, Parameter(negative="", help="All other processes are stopped: apply also what would break older ones.")
    ] = False,
    protect: Annotated[
        bool, Parameter(negative="", help="No process is older than version 36: enable row-level security.")
    ] = False,
) -> None:
    """Bring the database to this version. Safe to repeat, from several places at once, and while others work."""
    from kontor.bootstrap import migrate_database, with_database
    from kontor.logs import configure_logs
    from kontor.storage.migrate import is_protected

    settings = read_settings()
    configure_logs(settings.log_level, settings.log_format)
    with with_database(settings) as ready:
        assert ready.database_url is not None
        applied = migrate_database(ready, is_alone=alone, are_bound=protect)
        has_row_security = is_protected(ready.database_url)
    for migration in applied:
        say(f"applied {migration.version:04} {migration.name}")
    if not applied:
        say("The database is up to date.")
    if not has_row_security:
        say("Row-level security is off. Once no process is older than version 36: `kontor migrate --protect`.")


def settings(*, as_json: AsJson = False) -> None:
    """List every setting with its default."""
    show_rows(
        ("variable", "default", "meaning"),
        describe_settings(),
        as_json=as_json,
        keys=("variable", "default", "meaning"),
    )


def openapi() -> None:
    """Print the OpenAPI document."""
    import kontor.api.app  # noqa: F401 (declares the operations)
    from kontor.api.openapi import make_document
    from kontor.api.operations import OPERATIONS

    show_json(make_document(OPERATIONS, read_settings().base_url))
