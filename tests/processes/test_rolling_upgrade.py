"""A newer version migrates the database while processes of this version work on it."""

import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import uuid4

import pytest
from fleets import APP, DATABASE
from structlog.testing import capture_logs

from banking import ACCESSES, new_customer, wait_for
from kontor.config import export_settings
from kontor.storage.migrate import Migration, MigrationError, migrate, read_migrations, require_migrated
from process_tree import KONTOR, clean_environment

pytestmark = pytest.mark.long

OWN = read_migrations()[-1].version

EXPAND = Migration(
    OWN + 1,
    "nicknames",
    """
    alter table users add column nickname text;
    create table upgrade_notes (user_id uuid not null);
    create function note_user() returns trigger language plpgsql as $$
    begin
        insert into upgrade_notes values (new.id);
        return new;
    end $$;
    create trigger users_noted after insert on users for each row execute function note_user();
    """,
)
INDEX = Migration(
    OWN + 2,
    "users_by_nickname",
    "-- no transaction\ncreate index concurrently if not exists nicks on users (nickname);",
)
CONTRACT = Migration(OWN + 3, "no_nicknames", f"-- needs: {OWN + 1}\nalter table users drop column nickname;")


class Callers:
    """They read and write through the one address, and write down every answer."""

    def __init__(self, fleet):
        self.fleet, self.over = fleet, threading.Event()
        self.answers: list[tuple[int | None, float]] = []
        self.customer = new_customer(fleet.tenant)

    def call(self):
        while not self.over.is_set():
            begun = time.monotonic()
            written = self.fleet.create_user(self.fleet.tenant, f"rolling-{uuid4().hex[:12]}")
            read = self.customer.get(ACCESSES)
            status = None if written is None else max(written.status_code, read.status_code)
            self.answers.append((status, time.monotonic() - begun))


@contextmanager
def calling(fleet):
    callers = Callers(fleet)
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(callers.call) for _ in "ab"]
        try:
            yield callers
        finally:
            callers.over.set()
        for future in running:
            future.result()


@pytest.fixture
def upgrade(fleet):
    """`kontor migrate` of a newer version: with these migrations beyond our own."""
    url = fleet.settings.migration_database_url

    def apply(*later, **facts):
        return migrate(url, APP, known=[*read_migrations(), *later], **facts)

    yield apply
    with fleet.primary.connect(DATABASE) as connection:
        for statement in (
            "drop trigger if exists users_noted on users", "drop function if exists note_user",
            "drop table if exists upgrade_notes", "alter table users drop column if exists nickname",
            f"delete from schema_migrations where version > {OWN}",
        ):  # fmt: skip
            connection.execute(statement)


def run_kontor(fleet, *arguments):
    environment = clean_environment(**export_settings(fleet.settings))
    return subprocess.run([*KONTOR, *arguments], env=environment, capture_output=True, text=True, check=False)


def test_processes_of_this_version_go_on_while_a_newer_one_migrates(fleet, upgrade):
    with calling(fleet) as callers, capture_logs() as logs:
        wait_for(lambda: len(callers.answers), lambda count: count > 4)
        with fleet.primary.connect(DATABASE) as reader, ThreadPoolExecutor(1) as pool:
            # Somebody reads for a long time, so that the table cannot be changed meanwhile.
            with reader.transaction():
                reader.execute("select count(*) from users")
                migrating = pool.submit(upgrade, EXPAND, INDEX)
                wait_for(
                    lambda: [entry for entry in logs if entry["event"] == "migration.waits"], lambda seen: len(seen) > 1
                )
                assert not migrating.done()
            assert [migration.version for migration in migrating.result()] == [OWN + 1, OWN + 2]
        before = len(callers.answers)
        wait_for(lambda: len(callers.answers), lambda count: count > before + 4)
    print("slowest pair of calls:", round(max(seconds for _, seconds in callers.answers), 2), "s")  # noqa: T201
    assert {status for status, _ in callers.answers} == {201}
    assert fleet.query("select count(*) > 0 from upgrade_notes") == [(True,)]
    new_customer(fleet.tenant).add_complete("leer")
    fleet.assert_all_live()

    # What of this version is started anew accepts what lies ahead of it, and has nothing to migrate.
    require_migrated(fleet.settings.database_url)
    assert "up to date" in run_kontor(fleet, "migrate").stderr


def test_what_would_break_running_processes_is_refused_unless_nobody_runs(fleet, upgrade):
    with pytest.raises(MigrationError, match=rf"breaks processes older than version {OWN + 1}.*--alone"):
        upgrade(EXPAND, INDEX, CONTRACT)
    require_migrated(fleet.settings.database_url)
    assert fleet.query("select max(version) from schema_migrations") == [(OWN,)]

    # One release later it is fine: everybody knows the new columns by then, and nobody the old ones.
    upgrade(EXPAND, INDEX)
    assert [migration.version for migration in upgrade(EXPAND, INDEX, CONTRACT)] == [OWN + 3]

    # Whoever is left of the version before is told so, in one sentence.
    with pytest.raises(
        MigrationError, match=rf"to version {OWN + 3} by a newer Kontor, and this one \(version {OWN}\)"
    ):
        require_migrated(fleet.settings.database_url)
    refused = run_kontor(fleet, "worker")
    assert refused.returncode == 1
    assert "Use the newer Kontor" in refused.stderr
    assert "Traceback" not in refused.stderr
