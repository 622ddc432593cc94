"""`.ci/run`: check, the fast tier and up to 10 minutes of the long tier, in a fresh clone with an empty home."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEV = """#!/usr/bin/env bash
{
  echo "$* in $PWD"
  echo "$PIP_CONFIG_FILE $NPM_CONFIG_USERCONFIG"
  ls -A "$HOME" | sed 's/^/home holds /'
} >> "$LOG"
if [ "$*" = "$FAIL" ]; then exit 1; fi
echo "done: $*"
"""
LONG = "test --long --long-minutes 20"
COMMANDS = ["check", "test", LONG]


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the script, and a `dev` that writes down where and how it was called."""
    folder = tmp_path / "checkout"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci/run", folder / ".ci/run")
    (folder / "dev").write_text(DEV)
    (folder / "dev").chmod(0o755)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    (tmp_path / "home/.config/pip").mkdir(parents=True)
    (tmp_path / "home/.config/pip/pip.conf").write_text("[global]\n")
    (tmp_path / "home/.npmrc").write_text("fund=false\n")
    (tmp_path / "temporary").mkdir()
    return folder


def run_ci(checkout: Path, **more: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    folder = checkout.parent
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "temporary"),
        "LOG": str(folder / "log"),
        "CI": "true",
        **more,
    }
    result = subprocess.run(
        [checkout / ".ci/run"],
        env=environment, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return result, (folder / "log").read_text().splitlines()


def test_everything_runs_in_a_clone_called_kontor_in_an_odd_place_with_an_empty_home(checkout):
    result, log = run_ci(checkout)
    assert (result.returncode, result.stderr) == (0, "")
    places = {Path(line.split(" in ", 1)[1]) for line in log[::2]}
    [place] = places
    assert place.name == "kontor"
    assert " " in str(place.parent.name)
    assert not str(place.parent.name).isascii()
    assert [line.split(" in ")[0] for line in log[::2]] == COMMANDS
    assert not [line for line in log if line.startswith("home holds")]
    assert result.stdout.splitlines()[-2:] == ["done: test", f"done: {LONG}"]


def test_where_packages_come_from_is_still_known(checkout):
    _, log = run_ci(checkout)
    home = checkout.parent / "home"
    assert set(log[1::2]) == {f"{home}/.config/pip/pip.conf {home}/.npmrc"}


def test_only_what_is_committed_is_tested_and_the_clone_goes_afterwards(checkout):
    (checkout / "dev").write_text("#!/bin/sh\nexit 3\n")
    result, log = run_ci(checkout)
    assert result.returncode == 0
    assert result.stderr == "Changes that are not committed are not tested.\n"
    assert len(log) == 2 * len(COMMANDS)
    assert list((checkout.parent / "temporary").iterdir()) == []


@pytest.mark.parametrize("failing", COMMANDS)
def test_the_first_failure_ends_the_run_without_a_rerun_and_leaves_nothing_behind(checkout, failing):
    result, log = run_ci(checkout, FAIL=failing)
    assert result.returncode == 1
    assert [line.split(" in ")[0] for line in log[::2]] == COMMANDS[: COMMANDS.index(failing) + 1]
    assert list((checkout.parent / "temporary").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_checkout_that_belongs_to_somebody_else_is_tested_too(checkout):
    """As in a container with a folder of its host."""
    for path in (checkout, *checkout.rglob("*")):
        os.chown(path, 12345, 12345)
    result, log = run_ci(checkout)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(log) == 2 * len(COMMANDS)
