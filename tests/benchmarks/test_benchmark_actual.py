"""What both sides of `./dev bench --actual` are given, and how its figures are read."""

import json
from datetime import date

import pytest
from benchmarks.actual.comparing import STEPS, check, make_rows, make_table_rows

from kontor.connectors.statements import read_statements


@pytest.fixture(scope="module")
def rows():
    return make_rows(300)


def test_both_sides_get_the_same_bookings(rows):
    file, objects, count = rows
    parsed = [row for statement in read_statements(file).statements for row in statement.entries]
    given = json.loads(objects)
    assert len(parsed) == len(given) == count
    assert sorted(int(row.amount * 100) for row in parsed) == sorted(row["amount"] for row in given)


def test_actual_gets_days_and_ids_that_tell_bookings_apart(rows):
    given = json.loads(rows[1])
    assert all(date.fromisoformat(row["date"]) for row in given)
    assert len({row["imported_id"] for row in given}) == len(given)


def test_ratios_are_those_of_each_round():
    ours = {step: [1.0, 2.0, 3.0] for step in STEPS}
    theirs = {step: [2.0, 1.0, 3.0] for step in STEPS}
    assert make_table_rows(ours, theirs)[0] == (STEPS["import"], "2.000", "2.000", "1.00 × the time", "0.50 – 2.00")


def test_a_side_that_finds_another_number_of_bookings_gives_no_figure():
    with pytest.raises(RuntimeError, match="9 new bookings instead of 10"):
        check("new bookings", 9, 10)
