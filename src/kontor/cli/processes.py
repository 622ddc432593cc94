"""Commands that run processes: serve, worker, migrate; and two that only tell: settings, openapi."""

import asyncio
import os
import shutil
import tempfile
from typing import Annotated

from cyclopts import App, Parameter

from kontor.cli.context import AsJson, say
from kontor.cli.output import show_json, show_rows
from kontor.config import Settings, describe_settings, export_settings, read_settings
from kontor.domain.errors import ConflictError

GRACE_SECONDS = 30


def serve(
    *,
    host: Annotated[str, Parameter(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on.")] = 8080,
    workers: Annotated[int, Parameter(help="API processes.")] = 1,
) -> None:
    """Serve the API. The database must have been migrated."""
    from kontor.bootstrap import with_database
    from kontor.storage.migrate import find_missing

    settings = read_settings()
    with with_database(settings) as ready:
        assert ready.database_url is not None
        if find_missing(ready.database_url):
            raise ConflictError("The database is not migrated to this version. Run `kontor migrate` first.")
        run_server(ready, host, port, workers)


def run_server(settings: Settings, host: str, port: int, workers: int) -> None:
    """Until SIGTERM or Ctrl-C; requests in flight are finished first."""
    from granian.constants import Interfaces, Loops
    from granian.http import HTTP1Settings
    from granian.server import Server

    metrics_folder = tempfile.mkdtemp(prefix="kontor-metrics-")
    os.environ.update(export_settings(settings), PROMETHEUS_MULTIPROC_DIR=metrics_folder)
    try:
        Server(
            "kontor.bootstrap:create_app",
            factory=True,
            address=host,
            port=port,
            workers=workers,
            interface=Interfaces.ASGI,
            loop=Loops.auto,
            websockets=False,
            http1_settings=HTTP1Settings(header_read_timeout=10_000, max_buffer_size=64 * 1024),
            respawn_failed_workers=True,
            workers_kill_timeout=GRACE_SECONDS,
            log_enabled=False,
        ).serve()
    finally:
        shutil.rmtree(metrics_folder, ignore_errors=True)


def work() -> None:
    """Run a worker: background refresh, webhooks, housekeeping."""
    from kontor.bootstrap import create_worker, with_database
    from kontor.logs import configure_logs

    settings = read_settings()
    configure_logs(settings.log_level, settings.log_format)
    with with_database(settings) as ready:
        asyncio.run(create_worker(ready).run())


def migrate() -> None:
    """Bring the database to this version. Safe to repeat, and from several places at once."""
    from kontor.bootstrap import migrate_database, with_database

    with with_database(read_settings()) as ready:
        applied = migrate_database(ready)
    for one in applied:
        say(f"applied {one.version:04} {one.name}")
    if not applied:
        say("The database is up to date.")


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


def add_commands(app: App) -> None:
    app.command(serve)
    app.command(work, name="worker")
    app.command(migrate)
    app.command(settings)
    app.command(openapi)
