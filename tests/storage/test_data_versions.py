"""Every statement that writes what analyses and merges read increments the user's data version, and no trigger does."""

import ast
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from kontor.domain.annotations import Annotation
from kontor.domain.balances import BalanceGap, BalanceSpan, DayTotal
from kontor.domain.contracts import Period
from kontor.domain.merging import StoredTransaction
from kontor.storage import accesses, annotations, contracts, products, tags, transaction_edits, transactions
from kontor.storage.data_versions import increment_version
from kontor.storage.database import Database
from kontor.storage.user_binding import bind_transaction
from processes import beside
from stored_data import GIRO, NOON, ROWS, TAGS, TODAY, TWIN, StoredUser

SOURCES = Path(__file__).parents[2] / "src" / "kontor"
TABLES = ("products", "transactions", "transaction_tags")
PARENTS = ("accesses", "users", "tenants")  # deleted, they take rows of these tables with them
WRITES = re.compile(
    rf"\b(?:insert\s+into|update|delete\s+from|copy|merge\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?"
    rf"(?:(?:{'|'.join(TABLES)})\b|\{{)|\bdelete\s+from\s+(?:only\s+)?(?:{'|'.join(PARENTS)})\b",
    re.IGNORECASE,
)
ALLOWED = {
    "users.delete_user": "the version is deleted with the user",
    "documents._fill_query": "what is shown stays the same, and no analysis reads the objects of lists",
    "data_key_rotation._replace_statement": "it encrypts values anew, and none of these tables has encrypted ones",
}


# What the source says


def text_of(node):
    """The literal text of a string, with `{}` for what is put in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def is_writing(node):
    return any(WRITES.search(text_of(part)) for part in ast.walk(node))


def find_writers(source):
    """Name of each function that writes the tables, also by a constant, and whether it calls `increment_version`.

    A constant that no function of its file uses counts as a function: whoever uses it is not seen.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            node.body[0] = ast.Pass()
    constants = {
        target.id
        for top in tree.body if isinstance(top, ast.Assign) and is_writing(top)
        for target in top.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    functions, used = {}, set()
    for top in tree.body:
        if isinstance(top, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names = {node.id for node in ast.walk(top) if isinstance(node, ast.Name)}
            used |= names
            if is_writing(top) or names & constants:
                functions[top.name] = "increment_version" in names
    return functions | dict.fromkeys(constants - used, False)


@cache
def find_all_writers():
    """In storage: that there is no SQL elsewhere is checked by tests/test_rules.py."""
    return {
        f"{file.stem}.{name}": increments
        for file in sorted((SOURCES / "storage").rglob("*.py"))
        for name, increments in find_writers(file.read_text(encoding="utf-8")).items()
    }


def test_every_function_that_writes_these_tables_increments_the_version():
    silent = {name for name, increments in find_all_writers().items() if not increments}
    assert silent == set(ALLOWED)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("async def f(c):\n    await c.execute('update products set a = 1')", {"f": False}),
        ("async def f(c):\n    await c.execute('delete from  only transactions')", {"f": False}),
        ("async def f(c):\n    await c.execute('delete from accesses where id = %s')", {"f": False}),
        ("SQL = 'copy transaction_tags from stdin'\nasync def f(c):\n    await c.copy(SQL)", {"f": False}),
        ("SQL = 'update products'\ndef f(c):\n    c(SQL)\ndef g(c):\n    c(SQL)", {"f": False, "g": False}),
        ("SQL = 'insert into products'\n", {"SQL": False}),
        ("SQL = f'insert into {table}'\n", {"SQL": False}),
        ("async def f(c):\n    await c.execute('update products')\n    await increment_version(c, u)", {"f": True}),
        ("async def f(c):\n    await c.execute('update accesses set a = 1')", {}),
        ("async def f(c):\n    'Writes: update products.'\n    await c.execute('select 1 from products')", {}),
    ],
)
def test_the_rule_sees_what_writes(source, found):
    assert find_writers(source) == found


def test_nothing_is_rolled_back_but_whole_transactions():
    """A savepoint would undo an increment that the transaction remembers as done."""
    texts = {file.name: file.read_text(encoding="utf-8") for file in SOURCES.rglob("*.py")}
    users = {name for name, text in texts.items() if re.search(r"\.transaction\(force|connection\.transaction\(", text)}
    assert users == {"database.py", "migrate.py"}
    assert not [name for name, text in texts.items() if re.search(r"\bsavepoint\b", text, re.IGNORECASE)]


# What the functions do


