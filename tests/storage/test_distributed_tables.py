"""Tables that a Citus cluster distributes by user have what Citus asks for, and new tables are in a list (ADR 0062)."""

import re
from contextlib import suppress
from datetime import date
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from test_migration_rules import find_statements

from kontor.domain.errors import NotFoundError
from kontor.storage import accesses, users
from kontor.storage.analyses import Question, store_answer
from kontor.storage.clusters import note_clustered
from kontor.storage.data_versions import increment_version, take_version
from kontor.storage.database import Database
from kontor.storage.distribution import DELETED_WITH_USER, DISTRIBUTED, FIRST, LOCAL
from kontor.storage.migrate import Migration, read_migrations
from processes import beside

QUESTION = Question("test", date(2026, 11, 1), "test")
SINCE = 40  # migrations from here on know clusters
REFERENCES = """
    select confrelid::regclass::text, conname, array(select attname::text from pg_attribute
        where attrelid = conrelid and attnum = any(conkey)) from pg_constraint
    where conrelid = %s::regclass and contype = 'f'
"""


def find_references(owner, table):
    """(referred table, name, own columns) of each foreign key."""
    return owner.execute(REFERENCES, [table]).fetchall()


def test_every_table_with_a_user_is_distributed_or_has_a_reason_to_be_local(owner):
    rows = owner.execute(
        "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id'"
        " where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')"
    ).fetchall()
    assert sorted(row[0] for row in rows) == sorted([*DISTRIBUTED, *LOCAL])
    assert all(LOCAL.values())


@pytest.mark.parametrize("table", DISTRIBUTED)
def test_every_unique_key_of_a_distributed_table_has_the_user(owner, table):
    rows = owner.execute(
        "select indexrelid::regclass::text, array(select attname::text from pg_attribute"
        " where attrelid = indrelid and attnum = any(indkey)) from pg_index"
        " where indrelid = %s::regclass and indisunique",
        [table],
    ).fetchall()
    assert rows
    assert [name for name, columns in rows if "user_id" not in columns] == []


@pytest.mark.parametrize("table", DISTRIBUTED)
def test_a_distributed_table_refers_to_rows_of_the_same_user(owner, table):
    """Foreign keys to users and accesses are dropped; other tables of the coordinator are not referred to."""
    referred = find_references(owner, table)
    assert {other for other, _, _ in referred} <= {*DISTRIBUTED, "users", "accesses"}
    assert [name for _, name, columns in referred if "user_id" not in columns] == []


def test_no_local_table_refers_to_a_distributed_one(owner):
    rows = owner.execute(
        "select conrelid::regclass::text, confrelid::regclass::text from pg_constraint where contype = 'f'"
    ).fetchall()
    assert [row for row in rows if row[1] in DISTRIBUTED and row[0] not in DISTRIBUTED] == []


def test_parents_come_before_their_children_and_the_others_are_deleted_with_the_user(owner):
    parents = {table: {other for other, *_ in find_references(owner, table)} & {*DISTRIBUTED} for table in DISTRIBUTED}
    for place, table in enumerate(DISTRIBUTED):
        assert parents[table] <= {*DISTRIBUTED[:place]}, table
    assert sorted(DELETED_WITH_USER) == sorted(table for table in DISTRIBUTED if not parents[table])
    assert FIRST in DELETED_WITH_USER


def test_no_distributed_table_has_a_trigger_or_a_sequence(owner):
    triggers = owner.execute("select tgrelid::regclass::text from pg_trigger where not tgisinternal").fetchall()
    assert {row[0] for row in triggers} & {*DISTRIBUTED} == set()
    counted = owner.execute(
        "select attrelid::regclass::text from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid"
        " and d.adnum = a.attnum where attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval%'"
    ).fetchall()
    assert {row[0] for row in counted} & {*DISTRIBUTED} == set()


# Without the foreign keys that a cluster has not


@pytest.fixture(scope="module")
def loose(settings):
    """A database without foreign keys from distributed tables to users and accesses."""
    with beside(settings) as own:
        with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
            for table in DISTRIBUTED:
                for referred, name, _ in find_references(connection, table):
                    if referred not in DISTRIBUTED:
                        names = sql.Identifier(table), sql.Identifier(name)
                        connection.execute(sql.SQL("alter table {} drop constraint {}").format(*names))
        yield own


