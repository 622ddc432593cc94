"""Row-level security: a statement that has lost its condition on the user still shows and changes no foreign row."""

import asyncio
import re
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import NAMESPACE_OID, uuid4, uuid5

import psycopg
import pytest
from filled_tables import fill_tables
from psycopg import AsyncRawCursor, RawCursor, sql
from sql_mutations import Statement, Values, find_statements, read_types

from kontor.domain.deltas import Progress
from kontor.domain.searches import CustomerFilters, Filters, Window
from kontor.storage import (
    connection_pool,
    customer_transactions,
    deltas,
    exports,
    searches,
    tag_views,
    transactions,
)
from kontor.storage.database import Database
from kontor.storage.migrate import find_role
from kontor.storage.row_policies import OF_TENANTS, PROTECTED, UNPROTECTED
from kontor.storage.user_binding import bind_session, bind_transaction
from kontor.wire.transactions import FIELDS
from processes import beside

THREATS = (Path(__file__).parents[2] / "docs/security/threat-model.md").read_text(encoding="utf-8")
ANNA, BERT = uuid4(), uuid4()
LONG_AGO, LATE = datetime(1970, 1, 2, tzinfo=UTC), date(2999, 1, 1)
PROGRESS = Progress(b"", 1000, 0)


@pytest.fixture(scope="module")
def own(settings):
    with beside(settings) as own:
        yield own


@pytest.fixture(scope="module")
def filled(own):
    """As the owner of the tables: each of them has a row of Anna and a row of Bert."""
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
        fill_tables(connection, (ANNA, BERT))
        yield connection


@pytest.fixture(scope="module")
def role(own):
    return find_role(own.database_url)


@contextmanager
def acting_as(connection, role, user_id):
    """With the application's rights, bound to the user; None for the rights of the owner."""
    if role is None:
        yield
        return
    connection.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))
    connection.execute("select set_config('kontor.user_id', %s, true)", [str(user_id)])
    yield
    connection.execute("reset role")


class Mutants:
    """Runs a statement and its mutants as Anna, and looks what became of Bert's rows; everything is rolled back."""

    def __init__(self, connection, role):
        self.connection, self.role = connection, role
        self.values = Values(connection, ANNA)
        self.outcomes = Counter()
        self.foreign = self.read_foreign()

    def find_leaks(self):
        for statement in find_statements():
            try:
                values = self.values.choose(statement, read_types(self.connection, statement.text))
            except psycopg.Error:
                self.outcomes["not understood"] += 1
                continue
            for mutant in statement.mutate():
                outcome = self.try_out(statement.text, mutant, values)
                self.outcomes[outcome] += 1
                if outcome == "leak":
                    yield f"{statement.where}: {' '.join(mutant.split())}"

    def try_out(self, text, mutant, values):
        with self.connection.transaction(force_rollback=True):
            with self.connection.transaction(force_rollback=True):
                expected = self.run(text, values)
            found = self.run(mutant, values)
            is_foreign_changed = self.read_foreign() != self.foreign
        if isinstance(expected, str) or isinstance(found, str):
            return expected if isinstance(expected, str) else found
        return "leak" if found != expected or is_foreign_changed else "same"

    def run(self, text, values):
        """The rows and their number, or the name of the error."""
        try:
            with self.connection.transaction(), acting_as(self.connection, self.role, ANNA):
                cursor = RawCursor(self.connection)
                cursor.execute(text, values)
                rows = cursor.fetchall() if cursor.description else []
                return Counter(map(repr, rows)), cursor.rowcount
        except psycopg.Error as error:
            return type(error).__name__

    def read_foreign(self):
        query = " union all ".join(
            f"select '{table}', md5(string_agg(t::text, ',' order by t::text)) from {table} t where user_id = $1"
            for table in PROTECTED
        )
        cursor = RawCursor(self.connection)
        cursor.execute(query, [BERT])
        return cursor.fetchall()


