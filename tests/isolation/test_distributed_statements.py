"""Statements keep to what a Citus cluster can do, and each asks one shard (ADR 0062).

They are read from the source of `storage`.
"""

import re

import pytest
from sql_levels import TEXT, find_foreign_qualifiers, find_tables, split_levels
from sql_mutations import STATEMENT, STORAGE, number_placeholders, read_texts

from kontor.domain.searches import CustomerFilters, Filters, Window
from kontor.storage import (
    customer_transactions,
    data_key_rotation,
    deltas,
    documents,
    exports,
    repetitions,
    searches,
    tag_views,
    tagging_rules,
    transactions,
    users,
)
from kontor.storage.distribution import DISTRIBUTED, LOCAL
from kontor.storage.export_sections import SECTIONS
from kontor.wire.transactions import FIELDS

NOT_OF_USERS = {
    "users",
    "tenants",
    "tenant_rules",
    "tenant_categories",
    "tenant_merchants",
    "clients",
    "roles",
    "webhooks",
    "credential_leases",
}
ON_COORDINATOR = {*LOCAL, *NOT_OF_USERS}
# Statements with places for names: functions complete them, and `find_composed` calls these.
TEMPLATES = {
    "backups._count_rows",
    "customer_transactions.page",
    "customer_transactions.sums",
    "data_key_rotation._find_statement",
    "data_key_rotation._replace_statement",
    "deltas.live",
    "deltas.changes",
    "deltas._rows_query",
    "distributing.has_role",
    "documents.fill",
    "exports._section_query",
    "exports._transactions_query",
    "repetitions.flip",
    "searches._search_query",
    "tag_views._view_query",
    "tagging_rules.examples",
    "transactions.page_query",
    "transactions._list_query",
    "users.delete_distributed",
}
CATEGORY = (("category", "category_confidence"),)

NAMES_USER = re.compile(r"\buser_id\s*=\s*\$\d+", re.IGNORECASE)
INSERTS_USER = re.compile(r"insert\s+into\s+(\w+)(?:\s+as\s+\w+)?\s*\([^)]*\buser_id\b", re.IGNORECASE)
UPSERT = re.compile(r"\bdo\s+update\s+set\b(.*)", re.IGNORECASE | re.DOTALL)
CHANGING = re.compile(
    r"\b(now|clock_timestamp|statement_timestamp|gen_random_uuid|random|nextval)\s*\(|\bcurrent_", re.IGNORECASE
)
UPDATED = re.compile(r"\bupdate\s.*?\bset\b(.*?)(?=\bfrom\b|\bwhere\b|\breturning\b|$)", re.IGNORECASE | re.DOTALL)
STABLE = re.compile(
    r"\b(to_jsonb?|row_to_json|jsonb?_build_(?:object|array)|array_to_json|to_char|concat(?:_ws)?|format|date_trunc"
    r"|timezone)\s*\(|\bat\s+time\s+zone\b",
    re.IGNORECASE,
)
SIMPLE_CASE = re.compile(r"\bcase\s+(?!when\b)", re.IGNORECASE)
ROW_TO_JSON = re.compile(r"\b(row_)?to_json\s*\(\s*\w+\s*\)\s*from\s*\(", re.IGNORECASE)


def find_composed():
    """Statements that functions put together."""
    for options in ({"has_times": times, "has_cursor": cursor} for times in (True, False) for cursor in (True, False)):
        yield "transactions.list", transactions._list_query(FIELDS, **options)
        yield "tag_views.view", tag_views._view_query(FIELDS, CATEGORY, **options)
    filters = Filters(categories=("a",), words=("a",), min_amount=1, max_amount=2)
    own = Filters(categories=("own_a",))
    for asked in (filters, own):
        conditions, _ = searches._list_conditions(Window(limit=1), asked)
        yield "searches.search", searches._search_query(FIELDS, CATEGORY, conditions, is_ascending=True)
    customer_filters = CustomerFilters(categories=("a",), words=("a",), keyword="a", is_incoming=True)
    for asked in (customer_filters, CustomerFilters(categories=("own_a",))):
        conditions, _ = customer_transactions._list_conditions(asked, is_paired=True)
        page = (customer_transactions.BEFORE, *conditions)
        yield "customer.page", customer_transactions._page_query(FIELDS, CATEGORY, page, is_ascending=False)
        yield "customer.sums", customer_transactions._sums_query(conditions)
        yield "customer.selection", customer_transactions._selection_query(conditions)
    for is_paired in (True, False):
        yield "deltas.changes", deltas._changes_query("category_version", of_product=True, is_paired=is_paired)
    yield "deltas.rows", deltas._rows_query(FIELDS, CATEGORY)
    for section in SECTIONS:
        yield f"exports.{section.name}", exports._section_query(section)
    yield "exports.transactions", exports._transactions_query()
    yield "tagging_rules.examples", tagging_rules._examples_query(FIELDS)
    yield "documents.fill", documents._fill_query(FIELDS)
    yield "repetitions.flip", repetitions.FLIP.format(most=repetitions.MAX_FLIPS)
    for column in data_key_rotation.SEALED_COLUMNS:
        yield "data_key_rotation.find", data_key_rotation._find_statement(column).as_string()
        yield "data_key_rotation.replace", data_key_rotation._replace_statement(column).as_string()
    for statement in users.DELETE_DISTRIBUTED:
        yield "users.delete", statement.as_string()