def fill(connection, user_id, tenant_id):
    """A user with an access, a product and a transaction, and a row in every distributed table that has no parent."""
    key = connection.execute("select id from tenant_keys where tenant_id = %s", [tenant_id]).fetchone()[0]
    connection.execute(
        "insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
        " values (%s, %s, %s, '', gen_random_uuid(), '', %s)",
        [user_id, tenant_id, str(user_id), key],
    )
    of = {"u": user_id, "p": uuid4(), "t": uuid4()}
    for statement in (
        "insert into accesses (user_id, id, provider_id, is_synced) values (%(u)s, 'a', %(p)s, true)",
        "insert into products (user_id, id, access_id, bank_key, ordinal, category, name, holder)"
        " values (%(u)s, %(p)s, 'a', '', 0, '', '', '')",
        "insert into transactions (user_id, product_id, id, booked_on, ordinal, amount, currency)"
        " values (%(u)s, %(p)s, %(t)s, '2026-11-01', 1, 1, 'EUR')",
        "insert into data_versions (user_id) values (%(u)s)",
        "insert into transaction_edits (user_id, id, version, sets_note, sets_keywords, row_count, skipped_count)"
        " values (%(u)s, %(p)s, 1, false, false, 1, 0)",
        "insert into transaction_edit_rows (user_id, product_id, transaction_id, edit_id)"
        " values (%(u)s, %(p)s, %(t)s, %(p)s)",
        "insert into removed_transactions (user_id, version, product_id, transaction_id, created_version)"
        " values (%(u)s, 1, %(p)s, %(p)s, 1)",
        "insert into repeated_transactions values (%(u)s, %(p)s, %(t)s, '{1}')",
        "insert into contracts (user_id, id, transaction_ids, booking_numbers, is_found)"
        " values (%(u)s, %(p)s, '{}', '{}', true)",
        "insert into contract_states values (%(u)s, 1, '2026-11-01', '')",
        "insert into analysis_results values (%(u)s, '', 1, '2026-11-01', '', '')",
        "insert into tagging_rules (user_id, id, category, iban_key, name_key) values (%(u)s, %(p)s, '', '', '')",
        "insert into own_categories (user_id, system_id, system_name, display_name, basis)"
        " values (%(u)s, 1, '', '', '')",
    ):
        connection.execute(statement, of)


def count_rows(connection, user_id):
    query = sql.SQL("select count(*) from {} where user_id = %s")
    cursors = {table: connection.execute(query.format(sql.Identifier(table)), [user_id]) for table in DISTRIBUTED}
    return {table: cursor.fetchone()[0] for table, cursor in cursors.items()}


@pytest.fixture
async def two_users(loose):
    tenant, key = uuid4(), uuid4()
    anna, bert = uuid4(), uuid4()
    with psycopg.connect(loose.migration_database_url.reveal(), autocommit=True) as connection:
        connection.execute(
            "insert into tenants (id, name, is_regulated, allowed_scopes) values (%s, %s, true, '{}')",
            [tenant, str(tenant)],
        )
        connection.execute(
            "insert into tenant_keys (id, tenant_id, kind, sealed) values (%s, %s, 'wrapping', '')", [key, tenant]
        )
        fill(connection, anna, tenant)
        fill(connection, bert, tenant)
        database = Database(loose.database_url, 1, "test distribution")
        await database.open()
        yield connection, database, tenant, anna, bert
        await database.close()


async def test_erasing_a_user_needs_no_foreign_key_to_distributed_tables(two_users):
    connection, database, tenant, anna, bert = two_users
    before = count_rows(connection, bert)
    assert {table for table in DELETED_WITH_USER if not before[table]} == set()
    async with database.transaction(anna) as writing:
        await users.delete_user(writing, tenant, anna)
    assert set(count_rows(connection, anna).values()) == {0}
    assert count_rows(connection, bert) == before


