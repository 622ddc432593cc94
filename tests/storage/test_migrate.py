"""Migrations: once each, in order, by anybody at any time, and never on a database that has been elsewhere."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from kontor.bootstrap import migrate_database
from kontor.config import Settings, export_settings
from kontor.domain.secrets import Secret
from kontor.storage.database import Database, UnsafeDatabaseError
from kontor.storage.migrate import MigrationError, find_missing, read_migrations, require_migrated
from process_tree import KONTOR, clean_environment
from processes import beside
from timeouts import WAIT_TIMEOUT_SECONDS


@pytest.fixture
def empty(settings: Settings, owner: psycopg.Connection) -> Iterator[Settings]:
    """Settings of an empty database on the same server, as if it were an external one."""
    name = f"empty_{os.urandom(4).hex()}"
    owner.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    yield replace(
        settings,
        database_url=Secret(make_conninfo(settings.database_url.reveal(), dbname=name)),
        migration_database_url=Secret(make_conninfo(settings.migration_database_url.reveal(), dbname=name)),
    )
    owner.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
def migrated(settings: Settings) -> Iterator[Settings]:
    with beside(settings) as migrated:
        yield migrated


def test_a_new_database_has_no_accounts(migrated):
    tables = ("tenants", "clients", "users", "operators", "api_keys", "access_tokens")
    with psycopg.connect(migrated.migration_database_url.reveal()) as connection:
        counts = [connection.execute(f"select count(*) from {table}").fetchone() for table in tables]
    assert counts == [(0,)] * len(tables)


def as_owner(settings: Settings, statement: str) -> None:
    with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as connection:
        connection.execute(statement)


def test_all_are_applied_once_and_repeating_does_nothing(empty):
    assert find_missing(empty.database_url) == read_migrations()
    with pytest.raises(MigrationError, match="Run `kontor migrate` first"):
        require_migrated(empty.database_url)
    assert migrate_database(empty) == read_migrations()
    assert migrate_database(empty) == []
    require_migrated(empty.database_url)


def test_numbers_are_without_gap_and_without_twin():
    assert [migration.version for migration in read_migrations()] == list(range(1, len(read_migrations()) + 1))


@pytest.mark.programs
def test_two_processes_at_once_share_the_work(empty):
    environment = clean_environment(**export_settings(empty))
    both = [subprocess.Popen([*KONTOR, "migrate"], env=environment, stderr=subprocess.PIPE, text=True) for _ in "ab"]
    told = [process.communicate(timeout=WAIT_TIMEOUT_SECONDS)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert sum(text.count("applied ") for text in told) == len(read_migrations())
    require_migrated(empty.database_url)


def test_a_failing_migration_leaves_nothing_of_itself(empty, monkeypatch):
    from kontor.storage import migrate

    known = read_migrations()
    broken = migrate.Migration(known[-1].version + 1, "broken", "create table half (); select no_such_function();")
    monkeypatch.setattr(migrate, "read_migrations", lambda: [*known, broken])
    with pytest.raises(psycopg.errors.UndefinedFunction):
        migrate_database(empty)
    with pytest.raises(MigrationError, match="Run `kontor migrate` first"):
        require_migrated(empty.database_url)
    monkeypatch.undo()
    require_migrated(empty.database_url)
    with psycopg.connect(empty.migration_database_url.reveal()) as connection:
        assert connection.execute("select to_regclass('half')").fetchone() == (None,)


def test_a_migration_changed_after_the_fact_is_refused(migrated):
    as_owner(migrated, "update schema_migrations set checksum = 'other' where version = 1")
    with pytest.raises(MigrationError, match=r"Migration 1 \(foundation\) was changed"):
        migrate_database(migrated)
    with pytest.raises(MigrationError, match="was changed"):
        require_migrated(migrated.database_url)


def test_a_newer_database_is_refused(migrated):
    as_owner(migrated, "insert into schema_migrations (version, name, checksum) values (9999, 'future', 'x')")
    for refuse in (lambda: migrate_database(migrated), lambda: require_migrated(migrated.database_url)):
        with pytest.raises(MigrationError, match="newer Kontor"):
            refuse()


@pytest.mark.parametrize(
    "statement",
    [
        "create table mine ()",
        "create schema mine",
        "create function mine() returns int language sql as 'select 1'",
        "alter table tenants add column mine text",
        "drop table users",
        "create index mine on users (username)",
        "truncate users cascade",
        "update audit_entries set actor = 'somebody else'",
        "delete from audit_entries",
        "truncate audit_entries",
        "delete from audit_heads",
        "truncate audit_heads",
        "alter table audit_entries disable trigger all",
        "alter table audit_heads disable trigger user",
        "insert into schema_migrations (version, name, checksum) values (9999, 'x', 'x')",
        "delete from schema_migrations",
    ],
)
def test_the_application_can_neither_change_tables_nor_the_past(settings, statement):
    refused = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with psycopg.connect(settings.database_url.reveal()) as connection, refused:
        connection.execute(statement)


@pytest.mark.parametrize(
    "statement", ["update audit_entries set actor = actor", "delete from audit_entries", "truncate audit_entries"]
)
def test_triggers_keep_even_the_owner_from_the_audit_trail(migrated, statement):
    as_owner(
        migrated,
        "insert into audit_entries values (gen_random_uuid(), 1, now(), 'a', 'b', 'c', 'done', '-', 'hash')",
    )
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        as_owner(migrated, statement)


async def test_a_server_that_may_lose_commits_is_refused(migrated, owner):
    database = psycopg.conninfo.conninfo_to_dict(migrated.database_url.reveal())["dbname"]
    setting = sql.SQL("alter database {} set synchronous_commit = off").format(sql.Identifier(database))
    owner.execute(setting)
    with pytest.raises(UnsafeDatabaseError, match="synchronous_commit=off"):
        await open_and_close(migrated)


async def test_fsync_off_is_refused(migrated, monkeypatch):
    """Only a whole server can run without fsync, so here the server's answer is put in its mouth."""
    url = make_conninfo(migrated.migration_database_url.reveal())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create schema fake")
        connection.execute(
            "create function fake.current_setting(text) returns text language sql as"
            " $$ select case $1 when 'fsync' then 'off' else pg_catalog.current_setting($1) end $$"
        )
        connection.execute("grant usage on schema fake to kontor")
        database = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        statement = "alter database {} set search_path = fake, pg_catalog, public"
        connection.execute(sql.SQL(statement).format(sql.Identifier(database)))
    with pytest.raises(UnsafeDatabaseError, match="fsync=off"):
        await open_and_close(migrated)