def test_no_statement_without_its_condition_on_the_user_reaches_foreign_rows(filled, role):
    protected = Mutants(filled, role)
    assert list(protected.find_leaks()) == []
    # The same mutants as the owner of the tables, who is not restricted: they are worth trying.
    bare = Mutants(filled, None)
    leaks = list(bare.find_leaks())
    print(f"{len(leaks)} of {bare.outcomes.total()} mutants leak without row-level security: {bare.outcomes}")  # noqa: T201
    assert len(leaks) > 120


WINDOW, FILTERS = Window(limit=100), CustomerFilters()
PRODUCT = uuid5(NAMESPACE_OID, "product_id")
CATEGORY = (("category", "category_confidence"),)
# Statements that a function puts together, of which the source has only parts.
COMPOSED = {
    "list": lambda c: transactions.list_json(c, ANNA, PRODUCT, WINDOW, FIELDS),
    "list of a time": lambda c: transactions.list_json(c, ANNA, PRODUCT, replace(WINDOW, since=LONG_AGO), FIELDS),
    "tags": lambda c: tag_views.list_tag_rows(c, ANNA, PRODUCT, WINDOW, FIELDS, CATEGORY),
    "search": lambda c: searches.search_rows(c, ANNA, PRODUCT, WINDOW, Filters(), FIELDS, CATEGORY),
    "all": lambda c: customer_transactions.list_page(c, ANNA, FILTERS, None, 100, FIELDS, CATEGORY),
    "sums": lambda c: customer_transactions.add_up(c, ANNA, FILTERS),
    "selection": lambda c: customer_transactions.select_rows(c, ANNA, FILTERS, 100),
    "changes": lambda c: deltas.list_changes(
        c, ANNA, 0, PROGRESS, 100, product_id=None, tag_column="category", is_paired=False
    ),
    "export": lambda c: exports.list_transaction_objects(c, ANNA, PRODUCT, (LONG_AGO.date(), 0), LATE, 100),
}


@pytest.mark.parametrize("name", COMPOSED)
async def test_a_list_without_its_conditions_on_the_user_shows_no_foreign_row(own, database, monkeypatch, name):
    unrestricted = Database(own.migration_database_url, 1, "test row security, owner")
    await unrestricted.open()
    execute = AsyncRawCursor.execute

    async def execute_mutant(cursor, query, *values, **facts):
        conditions = Statement("", query)
        return await execute(cursor, conditions.remove_all() if conditions.mutate() else query, *values, **facts)

    async def look(database):
        async with database.connect(ANNA) as connection:
            try:
                return await COMPOSED[name](connection)
            except psycopg.errors.CardinalityViolation as error:  # two rows where the user has one
                return error

    expected = await look(database)
    assert await look(unrestricted) == expected
    with monkeypatch.context() as patch:
        patch.setattr(AsyncRawCursor, "execute", execute_mutant)
        assert await look(database) == expected
        assert await look(unrestricted) != expected, "the mutant shows foreign rows to who may see them"
    await unrestricted.close()


def test_rows_cannot_be_written_for_another_user(filled, role):
    for table in PROTECTED:
        with filled.transaction(force_rollback=True):
            filled.execute(sql.SQL("create temporary table copied as table {}").format(sql.Identifier(table)))
            filled.execute("delete from copied where user_id <> %s", [BERT])
            filled.execute(sql.SQL("grant select on copied to {}").format(sql.Identifier(role)))
            filled.execute(sql.SQL("delete from {} where user_id = %s").format(sql.Identifier(table)), [BERT])
            statement = sql.SQL("insert into {} overriding system value table copied").format(sql.Identifier(table))
            with (
                pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
                filled.transaction(),
                acting_as(filled, role, ANNA),
            ):
                filled.execute(statement)


def test_every_table_with_a_user_is_protected_or_has_a_reason(filled):
    rows = filled.execute(
        """
        select c.relname, c.relrowsecurity, array(select pg_get_expr(polqual, polrelid) from pg_policy
            where polrelid = c.oid)
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id'
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        """
    ).fetchall()
    assert {table for table, *_ in rows} == {*PROTECTED, *UNPROTECTED}
    policies = {table: (is_enabled, conditions) for table, is_enabled, conditions in rows if table in PROTECTED}
    [(is_enabled, [condition])] = {repr(policy): policy for policy in policies.values()}.values()
    assert is_enabled
    assert condition.startswith("(user_id = ")
    assert "select" not in condition.lower(), "no other table decides"


