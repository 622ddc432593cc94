"""Migrations: numbered SQL files, applied once, in order, under a lock, beside processes that go on working.

Comments at the head of a file say what is special about it:

    -- needs: 12         programs older than version 12 do not work with what this migration leaves behind
    -- no transaction    its statements run one by one, for `create index concurrently`; they must bear repetition
"""

import hashlib
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources

import psycopg
import structlog
from psycopg import sql
from psycopg.errors import DeadlockDetected, LockNotAvailable
from psycopg.rows import TupleRow

from kontor.domain.secrets import Secret
from kontor.storage.connections import connect_blocking
from kontor.storage.row_policies import (
    BINDING_VERSION,
    add_policy,
    enable_policy,
    list_disabled,
    list_without_policy,
)

log = structlog.get_logger(__name__)

Connection = psycopg.Connection[TupleRow]

LOCK_KEY = 0x4B4F4E54  # "KONT"
NEEDS = re.compile(r"^-- needs: (\d+)$", re.MULTILINE)
NO_TRANSACTION = re.compile(r"^-- no transaction$", re.MULTILINE)
STATEMENT_END = re.compile(r";[ \t]*(?:--[^\n]*)?(?:\n|$)")

# A table that is to be changed is asked for so long and then left alone for a while: whoever waits for a table makes
# everybody after it wait as well.
LOCK_TIMEOUT = "1s"
PAUSE_SECONDS = (0.5, 2.0)
WAIT_TIMEOUT_SECONDS = 600.0
QUEUE_SECONDS = 0.1

# A migration may take as long as it takes; a server's or a role's limits are meant for queries.
MIGRATION_OPTIONS = {"options": "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c timezone=UTC"}

# The application may read and write, but not change tables; the audit trail it may only extend.
GRANTS = (
    "revoke create on schema public from public",
    "grant usage on schema public to {role}",
    "grant select, insert, update, delete on all tables in schema public to {role}",
    "grant usage, select on all sequences in schema public to {role}",
    "grant execute on all functions in schema public to {role}",
    "revoke update, delete, truncate on audit_entries from {role}",
    "revoke delete, truncate on audit_heads from {role}",
    "revoke insert, update, delete on schema_migrations from {role}",
)


class MigrationError(Exception):
    """The database cannot be brought to this version, in words for the operator."""


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def needs(self) -> int:
        """The oldest version of the program that works after it; without a word, every older one does."""
        match = NEEDS.search(self.sql)
        return int(match[1]) if match else 0

    @property
    def is_transactional(self) -> bool:
        return NO_TRANSACTION.search(self.sql) is None


@dataclass(frozen=True, slots=True)
class Applied:
    checksum: str
    needs: int | None  # None: written down by a Kontor that knew nothing of this


def read_migrations() -> list[Migration]:
    migrations = []
    for file in resources.files("kontor.storage.migrations").iterdir():
        if file.name.endswith(".sql"):
            number, _, rest = file.name.partition("_")
            migrations.append(Migration(int(number), rest.removesuffix(".sql"), file.read_text(encoding="utf-8")))
    return sorted(migrations, key=lambda migration: migration.version)


def migrate(
    owner_url: Secret,
    app_role: str | None,
    *,
    is_alone: bool = False,
    are_bound: bool = False,
    known: Sequence[Migration] | None = None,
) -> list[Migration]:
    """Apply what is missing and return it. Safe to call from several processes at once, and while others work.

    `is_alone` says that no other process of Kontor runs, so that nothing can break. `are_bound` says that every
    process binds its connections, so that row-level security can be enabled.
    """
    applied_now = []
    with connect_blocking(owner_url, autocommit=True, options=MIGRATION_OPTIONS) as connection:
        _lock(connection)
        _prepare(connection, app_role)
        known = known or read_migrations()
        applied = _read_applied(connection)
        missing = _compare(applied, known)
        if applied and not is_alone:
            _refuse_to_break(max(applied), missing)
        for migration in missing:
            if migration.is_transactional:
                what = f"Migration {migration.version} ({migration.name})"
                _patiently(partial(_apply, connection, migration, app_role), what)
            else:
                _apply_by_statement(connection, migration, app_role)
            applied_now.append(migration)
        with connection.transaction():
            _grant(connection, app_role)
        if known[-1].version >= BINDING_VERSION:
            _protect(connection, enables=are_bound or is_alone or _know_bindings(applied, missing))
    return applied_now


