"""Entries that a bank sends twice in one camt report."""

from decimal import Decimal

import pytest

from kontor.connectors.statements import read_camt_pages
from kontor.demobank.statements import write_camt052
from statement_files import DAY, find_account, take

OPENING = Decimal("100.00")


@pytest.fixture(scope="module")
def account():
    product, rows = find_account()
    return product, take(rows, DAY.replace(day=1), DAY)


def read(product, rows, closing=None):
    (report,) = read_camt_pages([write_camt052(product, rows, OPENING, day=DAY, closing=closing)])
    return report.entries


def test_a_repeated_entry_is_dropped_where_the_balances_prove_it(account):
    product, rows = account
    closing = OPENING + sum(row.amount for row in rows)
    right = read(product, rows)
    assert read(product, [*rows, rows[2]], closing) == right
    assert read(product, [rows[2], *rows, rows[2]], closing)[1:] == (*right[:2], *right[3:])


def test_equal_entries_stay_where_the_balances_count_both(account):
    product, rows = account
    assert len(read(product, [*rows, rows[2]])) == len(rows) + 1


def test_equal_entries_stay_where_nothing_proves_that_one_was_sent_twice(account):
    product, rows = account
    assert len(read(product, [*rows, rows[2]], Decimal("7.77"))) == len(rows) + 1