def test_every_table_of_tenants_without_a_policy_says_why_there_and_in_the_threat_model(filled):
    rows = filled.execute(
        "select distinct c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')"
        " and a.attname in ('tenant_id', 'client_id', 'chain')"
    ).fetchall()
    assert {table for (table,) in rows} - {*PROTECTED, *UNPROTECTED} == {*OF_TENANTS} - {"tenants"}
    section = THREATS[THREATS.index("## Row-level security") :]
    assert [table for table in {*OF_TENANTS, *UNPROTECTED} if f"`{table}`" not in section] == []


def test_the_views_of_everybody_show_ids_states_and_times_alone(filled):
    rows = filled.execute(
        "select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' and c.relname like 'all\\_%'"
    ).fetchall()
    assert len({view for view, _ in rows}) == 19
    known = re.compile(
        r"(\w+_)?(id|at|until|since|state|status|version|key|digest|pause|place)|(is|has)_\w+|consent_warned_for|fence"
        r"|lookups|attempts|all_history|failure|pseudonym|scopes"
    )
    assert [row for row in rows if not known.fullmatch(row[1])] == []


def test_an_unbound_connection_of_the_application_sees_nobodys_rows(filled, own):
    with psycopg.connect(own.database_url.reveal(), autocommit=True) as connection:
        for setting in ("", None):
            if setting is not None:
                connection.execute("select set_config('kontor.user_id', %s, false)", [setting])
            for table in PROTECTED:
                query = sql.SQL("select count(*) from {}").format(sql.Identifier(table))
                assert connection.execute(query).fetchone() == (0,), table
                assert filled.execute(query).fetchone() == (2,), table


async def read_users(connection):
    cursor = await connection.execute("select user_id from accesses")
    return [row[0] for row in await cursor.fetchall()]


@pytest.fixture
async def database(filled, own):
    database = Database(own.database_url, 2, "test row security")
    await database.open()
    yield database
    await database.close()


async def test_a_connection_sees_the_rows_of_the_user_it_was_asked_for(database):
    """However connections are shared: each of the two serves everybody in turn."""

    async def look(user_id):
        for place in range(20):
            reading = (database.connect, database.transaction, database.snapshot)[place % 3]
            async with reading(user_id) as connection:
                assert await read_users(connection) == ([] if user_id is None else [user_id])
                await asyncio.sleep(0)

    await asyncio.gather(*[look(user_id) for user_id in (ANNA, BERT, None, ANNA)])


async def test_background_work_is_bound_until_the_end_of_its_transaction(database):
    with suppress(ZeroDivisionError):
        async with database.transaction() as connection:
            await bind_transaction(connection, BERT)
            assert await read_users(connection) == [BERT]
            raise ZeroDivisionError
    async with database.transaction() as connection:
        assert await read_users(connection) == []
        await bind_transaction(connection, ANNA)
    async with database.connect() as first, database.connect() as second:
        assert [await read_users(first), await read_users(second)] == [[], []]


async def test_a_binding_that_failed_is_not_taken_for_granted(database, monkeypatch):
    async with database.connect(ANNA):
        pass

    async def fail(connection, user_id):
        await bind_session(connection, user_id)
        raise asyncio.CancelledError  # after the server has changed the setting

    with monkeypatch.context() as patch:
        patch.setattr(connection_pool, "bind_session", fail)
        for _ in "ab":
            with pytest.raises(asyncio.CancelledError):
                async with database.connect(BERT):
                    pass
    for user_id in (ANNA, None, BERT):
        async with database.connect(user_id) as first, database.connect(user_id) as second:
            expected = [] if user_id is None else [user_id]
            assert [await read_users(first), await read_users(second)] == [expected, expected]