async def test_deleting_an_access_needs_no_foreign_key_to_products(two_users):
    connection, database, _, anna, bert = two_users
    async with database.transaction(anna) as writing:
        assert await accesses.delete_access(writing, anna, "a")
        assert not await accesses.delete_access(writing, anna, "a")
    left = count_rows(connection, anna)
    assert (left["products"], left["transactions"], left["transaction_edit_rows"]) == (0, 0, 0)
    assert left["removed_transactions"] == 2
    assert count_rows(connection, bert)["products"] == 1


WRITES = {
    "a version is taken": take_version,
    "a version is raised": increment_version,
    "an answer is kept": lambda connection, user_id: store_answer(connection, user_id, QUESTION, 1, b"{}"),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_an_erasure_waits_for_who_writes_for_the_user(two_users, write):
    """As on a cluster, where no foreign key holds the user: else rows would be written that nobody deletes."""
    connection, database, tenant, anna, _ = two_users
    async with database.transaction(anna) as writing:
        note_clustered(writing)
        await write(writing, anna)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            connection.execute("select 1 from users where tenant_id = %s and id = %s for update nowait", [tenant, anna])
    async with database.transaction(anna) as erasing:
        await users.delete_user(erasing, tenant, anna)
    assert set(count_rows(connection, anna).values()) == {0}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_nothing_is_written_for_an_erased_user(two_users, write):
    connection, database, tenant, anna, _ = two_users
    async with database.transaction(anna) as erasing:
        await users.delete_user(erasing, tenant, anna)
    with suppress(psycopg.errors.ForeignKeyViolation, NotFoundError):
        async with database.transaction(anna) as writing:
            note_clustered(writing)
            await write(writing, anna)
    assert set(count_rows(connection, anna).values()) == {0}


# Migrations


def find_faults(migration):
    """What a cluster would refuse, or leave on the coordinator."""
    if migration.version < SINCE:
        return
    statements = find_statements(migration.sql)
    names = "|".join(DISTRIBUTED)
    for text in statements:
        created = re.match(rf"create table (?:if not exists )?({names}) ", text)
        if created and f"select distribute_by_user('{created[1]}')" not in statements:
            yield f"{created[1]} is not distributed: `select distribute_by_user('{created[1]}')`"
        if created and re.search(r"\breferences\b", text):
            yield f"{created[1]} refers to a table before it is distributed: add the foreign key afterwards"
        changed = re.match(rf"alter table (?:only )?({names}) ", text)
        if changed and re.search(r"\badd column\b.*\b(check|references|unique|primary key)\b", text):
            yield f"`{text[:60]}`: add the column first, its constraint in a statement of its own"
        if changed and re.search(r"\b(references|foreign key)\b", text):
            referred = re.search(r"\breferences (\w+)", text)
            if referred is None or referred[1] not in DISTRIBUTED:
                yield f"`{text[:60]}`: a foreign key to the coordinator"
        if re.match(rf"create (?:or replace )?(?:constraint )?trigger .* on ({names})\b", text):
            yield f"`{text[:60]}`: no triggers on distributed tables"


@pytest.mark.parametrize("migration", read_migrations(), ids=lambda migration: f"{migration.version:04}")
def test_no_migration_does_what_a_cluster_refuses(migration):
    assert list(find_faults(migration)) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("create table contracts (user_id uuid);", "is not distributed"),
        ("create table contracts (user_id uuid references users);\nselect distribute_by_user('contracts');", "refers"),
        ("alter table products add column a text check (a <> '');", "add the column first"),
        ("alter table products add constraint a foreign key (user_id) references users;", "coordinator"),
        ("create trigger a after insert on products execute function b();", "triggers"),
    ],
)
def test_the_rules_for_migrations_find_what_they_should(text, word):
    assert [fault for fault in find_faults(Migration(99, "x", text)) if word in fault]


def test_a_table_that_its_migration_distributes_passes():
    text = """
        create table contracts (user_id uuid, id uuid, primary key (user_id, id));
        select distribute_by_user('contracts');
        alter table contracts add constraint a foreign key (user_id, id) references products on delete cascade;
        create table notes (id uuid references users);
    """
    assert list(find_faults(Migration(99, "x", text))) == []
