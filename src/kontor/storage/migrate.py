"""Migrations: numbered SQL files, applied once, in order, under a lock."""

import hashlib
from dataclasses import dataclass
from importlib import resources

import psycopg
from psycopg import sql

from kontor.domain.secrets import Secret

LOCK_KEY = 0x4B4F4E54  # "KONT"

# The application may read and write, but not change tables; the audit trail it may only extend.
GRANTS = (
    "revoke create on schema public from public",
    "grant usage on schema public to {role}",
    "grant select, insert, update, delete on all tables in schema public to {role}",
    "grant usage, select on all sequences in schema public to {role}",
    "grant execute on all functions in schema public to {role}",
    "revoke update, delete, truncate on audit_entries from {role}",
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


def read_migrations() -> list[Migration]:
    migrations = []
    for file in resources.files("kontor.storage.migrations").iterdir():
        if file.name.endswith(".sql"):
            number, _, rest = file.name.partition("_")
            migrations.append(Migration(int(number), rest.removesuffix(".sql"), file.read_text(encoding="utf-8")))
    return sorted(migrations, key=lambda one: one.version)


def migrate(owner_url: Secret, app_role: str | None) -> list[Migration]:
    """Apply what is missing and return it. Safe to call from several processes at once."""
    applied_now = []
    with psycopg.connect(owner_url.reveal(), autocommit=True) as connection:
        connection.execute("select pg_advisory_lock(%s)", [LOCK_KEY])
        connection.execute(
            "create table if not exists schema_migrations (version integer primary key, name text not null,"
            " checksum text not null, applied_at timestamptz not null default now())"
        )
        if app_role is not None:  # so that the application can tell what is missing, also when a migration fails
            role = sql.Identifier(app_role)
            connection.execute(sql.SQL("grant select on schema_migrations to {role}").format(role=role))
        for one in _compare(connection):
            with connection.transaction():
                connection.execute(one.sql)
                connection.execute(
                    "insert into schema_migrations (version, name, checksum) values (%s, %s, %s)",
                    [one.version, one.name, one.checksum],
                )
            applied_now.append(one)
        if app_role is not None:
            with connection.transaction():
                for statement in GRANTS:
                    connection.execute(sql.SQL(statement).format(role=sql.Identifier(app_role)))
    return applied_now


def find_role(url: Secret) -> str:
    """The role a connection has in the end; an address need not name it."""
    with psycopg.connect(url.reveal(), autocommit=True) as connection:
        row = connection.execute("select current_user").fetchone()
    assert row is not None
    return str(row[0])


def find_missing(url: Secret) -> list[Migration]:
    """What `migrate` would apply. Works with the application's rights, and refuses what `migrate` would refuse."""
    with psycopg.connect(url.reveal(), autocommit=True) as connection:
        if connection.execute("select to_regclass('schema_migrations')").fetchone() == (None,):
            return read_migrations()
        return _compare(connection)


def require_migrated(url: Secret) -> None:
    """Refuse to run on a database of another version."""
    if find_missing(url):
        raise MigrationError("The database is not migrated to this version. Run `kontor migrate` first.")


def _compare(connection: psycopg.Connection) -> list[Migration]:
    """What is still to be applied; refuses a database that has been somewhere else."""
    applied: dict[int, str] = dict(connection.execute("select version, checksum from schema_migrations").fetchall())
    known = read_migrations()
    if applied and max(applied) > known[-1].version:
        raise MigrationError("The database was migrated by a newer Kontor. Use that version, or restore a backup.")
    for one in known:
        if applied.get(one.version, one.checksum) != one.checksum:
            raise MigrationError(f"Migration {one.version} ({one.name}) was changed after it had been applied.")
    return [one for one in known if one.version not in applied]
