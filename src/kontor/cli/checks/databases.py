"""The database and the master key: reachable, of a tested version, migrated, with the right role and our clock."""

from collections.abc import Iterator

import psycopg

from kontor.cli.checks.findings import Finding, ok, problem, warning
from kontor.cli.context import open_services_once
from kontor.config import Settings
from kontor.storage.inspection import Server, inspect_server
from kontor.storage.keys import KeyUnusableError
from kontor.storage.migrate import MigrationError, find_missing

OLDEST, NEWEST = 15, 18  # the versions of PostgreSQL that the test suite has run with
CLOCK_SECONDS = 2.0


def check_master_key(settings: Settings) -> Finding:
    from kontor.bootstrap import load_master_key

    try:
        load_master_key(settings)
    except KeyUnusableError as error:
        return problem("master key", str(error))
    return ok("master key", "It can be loaded.")


def check_database(settings: Settings) -> Iterator[Finding]:
    """Stops at the first thing without which the rest cannot be asked."""
    assert settings.database_url is not None
    try:
        server = inspect_server(settings.database_url)
        yield _check_version(server)
        yield _check_clock(server)
        yield _check_role(server)
        missing = find_missing(settings.database_url)
    except psycopg.Error as error:
        yield problem("database", f"It cannot be used: {str(error).strip().splitlines()[0]}")
        return
    except MigrationError as error:
        yield problem("schema", str(error))
        return
    if missing:
        yield problem("schema", f"{len(missing)} migrations are missing. Run `kontor migrate`.")
        return
    yield ok("schema", "It is of this version.")
    yield _check_start(settings)


def _check_version(server: Server) -> Finding:
    version = f"PostgreSQL {server.major_version}"
    if server.major_version < OLDEST:
        return problem("database", f"{version} is too old; Kontor needs {OLDEST} or newer.")
    if server.major_version > NEWEST:
        return warning("database", f"{version} is newer than what Kontor was tested with ({NEWEST}).")
    return ok("database", f"{version} is reached.")


def _check_clock(server: Server) -> Finding:
    if server.clock_seconds > CLOCK_SECONDS:
        difference = f"This machine and the database differ by {server.clock_seconds:.0f} s."
        return problem("clock", f"{difference} Run a time service (NTP) on both.")
    return ok("clock", "This machine and the database agree.")


def _check_role(server: Server) -> Finding:
    if server.is_superuser:
        return warning("database role", f"{server.role} is a superuser. Give the application a role of its own.")
    if server.is_owner:
        return warning("database role", f"{server.role} owns the tables. Give the application a role without that.")
    return ok("database role", f"{server.role} may read and write rows, and change no table.")


def _check_start(settings: Settings) -> Finding:
    """As `serve` and `worker` do."""
    from kontor.cli.commands import explain

    try:
        open_services_once(settings, "kontor check")
    except Exception as error:
        reason = explain(error)
        if reason is None:
            raise
        return problem("start", reason)
    return ok("start", "The master key fits the database, and all connectors can be made.")
