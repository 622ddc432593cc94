"""In a database that nobody has analysed yet, checks of foreign keys find a transaction by its whole key."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from kontor.domain.transactions import Transaction
from kontor.storage.database import Database
from kontor.storage.transactions import MANY_ROWS, insert_transactions
from processes import beside

USER, PRODUCT = UUID("00000000-0000-4000-8000-000000000001"), UUID("00000000-0000-4000-8000-000000000002")
START = datetime(2026, 1, 1, tzinfo=UTC)
FILL = """
    insert into transactions (user_id, product_id, id, booked_on, ordinal, amount, currency)
    select %(user)s, %(product)s, gen_random_uuid(), '2026-01-01'::date + n / 10, n, 1, 'EUR'
    from generate_series(1, %(count)s) n
"""
# What PostgreSQL asks for each row of `transaction_tags` and of `transaction_edit_rows`.
CHECK = """
    prepare checked (uuid, uuid, uuid) as
    select 1 from only transactions x where user_id = $1 and product_id = $2 and id = $3 for key share of x
"""
EXPLAIN = sql.SQL("explain (format json) execute checked ({user}, {product}, {user})").format(
    user=sql.Literal(str(USER)), product=sql.Literal(str(PRODUCT))
)
GENERIC = "set local plan_cache_mode = force_generic_plan"
COUNT_STATISTICS = "select count(*) from pg_stats where schemaname = 'public' and tablename = 'transactions'"


@pytest.fixture
def fresh(settings):
    with beside(settings) as own:
        yield own


def find_indexes(plan):
    own = [plan["Index Name"]] if "Index Name" in plan else []
    return own + [name for part in plan.get("Plans", ()) for name in find_indexes(part)]


@pytest.mark.parametrize("count", [MANY_ROWS, 1000, 4500])
async def test_the_first_large_fetch_checks_each_tag_by_the_primary_key(fresh, count):
    """All in one transaction, which nobody else sees, autovacuum included."""
    rows = [Transaction(Decimal(n), "EUR", booked_at=START + timedelta(hours=n)) for n in range(count)]
    database = Database(fresh.migration_database_url, 1, "test first fetch")
    await database.open()
    async with database.transaction() as connection:
        await connection.execute("set local session_replication_role = replica")
        cursor = await connection.execute(COUNT_STATISTICS)
        assert await cursor.fetchone() == (0,), "nobody has analysed it"
        await insert_transactions(connection, USER, PRODUCT, rows, date(2026, 11, 18))
        await connection.execute(GENERIC)
        await connection.execute(CHECK)
        [plan] = (await (await connection.execute(EXPLAIN)).fetchone())[0]
    await database.close()
    assert find_indexes(plan["Plan"]) == ["transactions_pkey"]


@pytest.mark.parametrize("count", [0, 4500, 20000])
def test_without_statistics_the_primary_key_is_preferred_to_an_index_of_equal_cost(fresh, count):
    with psycopg.connect(fresh.migration_database_url.reveal()) as connection:
        connection.execute("set local session_replication_role = replica")
        connection.execute(FILL, {"user": USER, "product": PRODUCT, "count": count})
        connection.execute(GENERIC)
        connection.execute(CHECK)
        [plan] = connection.execute(EXPLAIN).fetchone()[0]
        assert connection.execute(COUNT_STATISTICS).fetchone() == (0,)
        connection.rollback()
    assert find_indexes(plan["Plan"]) == ["transactions_pkey"]


def test_an_owner_without_further_rights_can_analyse(fresh):
    with psycopg.connect(fresh.migration_database_url.reveal()) as connection:
        connection.execute("create role modest_owner")
        connection.execute("grant create, usage on schema public to modest_owner")
        connection.execute("alter table transactions owner to modest_owner")
        connection.execute("alter function analyze_new_transactions() owner to modest_owner")
        connection.execute("set local session_replication_role = replica")
        connection.execute(FILL, {"user": USER, "product": PRODUCT, "count": 1000})
        for _ in "ab":
            connection.execute("select analyze_new_transactions()")
            assert connection.execute(COUNT_STATISTICS).fetchone() > (0,)
        connection.rollback()