@pytest.fixture(scope="module")
def own(settings):
    with beside(settings) as own:
        yield own


@pytest.fixture(scope="module")
def own_owner(own):
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
async def database(own):
    database = Database(own.database_url, 2, "test versions")
    await database.open()
    yield database
    await database.close()


@pytest.fixture
async def user(database, own_owner):
    tenant_id, key_id, user_id = uuid4(), uuid4(), uuid4()
    own_owner.execute(
        "insert into tenants (id, name, is_regulated, allowed_scopes) values (%s, %s, true, '{}')",
        [tenant_id, str(tenant_id)],
    )
    own_owner.execute(
        "insert into tenant_keys (id, tenant_id, kind, sealed) values (%s, %s, 'wrapping', '')", [key_id, tenant_id]
    )
    own_owner.execute(
        "insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
        " values (%s, %s, 'anna', '', %s, '', %s)",
        [user_id, tenant_id, uuid4(), key_id],
    )
    user = StoredUser(database, user_id)
    await user.store()
    return user


@dataclass(frozen=True)
class Case:
    """A call of a storage function. `prepare` is what was there before it."""

    function: str
    name: str
    call: object
    prepare: object = None

    def __str__(self):
        return f"{self.function}: {self.name}"


def look(giro, twin):
    return lambda connection, user: user.set_looks(connection, giro, twin)


def see(product, *, is_complete=True):
    def call(connection, user):
        ids = [getattr(user, product)]
        return products.set_products_seen(connection, user.user_id, ids if is_complete else [], ids)

    return call


def upsert(product):
    return lambda connection, user: products.upsert_product(connection, user.user_id, user.giro, "a", 0, product)


def keep(*names):
    return lambda connection, user: products.delete_other_products(
        connection, user.user_id, "a", [getattr(user, name) for name in names]
    )


def set_gap(gap):
    return lambda connection, user: products.set_gap(connection, user.user_id, user.giro, gap)


def set_balance(**facts):
    product = replace(GIRO, **facts)
    return lambda connection, user: products.set_newer_balance(connection, user.user_id, user.giro, product)


def of_rows(function, *values):
    """A function of transactions or tags that takes ids: those of the user's first row, or of a row that is none."""
    return lambda connection, user: function(connection, user.user_id, user.giro, *(value(user) for value in values))


def update_row(make_id):
    return lambda user: [StoredTransaction(make_id(user), replace(ROWS[0], purpose="Neu"))]


def annotate(make_id, annotation):
    return lambda connection, user: annotations.annotate(
        connection, user.user_id, [(user.giro, make_id(user))], annotation
    )


def edit(make_id):
    """An edit of one row, for `undo_edit`."""

    async def call(connection, user):
        rows, annotation = [(user.giro, make_id(user))], Annotation("Notiz")
        await transaction_edits.insert_edit(connection, user.user_id, user.giro, None, annotation, rows, 0)
        await annotations.annotate(connection, user.user_id, rows, annotation)

    return call


async def undo_edit(connection, user):
    stored = await transaction_edits.find_edit(connection, user.user_id, user.giro)
    await transaction_edits.undo_edit(connection, user.user_id, stored, "1")


def forget_transfers(*holders):
    return lambda connection, user: tags.forget_own_transfers(connection, user.user_id, [], holders)


def delete_access(access_id):
    return lambda connection, user: accesses.delete_access(connection, user.user_id, access_id)


def first(user):
    return user.rows[0].id


def stranger(_):
    return uuid4()


def ids_of(make_id):
    return lambda user: [make_id(user)]


def always(value):
    return lambda _: value


def tag(function, number, **facts):
    """Tags for one of the user's rows; for none where there is no number."""

    def call(connection, user):
        tagged = [] if number is None else [(user.rows[number], replace(TAGS, **facts))]
        return function(connection, user.user_id, "2", tagged)

    return call


def set_periods(*names):
    """Of the user's first rows."""

    def call(connection, user):
        periods = [Period(str(row.id), name, 0.9) for row, name in zip(user.rows, names, strict=False)]
        return contracts.set_periods(connection, user.user_id, periods)

    return call


