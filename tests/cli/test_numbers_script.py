"""Numbers of migrations and decisions: `./dev check` finds twins and gaps."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/check_numbers.py"


@pytest.fixture(scope="module")
def script():
    source = importlib.util.spec_from_file_location("check_numbers", SCRIPT)
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("names", "problems"),
    [
        (["0001_a.sql", "0002_b.sql"], []),
        (["0001_a.sql", "0002_b.sql", "0002_c.sql"], ["0002: 0002_b.sql, 0002_c.sql"]),
        (["0001_a.sql", "0003_b.sql"], ["0002: is missing"]),
        (["0002_a.sql"], ["0001: is missing"]),
        (["0000_a.sql", "0001_b.sql"], ["0000_a.sql: the first number is 0001"]),
        (["0001-a.md", "002-b.md"], ["002-b.md: begins with no number of four digits"]),
        ([], []),
    ],
)
def test_twins_and_gaps_are_found(script, names, problems):
    assert script.find_problems(names) == problems


def test_those_of_this_project_are_checked_and_right(script, tmp_path):
    assert script.check_folders(ROOT) == []
    for folder, ending in script.NUMBERED.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"0002-x{ending}").touch()
    assert len(script.check_folders(tmp_path)) == 2
    (dev_check,) = [part for part in (ROOT / "dev").read_text().split(";;") if "\n  check)" in part]
    assert "scripts/check_numbers.py" in dev_check


def test_the_command_fails_and_names_what_is_wrong(tmp_path):
    copied = tmp_path / "scripts" / "check_numbers.py"
    copied.parent.mkdir()
    copied.write_text(SCRIPT.read_text())
    for folder in ("src/kontor/storage/migrations", "docs/decisions"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("0001_a.sql", "0001_b.sql"):
        (tmp_path / "src/kontor/storage/migrations" / name).touch()
    done = subprocess.run([sys.executable, copied], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "src/kontor/storage/migrations: 0001: 0001_a.sql, 0001_b.sql\n")