async def open_and_close(settings: Settings) -> None:
    database = Database(settings.database_url, 1, "kontor tests")
    try:
        await database.open()
    finally:
        await database.close()


# An external database: two addresses, and a master key that does not lie beside it


def run(settings: Settings, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    exported = export_settings(replace(settings, is_embedded=False))
    environment = clean_environment(**exported, **more)
    return subprocess.run([*KONTOR, *arguments], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.programs
def test_an_external_database_needs_a_master_key_from_elsewhere(empty, tmp_path):
    external = replace(empty, data=tmp_path)
    assert run(external, "migrate").returncode == 0
    refused = run(external, "tenant", "list")
    assert refused.returncode == 1
    assert refused.stderr.startswith("Refused: With an external database Kontor needs KONTOR_MASTER_KEY")
    assert "Traceback" not in refused.stderr
    key = run(external, "key", "generate").stdout.strip()
    assert run(external, "tenant", "list", KONTOR_MASTER_KEY=key).returncode == 0
    assert run(external, "tenant", "list", KONTOR_MASTER_KEY_COMMAND=f"echo {key}").returncode == 0
    assert list(Path(tmp_path).iterdir()) == []


@pytest.mark.programs
def test_migrations_take_the_owners_address_and_say_so_when_it_is_missing(empty, owner):
    """Without it the application's own role would have to own the tables, and could change the past."""
    refused = run(replace(empty, migration_database_url=None), "migrate")
    assert refused.returncode == 1
    assert "KONTOR_MIGRATION_DATABASE_URL" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert run(empty, "migrate").returncode == 0