SPAN = BalanceSpan(Decimal(1), Decimal(2), "EUR", DayTotal(TODAY, 0, Decimal(0)), DayTotal(TODAY, 0, Decimal(0)))
GAP = BalanceGap(SPAN, Decimal("1.00"))
EARLIER, LATER = NOON.replace(day=1), NOON.replace(day=3)
YESTERDAY = "now() - interval '1 day'"
MIDNIGHT = "date_trunc('day', now() at time zone 'Europe/Berlin') at time zone 'Europe/Berlin'"
INCREMENTING = [
    Case("products.upsert_product", "another name", upsert(replace(GIRO, name="Neu"))),
    Case("products.upsert_product", "another balance", upsert(replace(GIRO, balance=Decimal(7)))),
    Case("products.upsert_product", "a new product", upsert(GIRO), keep("savings")),
    Case("products.set_products_seen", "on another day", see("savings"), look(YESTERDAY, YESTERDAY)),
    Case("products.set_products_seen", "after midnight in Berlin", see("savings"), look(
        f"{MIDNIGHT} - interval '1 s'", YESTERDAY)),
    Case("products.set_products_seen", "the freshest of its account", see("giro"), look("now()", "now()")),
    Case("products.set_products_seen", "fresher than one without IBAN", see("giro"), look("now()", "now() + '1 min'")),
    Case("products.set_products_seen", "complete", see("savings"), lambda connection, user: connection.execute(
        "update products set status = 'HEADERS', updated_at = now() where user_id = %s", [user.user_id])),
    Case("products.set_gap", "a gap", set_gap(GAP)),
    Case("products.set_gap", "no gap any more", set_gap(None), set_gap(GAP)),
    Case("products.set_newer_balance", "a later one", set_balance(balance=Decimal(7), balance_at=LATER)),
    Case("products.delete_other_products", "one goes", keep("giro")),
    Case("transactions.insert_transactions", "a row", of_rows(
        transactions.insert_transactions, always([ROWS[0]]), always(TODAY))),
    Case("transactions.update_transactions", "a row", of_rows(
        transactions.update_transactions, update_row(first), always(TODAY))),
    Case("transactions.delete_transactions", "a row", of_rows(transactions.delete_transactions, ids_of(first))),
    Case("annotations.annotate", "a note", annotate(first, Annotation("Notiz"))),
    Case("annotations.annotate", "keywords", annotate(first, Annotation(keywords=("Urlaub",)))),
    Case("transaction_edits.undo_edit", "of a row", undo_edit, edit(first)),
    Case("tags.insert_tags", "a row", tag(tags.insert_tags, 2)),
    Case("tags.update_tags", "a row", tag(tags.update_tags, 0, category="HOUSING_RENT")),
    Case("tags.forget_tags", "a row", of_rows(tags.forget_tags, ids_of(first))),
    Case("tags.forget_own_transfers", "a row", forget_transfers("ARAL AG")),
    Case("accesses.delete_access", "with products", delete_access("b")),
    Case("contracts.set_periods", "a row", set_periods("MONTH_ONE")),
    Case("contracts.set_periods", "another one", set_periods("YEAR_ONE"), set_periods("MONTH_ONE")),
    Case("contracts.set_periods", "none any more", set_periods(), set_periods("MONTH_ONE")),
]  # fmt: skip
SILENT = [
    Case("products.upsert_product", "as it is stored", upsert(GIRO)),
    Case("products.set_products_seen", "again on the same day", see("savings"), look(MIDNIGHT, "now()")),
    Case("products.set_products_seen", "the freshest before", see("twin"), look(YESTERDAY, "now()")),
    Case("products.set_products_seen", "partly", see("savings", is_complete=False), look("now()", YESTERDAY)),
    Case("products.set_gap", "none as before", set_gap(None)),
    Case("products.set_gap", "the same", set_gap(GAP), set_gap(GAP)),
    Case("products.set_newer_balance", "an earlier one", set_balance(balance=Decimal(7), balance_at=EARLIER)),
    Case("products.set_newer_balance", "the same", set_balance()),
    Case("products.delete_other_products", "all are kept", keep("giro", "savings")),
    Case("transactions.insert_transactions", "none", of_rows(
        transactions.insert_transactions, always([]), always(TODAY))),
    Case("transactions.update_transactions", "none", of_rows(
        transactions.update_transactions, always([]), always(TODAY))),
    Case("transactions.update_transactions", "an unknown row", of_rows(
        transactions.update_transactions, update_row(stranger), always(TODAY))),
    Case("transactions.delete_transactions", "an unknown row", of_rows(
        transactions.delete_transactions, ids_of(stranger))),
    Case("annotations.annotate", "an unknown row", annotate(stranger, Annotation("Notiz"))),
    Case("transaction_edits.undo_edit", "of no row", undo_edit, edit(stranger)),
    Case("tags.insert_tags", "none", tag(tags.insert_tags, None)),
    Case("tags.update_tags", "none", tag(tags.update_tags, None)),
    Case("tags.update_tags", "a row without tags", tag(tags.update_tags, 2)),
    Case("tags.forget_tags", "an unknown row", of_rows(tags.forget_tags, ids_of(stranger))),
    Case("tags.forget_own_transfers", "nobody's", forget_transfers("Niemand")),
    Case("accesses.delete_access", "without products", delete_access("empty")),
    Case("contracts.set_periods", "none", set_periods()),
    Case("contracts.set_periods", "the same", set_periods("MONTH_ONE"), set_periods("MONTH_ONE")),
    Case("accesses.delete_access", "an unknown access", delete_access("unknown")),
]  # fmt: skip