def is_protected(url: Secret) -> bool:
    """Is row-level security enabled for every table that is to have it?"""
    with connect_blocking(url, autocommit=True) as connection:
        return not list_disabled(connection)


def find_role(url: Secret) -> str:
    """The role a connection has in the end; an address need not name it."""
    with connect_blocking(url, autocommit=True) as connection:
        row = connection.execute("select current_user").fetchone()
    assert row is not None
    return str(row[0])


def find_missing(url: Secret, known: Sequence[Migration] | None = None) -> list[Migration]:
    """What `migrate` would apply. Works with the application's rights, and refuses what `migrate` would refuse."""
    known = known or read_migrations()
    with connect_blocking(url, autocommit=True) as connection:
        if connection.execute("select to_regclass('schema_migrations')").fetchone() == (None,):
            return list(known)
        return _compare(_read_applied(connection), known)


def require_migrated(url: Secret, known: Sequence[Migration] | None = None) -> None:
    """Refuse to run on a database that lacks something, or that has gone too far for this version."""
    if find_missing(url, known):
        raise MigrationError("The database is not migrated to this version. Run `kontor migrate` first.")


# Parts


def _lock(connection: Connection) -> None:
    """One at a time. Looked for again and again, since `create index concurrently` waits for everybody who waits."""
    while connection.execute("select pg_try_advisory_lock(%s)", [LOCK_KEY]).fetchone() != (True,):
        time.sleep(QUEUE_SECONDS)


def _prepare(connection: Connection, app_role: str | None) -> None:
    connection.execute(
        "create table if not exists schema_migrations (version integer primary key, name text not null,"
        " checksum text not null, applied_at timestamptz not null default now(), needs integer)"
    )
    has_column = "select 1 from pg_attribute where attrelid = 'schema_migrations'::regclass and attname = 'needs'"
    if connection.execute(has_column).fetchone() is None:  # made by a Kontor that knew nothing of it
        connection.execute("alter table schema_migrations add column needs integer")
    if app_role is not None:  # so that the application can tell what is missing, also when a migration fails
        role = sql.Identifier(app_role)
        connection.execute(sql.SQL("grant select on schema_migrations to {role}").format(role=role))


def _read_applied(connection: Connection) -> dict[int, Applied]:
    """By version. The column `needs` may be missing still."""
    rows = connection.execute(
        "select version, checksum, (to_jsonb(m) ->> 'needs')::integer from schema_migrations m"
    ).fetchall()
    return {version: Applied(checksum, needs) for version, checksum, needs in rows}


def _compare(applied: dict[int, Applied], known: Sequence[Migration]) -> list[Migration]:
    """What is still to be applied; refuses a database that has been somewhere else, or too far ahead."""
    own = known[-1].version
    for version, record in sorted(applied.items()):
        if version > own and (record.needs is None or record.needs > own):
            raise MigrationError(
                f"The database was migrated to version {max(applied)} by a newer Kontor, and this one (version {own})"
                " does not work with it any more. Use the newer Kontor, or restore a backup."
            )
    for migration in known:
        found = applied.get(migration.version)
        if found is not None and found.checksum != migration.checksum:
            raise MigrationError(
                f"Migration {migration.version} ({migration.name}) was changed after it had been applied."
            )
    return [migration for migration in known if migration.version not in applied]


