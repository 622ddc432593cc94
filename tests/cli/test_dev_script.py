"""`./dev`: one entry for a developer. Installs once per content of the lock file, and never half."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = """#!/bin/sh
echo "uv $*" >> "$LOG"
[ -n "$FAIL" ] && exit 1
venv="$PWD/.venv"
mkdir -p "$venv/bin"
for name in python kontor; do printf '#!/bin/sh\\necho "$0 $*"\\n' > "$venv/bin/$name"; chmod +x "$venv/bin/$name"; done
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the script beside lock files of its own, and a `uv` that only writes down what it was asked."""
    shutil.copy(ROOT / "dev", tmp_path / "dev")
    (tmp_path / "requirements").mkdir()
    for group in ("run", "dev"):
        (tmp_path / f"requirements/{group}.lock").write_text("a==1\n")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/uv").write_text(UV)
    (tmp_path / "tools/uv").chmod(0o755)
    return tmp_path


def dev(project: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    path = f"{project / 'tools'}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(project), "LOG": str(project / "log"), **more}
    return subprocess.run(
        [str(project / "dev"), *arguments], env=environment, capture_output=True, text=True, check=False, cwd="/"
    )


def count_installs(project: Path) -> int:
    log = project / "log"
    return log.read_text().count("-r ") if log.exists() else 0


def test_help_names_every_command_and_a_wrong_one_is_refused():
    for arguments, code in (((), 0), (("help",), 0), (("nonsense",), 2)):
        result = subprocess.run([str(ROOT / "dev"), *arguments], capture_output=True, text=True, check=False, cwd="/")
        assert result.returncode == code
        for command in ("demo", "test", "check", "format", "bench", "evaluate", "kontor", "lock"):
            assert f"./dev {command}" in result.stdout


def test_the_second_call_installs_nothing_and_a_new_lock_does(project):
    first = dev(project, "kontor", "tenant", "list")
    assert first.stdout.endswith(".venv/bin/kontor tenant list\n")
    assert "Installing packages (run)" in first.stderr
    assert count_installs(project) == 1
    second = dev(project, "kontor", "--help")
    assert second.stderr == ""
    assert count_installs(project) == 1
    (project / "requirements/run.lock").write_text("a==2\n")
    dev(project, "demo")
    assert count_installs(project) == 2


def test_packages_are_installed_by_hash(project):
    dev(project, "demo")
    [line] = [line for line in (project / "log").read_text().splitlines() if "-r " in line]
    assert "--require-hashes" in line


def test_an_installation_that_fails_is_tried_again(project):
    assert dev(project, "demo", FAIL="yes").returncode != 0
    assert dev(project, "demo").returncode == 0
    assert count_installs(project) == 1
