"""From triggers to statements: the program before and this one raise data versions, also side by side."""

import os
from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from kontor.domain.secrets import Secret
from kontor.storage import products, tags, transactions
from kontor.storage.database import Database
from kontor.storage.migrate import MigrationError, find_role, migrate, read_migrations, require_migrated
from stored_data import GIRO, ROWS, TAGS, TODAY, StoredUser

TRIGGERS, BOTH, STATEMENTS, CHANGES = 20, 21, 22, 26
DAY, BERLIN = "timestamptz '2026-11-10", "Europe/Berlin"
TABLES = ("products", "transactions", "transaction_tags")


class Upgraded:
    """A database that is migrated step by step, and a user in it."""

    def __init__(self, settings, name: str) -> None:
        self.owner_url = Secret(make_conninfo(settings.migration_database_url.reveal(), dbname=name))
        self.url = Secret(make_conninfo(settings.database_url.reveal(), dbname=name))
        self.role = find_role(settings.database_url)
        self.user_id = uuid4()

    def migrate(self, version: int) -> None:
        """While processes of the version before run."""
        migrate(self.owner_url, self.role, known=read_migrations()[:version])

    def add_later_columns(self) -> None:
        """What this program writes beside the versions in question: later migrations add it."""
        with psycopg.connect(self.owner_url.reveal()) as owner:
            owner.execute("alter table products add column standing_order_actions text[] not null default '{}'")
            owner.execute("alter table products add column debit_forms text[] not null default '{}'")
            owner.execute(read_migrations()[CHANGES - 1].sql)
            owner.execute("alter table transactions add column parts jsonb")
            owner.execute("alter table transactions add column document text")
            owner.execute("alter table transactions add column document_version bigint")
            owner.execute("alter table transactions add column document_format integer")
            owner.execute("alter table transaction_tags add column learnt_from uuid")
            owner.execute("alter table transaction_tags add column rule_id uuid")
            owner.execute("alter table transaction_tags add column own_category text")
            owner.execute("alter table transaction_tags add column own_category_version bigint not null default 0")
            owner.execute("grant select, insert, update, delete on all tables in schema public to public")

    def add_user(self) -> None:
        tenant_id, key_id = uuid4(), uuid4()
        with psycopg.connect(self.owner_url.reveal()) as owner:
            owner.execute(
                "insert into tenants (id, name, is_regulated, allowed_scopes) values (%s, 't', true, '{}')", [tenant_id]
            )
            owner.execute(
                "insert into tenant_keys (id, tenant_id, kind, sealed) values (%s, %s, 'wrapping', '')",
                [key_id, tenant_id],
            )
            owner.execute(
                "insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
                " values (%s, %s, 'anna', '', %s, '', %s)",
                [self.user_id, tenant_id, uuid4(), key_id],
            )

    def write_as_before(self, statement: str, *values: object) -> int:
        """A statement of the program before. By how much it raises the version."""
        with psycopg.connect(self.url.reveal()) as connection:
            before = self._read(connection)
            connection.execute(statement, values)
            return self._read(connection) - before

    def _read(self, connection) -> int:
        return connection.execute("select version from data_versions where user_id = %s", [self.user_id]).fetchone()[0]

    def count_triggers(self) -> int:
        with psycopg.connect(self.url.reveal()) as connection:
            return connection.execute(
                "select count(*) from pg_trigger where not tgisinternal and tgrelid::regclass::text = any(%s)",
                [list(TABLES)],
            ).fetchone()[0]


@pytest.fixture
def upgraded(settings, owner) -> Iterator[Upgraded]:
    name = f"upgraded_{os.urandom(4).hex()}"
    owner.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    upgraded = Upgraded(settings, name)
    upgraded.migrate(TRIGGERS)
    upgraded.add_later_columns()
    upgraded.add_user()
    yield upgraded
    owner.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
async def user(upgraded):
    """Rows that this program has stored beside triggers."""
    database = Database(upgraded.url, 2, "test upgrade")
    await database.open()
    try:
        user = StoredUser(database, upgraded.user_id)
        await user.store()
        yield user
    finally:
        await database.close()


async def write_all(user, name):
    """As this program writes: a product, a row and its tags, in one transaction."""
    async with user.database.transaction(user.user_id) as connection:
        await products.upsert_product(connection, user.user_id, user.giro, "a", 0, replace(GIRO, name=name))
        await transactions.insert_transactions(connection, user.user_id, user.giro, ROWS[:1], TODAY)
        untagged = await tags.list_untagged(connection, user.user_id)
        await tags.insert_tags(connection, user.user_id, "1", [(row, TAGS) for row in untagged])


async def test_both_programs_raise_the_version_until_the_triggers_go(upgraded, user):
    for version in (TRIGGERS, BOTH):
        upgraded.migrate(version)
        assert upgraded.count_triggers() == 8
        rename = "update products set name = name || '!' where user_id = %s"
        assert upgraded.write_as_before(rename, user.user_id) == 1
        before = await user.version()
        await write_all(user, f"Konto {version}")
        assert await user.version() > before
    upgraded.migrate(STATEMENTS)
    assert upgraded.count_triggers() == 0
    before = await user.version()
    await write_all(user, "Konto")
    assert await user.version() == before + 1


@pytest.mark.parametrize(
    ("giro", "twin", "raised"),
    [
        ("12:00", "12:01", 1),
        ("12:01", "12:00", 0),
    ],
)
async def test_the_program_before_raises_the_version_when_another_product_becomes_the_freshest(
    upgraded, user, giro, twin, raised
):
    """Triggers do so from version 21 on, as this program does."""
    upgraded.migrate(BOTH)
    async with user.database.transaction(user.user_id) as connection:
        await user.set_looks(connection, f"{DAY} {giro} {BERLIN}'", f"{DAY} {twin} {BERLIN}'")
    see = f"update products set updated_at = {DAY} 13:00 {BERLIN}' where user_id = %s and id = %s"
    assert upgraded.write_as_before(see, user.user_id, user.giro) == raised
    assert upgraded.write_as_before(see, user.user_id, user.savings) == 0


def test_triggers_go_only_after_a_release_that_does_without_them(upgraded):
    with pytest.raises(MigrationError, match=r"breaks processes older than version 21.*at version 20"):
        upgraded.migrate(STATEMENTS)
    require_migrated(upgraded.url, read_migrations()[:TRIGGERS])
    upgraded.migrate(BOTH)
    require_migrated(upgraded.url, read_migrations()[:TRIGGERS])
    upgraded.migrate(STATEMENTS)
    require_migrated(upgraded.url, read_migrations()[:BOTH])
    with pytest.raises(MigrationError, match=r"this one \(version 20\) does not work with it any more"):
        require_migrated(upgraded.url, read_migrations()[:TRIGGERS])