def _refuse_to_break(current: int, missing: Sequence[Migration]) -> None:
    """Processes that run now know the database as it is: nothing may be applied that they do not get along with."""
    for migration in missing:
        if migration.needs > current:
            raise MigrationError(
                f"Migration {migration.version} ({migration.name}) breaks processes older than version"
                f" {migration.needs}, and this database is at version {current}. Upgrade to a release in between first,"
                " or stop every process and run `kontor migrate --alone`."
            )


def _know_bindings(applied: dict[int, Applied], missing: Sequence[Migration]) -> bool:
    """Do all running processes bind their connections? Those that run now are of the version that is found.

    Without a missing migration some may be older: the same release is migrated to once per machine.
    """
    return not applied or (bool(missing) and max(applied) >= BINDING_VERSION)


def _protect(connection: Connection, *, enables: bool) -> None:
    """Row-level security, table by table: each is locked for a moment only."""
    for table in list_without_policy(connection):
        _patiently(partial(_change_table, connection, add_policy, table), f"The policy of {table}")
    for table in list_disabled(connection) if enables else ():
        _patiently(partial(_change_table, connection, enable_policy, table), f"The policy of {table}")


def _change_table(connection: Connection, change: Callable[[Connection, str], None], table: str) -> None:
    with connection.transaction():
        connection.execute("select set_config('lock_timeout', %s, true)", [LOCK_TIMEOUT])
        change(connection, table)


def _patiently(apply: Callable[[], None], what: str) -> None:
    """Try again until the tables are free for a moment."""
    end = time.monotonic() + WAIT_TIMEOUT_SECONDS
    while True:
        try:
            return apply()
        except (LockNotAvailable, DeadlockDetected) as error:
            if time.monotonic() >= end:
                raise MigrationError(
                    f"{what} found its tables in use for {WAIT_TIMEOUT_SECONDS:.0f} seconds."
                    " Look for long transactions in pg_stat_activity, then repeat."
                ) from error
            log.info("migration.waits", migration=what, reason=type(error).__name__)
            time.sleep(random.uniform(*PAUSE_SECONDS))  # noqa: S311 (no secret)


def _apply(connection: Connection, migration: Migration, app_role: str | None) -> None:
    """All or nothing, with the rights: whoever works beside us may run into a new trigger at once."""
    with connection.transaction():
        connection.execute("select set_config('lock_timeout', %s, true)", [LOCK_TIMEOUT])
        connection.execute(migration.sql)
        _grant(connection, app_role)
        _write_down(connection, migration)


def _apply_by_statement(connection: Connection, migration: Migration, app_role: str | None) -> None:
    """Nothing here may lock out traffic. What an interrupted attempt left behind is removed first."""
    invalid = connection.execute(
        "select relname from pg_index join pg_class on pg_class.oid = indexrelid"
        " where not indisvalid and relnamespace = 'public'::regnamespace"
    ).fetchall()
    for (name,) in invalid:
        if re.search(rf"\b{re.escape(name)}\b", migration.sql):
            connection.execute(sql.SQL("drop index concurrently if exists {}").format(sql.Identifier(name)))
    for statement in split_statements(migration.sql):
        connection.execute(statement)
    with connection.transaction():
        _grant(connection, app_role)
        _write_down(connection, migration)


def split_statements(text: str) -> list[str]:
    """Of a migration without a transaction, which has no function bodies: a statement ends where a line does."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [statement.strip() for statement in STATEMENT_END.split("\n".join(lines)) if statement.strip()]


def _grant(connection: Connection, app_role: str | None) -> None:
    for statement in GRANTS if app_role is not None else ():
        connection.execute(sql.SQL(statement).format(role=sql.Identifier(app_role or "")))


def _write_down(connection: Connection, migration: Migration) -> None:
    connection.execute(
        "insert into schema_migrations (version, name, checksum, needs) values (%s, %s, %s, %s)",
        [migration.version, migration.name, migration.checksum, migration.needs],
    )