def test_every_function_that_writes_these_tables_has_cases_of_both_kinds():
    writers = set(find_all_writers()) - set(ALLOWED)
    assert {case.function for case in INCREMENTING} == writers
    assert {case.function for case in SILENT} == writers


def test_no_trigger_is_left_and_no_table_takes_rows_along_unseen(own_owner):
    rows = own_owner.execute(
        "select tgrelid::regclass::text from pg_trigger where not tgisinternal and tgrelid::regclass::text = any(%s)",
        [list(TABLES)],
    ).fetchall()
    assert rows == []
    parents = own_owner.execute(
        "with recursive parents as (select oid from pg_class where oid::regclass::text = any(%s)"
        " union select confrelid from pg_constraint c join parents p on c.conrelid = p.oid"
        " where c.contype = 'f' and c.confdeltype = 'c')"
        " select array_agg(oid::regclass::text) from parents",
        [list(TABLES)],
    ).fetchone()[0]
    assert set(parents) == {*TABLES, *PARENTS}


async def run(case, user):
    """The version before and after, in one transaction: `prepare` must not be what increments it."""
    async with user.database.transaction(user.user_id) as connection:
        if case.prepare is not None:
            await case.prepare(connection, user)
    before = await user.version()
    async with user.database.transaction(user.user_id) as connection:
        if case.function == "products.set_products_seen":  # `now()` is the same in `prepare` and in the call
            await case.prepare(connection, user)
        await case.call(connection, user)
    return before, await user.version()


@pytest.mark.parametrize("case", INCREMENTING, ids=str)
async def test_a_change_increments_the_version_by_one(user, case):
    before, after = await run(case, user)
    assert after == before + 1


@pytest.mark.parametrize("case", SILENT, ids=str)
async def test_without_a_change_the_version_stays(user, case):
    before, after = await run(case, user)
    assert after == before


async def test_a_transaction_increments_the_version_once(user):
    before = await user.version()
    async with user.database.transaction(user.user_id) as connection:
        for case in INCREMENTING:
            if case.prepare is None:
                await case.call(connection, user)
    assert await user.version() == before + 1


async def test_what_is_rolled_back_is_incremented_again_by_the_next_transaction(user):
    before = await user.version()
    with suppress(ZeroDivisionError):
        async with user.database.transaction(user.user_id) as connection:
            await upsert(replace(GIRO, name="Neu"))(connection, user)
            raise ZeroDivisionError
    assert await user.version() == before
    async with user.database.transaction(user.user_id) as connection:
        await upsert(replace(GIRO, name="Neu"))(connection, user)
    assert await user.version() == before + 1


async def test_the_versions_of_two_users_in_one_transaction_are_both_incremented(user, own_owner):
    """As housekeeping deletes accesses of several users."""
    other = StoredUser(user.database, uuid4())
    own_owner.execute(
        "insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
        " select %s, tenant_id, 'bert', '', %s, '', wrapping_key_id from users where id = %s",
        [other.user_id, uuid4(), user.user_id],
    )
    await other.store()
    before = [await user.version(), await other.version()]
    async with user.database.transaction() as connection:
        for who in sorted((user, other), key=lambda stored: str(stored.user_id)):
            await bind_transaction(connection, who.user_id)
            await delete_access("b")(connection, who)
    assert [await user.version(), await other.version()] == [version + 1 for version in before]


async def test_rows_and_version_cannot_be_written_in_two_transactions(user):
    async with user.database.connect(user.user_id) as connection:
        with pytest.raises(AssertionError, match="one transaction"):
            await increment_version(connection, user.user_id)
        with pytest.raises(AssertionError, match="one transaction"):
            await products.upsert_product(connection, user.user_id, user.twin, "b", 0, replace(TWIN, name="Neu"))
