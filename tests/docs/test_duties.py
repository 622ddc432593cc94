"""docs/compliance/duties.md: each duty names a feature with a page, tests that exist, and what is left."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/compliance/duties.md").read_text(encoding="utf-8")
HEADING = ["Duty", "Read", "Kontor", "Test", "Remains yours"]


def split_row(line):
    return [cell.strip() for cell in line.strip("|").split(" | ")]


ROWS = [
    split_row(line)
    for table in re.findall(r"^\| Duty \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    for line in table.splitlines()
]


def test_every_row_is_complete():
    assert len(ROWS) >= 20
    assert [row for row in ROWS if len(row) != len(HEADING) or not all(row)] == []
    assert {read for _, read, *_ in ROWS} == {"text", "secondary", "no"}
    assert "no legal advice" in PAGE


def test_every_feature_has_a_page():
    assert [duty for duty, _, feature, *_ in ROWS if not re.search(r"\]\([^)]+\)", feature)] == []


def test_every_test_exists():
    named = [(duty, re.findall(r"`([^`]+)`", tests)) for duty, _, _, tests, _ in ROWS]
    assert [duty for duty, tests in named if not tests] == []
    assert [test for _, tests in named for test in tests if not (ROOT / "tests" / test).is_file()] == []


def test_every_duty_but_those_of_other_rows_cites_an_article():
    """Rows without one say how the duty of their law is proven."""
    without = [duty for duty, *_ in ROWS if not re.search(r"art\.|§|\d+\(\d+\)", duty)]
    assert len(without) <= 6
