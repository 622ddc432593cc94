"""The long tier goes on where it was, counts over all its runs, and names what it left out."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

PLUGIN = Path(__file__).parents[1] / "long_tier.py"
CONFTEST = """
from long_tier import LongTier, add_options

def pytest_addoption(parser):
    add_options(parser)

def pytest_configure(config):
    config.addinivalue_line("markers", "long: long")
    config.addinivalue_line("markers", "programs: programs")
    if config.getoption("--long-tier"):
        config.pluginmanager.register(LongTier(config), "long tier")
"""
TESTS = """
import os
import pytest

@pytest.mark.long
@pytest.mark.parametrize("number", range(3))
def test_long(number):
    assert os.environ.get("FAILING") != str(number)

def test_short():
    pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    shutil.copy(PLUGIN, tmp_path / "tests" / "long_tier.py")
    (tmp_path / "tests" / "conftest.py").write_text(CONFTEST)
    for name in ("first", "second"):
        (tmp_path / "tests" / f"test_{name}.py").write_text(TESTS)
    (tmp_path / ".gitignore").write_text("__pycache__\n.pytest_cache\n")
    commit(tmp_path)
    return tmp_path


def commit(project: Path) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        subprocess.run(["git", *identity, *arguments], cwd=project, check=True, capture_output=True)


def run(project: Path, *arguments: str, failing: str = "") -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", ".", "--long-tier", "-m", "long", *arguments, "tests"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        command, cwd=project, env=environment | {"FAILING": failing}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("cores", [(), ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")], ids=["one", "two"])
def test_what_has_passed_is_not_run_again_and_counts_add_up(project, cores):
    code, output = run(project, *cores, failing="1")
    assert code == 1
    assert "2 failed, 4 passed" in output
    assert "4 passed in all runs of this source, 4 of them in this run" in output
    code, output = run(project, *cores)
    assert code == 0, output
    assert re.search(r"^2 passed", output, re.MULTILINE), output
    assert "6 passed in all runs of this source, 2 of them in this run" in output
    code, output = run(project, *cores)
    assert code == 0, output
    assert "6 passed in all runs of this source, 0 of them in this run" in output


def test_a_change_of_the_source_begins_anew(project):
    assert run(project)[0] == 0
    (project / "tests" / "test_second.py").write_text(TESTS + "\n# changed\n")
    _, output = run(project)
    assert "6 passed in all runs of this source, 6 of them in this run" in output


def test_what_there_was_no_time_for_is_named_and_run_the_next_time(project):
    code, output = run(project, "--long-minutes", "0")
    assert code == 0
    assert "6 left out; the next run goes on with them:" in output
    assert "tests/test_first.py::test_long[0]" in output
    _, output = run(project)
    assert "6 passed in all runs of this source, 6 of them in this run" in output
    assert "left out" not in output


def test_programs_come_first_and_are_never_left_out(project):
    marked = TESTS.replace("@pytest.mark.long\n", "@pytest.mark.long\n@pytest.mark.programs\n")
    (project / "tests" / "test_third.py").write_text(marked)
    code, output = run(project, "--long-minutes", "0", "-v")
    assert code == 0, output
    assert "3 passed in all runs of this source, 3 of them in this run" in output
    assert "6 left out; the next run goes on with them:" in output
    ran = [line for line in output.splitlines() if "::test_long" in line and ("PASSED" in line or "SKIPPED" in line)]
    assert all("test_third" in line for line in ran[:3]), ran