def find_all():
    for where, text in find_texts():
        if not is_template(text):
            yield where, text
    yield from find_composed()


def find_texts():
    for file in sorted(STORAGE.glob("*.py")):
        for where, text in read_texts(file):
            if STATEMENT.match(text):
                yield where, text


def is_template(text):
    return "{" in TEXT.sub("", text)


def find_faults(text):
    levels = list(split_levels(text))
    tables = [find_tables(level) for level in levels]
    if not any(found & {*DISTRIBUTED} for found in tables):
        return []
    faults = [fault for level in levels for fault in find_level_faults(level, levels)]
    upsert = UPSERT.search(text)
    if upsert and CHANGING.search(upsert[1]):
        faults.append("`do update set` calls a function that is not immutable: take the value from `excluded`")
    if upsert and "$" in upsert[1] and re.search(r"\)\s*select\b", text[: upsert.start()], re.IGNORECASE):
        faults.append("`do update set` after `insert … select` has a parameter: workers do not get it, write a literal")
    if any(STABLE.search(assigned) for level in levels for assigned in UPDATED.findall(level)):
        faults.append("`update … set` calls a stable function of columns: make the value in a subselect")
    if SIMPLE_CASE.search(text):
        faults.append("`case x when` with parameters reaches workers wrongly: write `case when x =`")
    if ROW_TO_JSON.search(text):
        faults.append("`to_json` of a subselect is refused: write `json_build_object`")
    return faults


def find_level_faults(level, levels):
    found = find_tables(level)
    insert = INSERTS_USER.search(level)
    target = {insert[1]} if insert else set()
    read = (found - target) & {*DISTRIBUTED}
    if read and not NAMES_USER.search(level):
        yield f"{sorted(read)} without `user_id = $n` in the same select: all shards are asked"
    if (found - target) & {*DISTRIBUTED} and found & ON_COORDINATOR:
        yield f"{sorted(found)} are on different nodes: put the local one into a subselect of its own"
    if found & ON_COORDINATOR and not found & {*DISTRIBUTED} and len(levels) > 1 and level is not levels[0]:
        taken = find_foreign_qualifiers(level)
        if taken:
            yield f"{sorted(found)}, on the coordinator, are compared with {sorted(taken)} around the subselect"


def test_every_statement_is_one_that_a_cluster_answers_from_one_shard():
    faults = {(where, fault) for where, text in find_all() for fault in find_faults(number_placeholders(text))}
    assert faults == set()


def test_every_template_is_read_as_its_function_completes_it():
    completed = {where.lower() for where, text in find_texts() if is_template(text)}
    assert completed == TEMPLATES


def test_the_rules_see_the_statements():
    texts = dict.fromkeys(text for _, text in find_all())
    touching = [text for text in texts if any(find_tables(level) & {*DISTRIBUTED} for level in split_levels(text))]
    assert len(touching) > 100


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("select 1 from products where id = $1", "all shards"),
        ("select 1 from products p where p.user_id = $1 and exists (select 1 from transactions t where"
         " t.user_id = p.user_id)", "all shards"),
        ("select 1 from products p where user_id = $1 and exists (select 1 from accesses a where a.id = p.access_id)",
         "around the subselect"),
        ("select 1 from products p join accesses a on a.id = p.access_id where p.user_id = $1", "different nodes"),
        ("insert into products (user_id, id) values ($1, $2) on conflict (user_id, id) do update set"
         " updated_at = now()", "immutable"),
        ("update products set status = case $2 when 'A' then 'B' end where user_id = $1", "case"),
        ("select (select to_json(shown) from (select p.id) shown) from products p where p.user_id = $1", "to_json"),
        ("insert into products as p (user_id, id) select $1, id from unnest($2::uuid[]) as given (id)"
         " on conflict (user_id, id) do update set balance = p.balance + $3", "parameter"),
        ("update products set name = to_char(updated_at, 'YYYY') where user_id = $1", "stable"),
        ("with gone as (delete from products where user_id = $1 returning id) delete from transactions t using gone"
         " where t.product_id = gone.id", "all shards"),
        ("select 1 from contracts where user_id = $1 union all select 1 from transactions where id = $2", "all shards"),
    ],
)  # fmt: skip
def test_the_rules_find_what_they_should(text, word):
    assert [fault for fault in find_faults(text) if word in fault]


@pytest.mark.parametrize(
    "text",
    [
        "select 1 from accesses where id = $1",
        "select p.id from products p, transactions t where p.user_id = $1 and t.user_id = p.user_id",
        "select 1 from products where user_id = $1 and access_id in (select a.id from accesses a where a.user_id = $1)",
        "insert into analysis_results (user_id, made_at) select $1, now() from users where id = $1"
        " on conflict (user_id) do update set made_at = excluded.made_at",
        "select count(*) from (select id from products where user_id = $1) counted",
    ],
)
def test_the_rules_let_pass_what_they_should(text):
    assert find_faults(text) == []
