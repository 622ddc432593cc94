"""The package as another project installs it: without extras, beside data frames of pandas, polars and Arrow."""

import subprocess
import sys
from pathlib import Path

import pytest

from guide_code import Guide

pytestmark = [pytest.mark.peers, pytest.mark.timeout(1200)]  # it downloads the data frames

ROOT = Path(__file__).parents[2]
FRAMES = ("pandas==3.1.1", "polars==2.1.0", "pyarrow==26.0.1")
SECONDS = 900
PROGRAM = """
import sys
from datetime import date
import pandas, polars, pyarrow
from kontor.analysis import RowError, analyse, find_contracts, tag

columns = {"date": "Tag", "amount": "Betrag"}
frame = pandas.DataFrame({
    "Tag": pandas.to_datetime([f"2026-{month:02}-02" for month in range(1, 11)]),
    "Betrag": [-840.0] * 10,
    "purpose": ["Miete"] * 9 + [None],
    "counterparty_name": ["Wohnbau Musterstadt eG"] * 10,
}, index=range(100, 110))
arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
for table in (frame, polars.from_pandas(frame), arrow):
    tagged = tag(table, columns=columns)
    assert type(tagged) is type(table), type(tagged)
    names = table.schema.names if table is arrow else table.columns
    assert list(names) == [*columns.values(), "purpose", "counterparty_name"]
    categories = tagged["category"]
    assert set(categories.to_pylist() if table is arrow else categories) == {"HOUSING_RENT"}, categories
    assert str(tagged["category_confidence"].dtype if table is not arrow else "float64").lower() == "float64"
    contracts = find_contracts(table, columns=columns, today=date(2026, 11, 1))
    assert [contract.period for contract in contracts] == ["MONTH_ONE"], contracts
    assert analyse(table, columns=columns, today=date(2026, 11, 1)).contracts == contracts
assert list(tag(frame, columns=columns).index) == list(range(100, 110))
assert len(tag(frame.head(0), columns=columns)) == 0
frame.loc[101, "Tag"] = pandas.NaT
try:
    tag(frame, columns=columns)
except RowError as error:
    assert str(error) == "row 1: date: NaT is no date", error
else:
    raise AssertionError
"""


def run(*command: object) -> subprocess.CompletedProcess[str]:
    parts = [str(part) for part in command]
    return subprocess.run(parts, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory) -> Path:
    """A Python that has the package with its own dependencies and the data frames, and nothing of the server."""
    folder = tmp_path_factory.mktemp("library")
    assert run(sys.executable, "-m", "venv", folder / "venv").returncode == 0
    python = folder / "venv/bin/python"
    install(python, 0)
    installed = run(python, "-m", "pip", "install", "-q", *FRAMES)
    assert installed.returncode == 0, installed.stderr
    return python


def install(python: Path, number: int) -> None:
    """By that line of the guide."""
    line = Guide("guides/library.md").list_commands()[number]
    assert line[:4] == ["python3", "-m", "pip", "install"]
    done = run(python, *(word.replace("$REPOSITORY", str(ROOT)) for word in line[1:]))
    assert done.returncode == 0, done.stderr


def test_data_frames_are_tagged_by_the_package_without_extras(bare_python):
    done = run(bare_python, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr


def test_a_command_says_which_extra_it_needs(bare_python):
    done = run(bare_python.parent / "kontor", "analyse", "file.csv")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Install kontor[server], or kontor[files] for `kontor analyse` alone." in done.stderr
    assert "Traceback" not in done.stderr


def test_each_extra_of_the_guide_adds_what_it_says(bare_python):
    """The last test of this file: it installs into the same place."""
    for number, command in ((1, "analyse"), (2, "serve")):
        install(bare_python, number)
        done = run(bare_python.parent / "kontor", command, "--help")
        assert done.returncode == 0, done.stderr
        assert "Install kontor[" not in done.stdout + done.stderr
