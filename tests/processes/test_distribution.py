"""What docs/operating/scaling.md says about Citus fits the schema: keys and references, as Citus asks for them."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/operating/scaling.md").read_text()
DISTRIBUTED = re.findall(r"create_distributed_table\('(\w+)', 'user_id'", PAGE)
REFERENCE = re.findall(r"create_reference_table\('(\w+)'\)", PAGE)


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


def find_references(owner, table):
    """(referred table, own columns) of each foreign key."""
    return owner.execute(
        "select confrelid::regclass::text, array(select attname::text from pg_attribute"
        " where attrelid = conrelid and attnum = any(conkey)) from pg_constraint"
        " where conrelid = %s::regclass and contype = 'f'",
        [table],
    ).fetchall()


@pytest.mark.parametrize("table", DISTRIBUTED)
def test_a_distributed_table_refers_to_rows_of_the_same_user_or_to_reference_tables(owner, table):
    for referred, columns in find_references(owner, table):
        assert referred in REFERENCE or (referred in DISTRIBUTED and "user_id" in columns)


@pytest.mark.parametrize("table", REFERENCE)
def test_a_reference_table_refers_to_reference_tables_only(owner, table):
    assert {referred for referred, _ in find_references(owner, table)} <= set(REFERENCE)


def test_parents_come_before_their_children():
    order = re.findall(r"create_(?:reference|distributed)_table\('(\w+)'", PAGE)
    assert order == [*REFERENCE, *DISTRIBUTED]
    assert order.index("transactions") < order.index("transaction_tags")
    assert len(set(order)) == len(order) > 8
