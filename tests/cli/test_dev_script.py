"""`./dev`: one entry for a developer. Installs once per content of the lock file, and never half."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = """#!/bin/sh
echo "uv ${UV_DEFAULT_INDEX:+$UV_DEFAULT_INDEX }$*" >> "$LOG"
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
    for group in ("run", "dev", "uv"):
        (tmp_path / f"requirements/{group}.lock").write_text("a==1\n")
    (tmp_path / "client").mkdir()
    for folder in (tmp_path, tmp_path / "client"):
        (folder / "pyproject.toml").write_text("")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/uv").write_text(UV)
    (tmp_path / "tools/uv").chmod(0o755)
    return tmp_path


# Python of a machine without uv: its virtual environments have a pip, which can install uv unless told otherwise.
PYTHON = """#!/bin/sh
echo "python $*" >> "$LOG"
bin="$PWD/.venv/bin"
case "$*" in
  "-m venv"*) mkdir -p "$bin"; cp "$0" "$bin/python"; printf '#!/bin/sh\\n' > "$bin/kontor"; chmod +x "$bin/kontor" ;;
  *"pip config"*) echo "$INDEX" ;;
  *requirements/uv.lock) [ -z "$NO_UV" ] || exit 1; cp "$PWD/tools/uv.later" "$bin/uv" ;;
esac
"""


@pytest.fixture
def without_uv(project: Path) -> Path:
    """The same on a machine that has no uv: nothing but the programs that the script calls."""
    tools = project / "tools"
    (tools / "uv").rename(tools / "uv.later")
    (tools / "python3").write_text(PYTHON)
    (tools / "python3").chmod(0o755)
    for name in ("bash", "sh", "cat", "cmp", "cp", "dirname", "mkdir", "chmod", "env"):
        (tools / name).symlink_to(shutil.which(name) or name)
    return project


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


def test_a_machine_without_uv_gets_it_by_hash_and_it_asks_the_index_of_pip(without_uv):
    result = dev(without_uv, "kontor", PATH=str(without_uv / "tools"), INDEX="https://packages.example/simple")
    assert result.returncode == 0, result.stderr
    calls = (without_uv / "log").read_text().splitlines()
    assert [call for call in calls if "uv.lock" in call and "--require-hashes" in call]
    [line] = [call for call in calls if call.startswith("uv ") and "run.lock" in call]
    lock = without_uv / "requirements/run.lock"
    assert line == f"uv https://packages.example/simple pip install --quiet --require-hashes -r {lock}"
    assert not [call for call in calls if call.startswith("python ") and "run.lock" in call]


@pytest.mark.parametrize("failing", [{"NO_UV": "yes"}, {"FAIL": "yes"}], ids=["cannot be had", "fails"])
def test_where_uv_cannot_install_pip_does_by_hash(without_uv, failing):
    result = dev(without_uv, "kontor", PATH=str(without_uv / "tools"), **failing)
    assert result.returncode == 0, result.stderr
    [line] = [
        call
        for call in (without_uv / "log").read_text().splitlines()
        if call.startswith("python ") and "run.lock" in call
    ]
    assert "--require-hashes" in line
