"""Row-level security is enabled when nobody is left who does not bind connections, and not before."""

import os
from dataclasses import replace

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from kontor.domain.secrets import Secret
from kontor.storage.migrate import Migration, find_role, is_protected, migrate, read_migrations
from kontor.storage.row_policies import BINDING_VERSION, PROTECTED, list_disabled, list_without_policy

OLD = [migration for migration in read_migrations() if migration.version < BINDING_VERSION]
LATER = Migration(read_migrations()[-1].version + 1, "later", "create table later_notes (id integer)")


class Upgraded:
    """A database that processes of the version before work on."""

    def __init__(self, settings, name):
        self.settings = replace(
            settings,
            database_url=Secret(make_conninfo(settings.database_url.reveal(), dbname=name)),
            migration_database_url=Secret(make_conninfo(settings.migration_database_url.reveal(), dbname=name)),
        )
        self.role = find_role(self.settings.database_url)

    def migrate(self, known, **facts):
        return migrate(self.settings.migration_database_url, self.role, known=known, **facts)

    def count_as_before(self):
        """What an unbound connection of the application sees."""
        with psycopg.connect(self.settings.database_url.reveal(), autocommit=True) as connection:
            return connection.execute("select count(*) from data_versions").fetchone()[0]

    @property
    def is_protected(self):
        return is_protected(self.settings.database_url)


@pytest.fixture
def upgraded(settings, owner):
    name = f"upgraded_{os.urandom(4).hex()}"
    owner.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    upgraded = Upgraded(settings, name)
    upgraded.migrate(OLD)
    with psycopg.connect(upgraded.settings.migration_database_url.reveal(), autocommit=True) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute("insert into data_versions (user_id) values (gen_random_uuid())")
        yield upgraded, connection
    owner.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def test_a_process_of_the_version_before_still_sees_its_rows_after_the_migration(upgraded):
    upgraded, owner = upgraded
    assert upgraded.migrate(read_migrations())[0].version == BINDING_VERSION
    upgraded.migrate(read_migrations())  # once per machine
    assert (upgraded.count_as_before(), upgraded.is_protected) == (1, False)
    assert list_without_policy(owner) == []
    assert list_disabled(owner) == sorted(PROTECTED)

    upgraded.migrate([*read_migrations(), LATER])  # of the next release: everybody binds by now
    assert (upgraded.count_as_before(), upgraded.is_protected) == (0, True)


@pytest.mark.parametrize("facts", [{"is_alone": True}, {"are_bound": True}])
def test_who_says_that_no_older_process_runs_is_protected_at_once(upgraded, facts):
    upgraded, _ = upgraded
    upgraded.migrate(read_migrations(), **facts)
    assert (upgraded.count_as_before(), upgraded.is_protected) == (0, True)
    upgraded.migrate(read_migrations())
    assert upgraded.is_protected, "it stays so"
