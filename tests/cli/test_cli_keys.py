"""The master key: its replacement never leaves it in one place only, and its loss is not the end. As documented."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kontor.bootstrap import load_master_key
from kontor.config import export_settings
from kontor.storage.keys import KeyUnusableError
from kontor.storage.master_keys import read_key_file
from process_tree import clean_environment, own_database
from processes import beside, run_kontor

pytestmark = pytest.mark.long

GUIDE = (Path(__file__).parents[2] / "docs/operating/running.md").read_text()

# `kontor` that is killed when it reaches a function, before or after it.
KILLED = """
import os, signal, sys
from kontor.cli import keys
from kontor.cli.commands import run

name, moment, *arguments = sys.argv[1:]
real = getattr(keys, name)

def die(*given, **named):
    if moment == "after":
        real(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(keys, name, die)
run(arguments)
"""


def find_commands(heading: str) -> str:
    """The first block of shell commands after a bold heading of the guide."""
    text = GUIDE[GUIDE.index(f"**{heading}.**") :]
    found = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder to work in, with a safe for keys, and `kontor` among the programs."""
    for name in ("work", "safe", "bin"):
        (tmp_path / name).mkdir()
    program = tmp_path / "bin/kontor"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kontor "$@"\n')
    program.chmod(0o755)
    return tmp_path


@pytest.fixture
def external(settings, place):
    """A database that Kontor takes for an external one: the key comes from a command."""
    run_kontor(settings, "key", "generate", "--out", place / "present.key")
    command = f"cat {shlex.quote(str(place / 'present.key'))}"
    with beside(settings) as own:
        external = replace(own, is_embedded=False, master_key=None, master_key_command=command)
        run_kontor(external, "tenant", "create", "one", "--regulated")
        yield external


def follow(commands: str, settings, place: Path) -> subprocess.CompletedProcess[str]:
    environment = clean_environment(**export_settings(settings))
    environment |= {"SAFE": str(place / "safe"), "PATH": f"{place / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-euc", commands],
        env=environment, cwd=place / "work", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
    )  # fmt: skip


def test_the_documented_replacement_leaves_old_and_new_key_on_the_disk(external, place):
    old = (place / "present.key").read_text()
    done = follow(find_commands("Replace it"), external, place)
    new = (place / "work/new-master.key").read_text()
    assert (place / "safe/new-master.key").read_text() == new
    assert (place / "present.key").read_text() == old
    assert "tenant keys are now wrapped by the new master key." in done.stderr
    assert new not in done.stdout + done.stderr
    refused = run_kontor(external, "tenant", "list", code=1)
    assert "The master key is not the one" in refused.stderr
    (place / "present.key").write_text(new)
    assert "one" in run_kontor(external, "tenant", "list").stdout
    run_kontor(external, "key", "rotate", "one")  # opens and seals


def test_the_documented_way_back_from_a_lost_key_works(external, place):
    (place / "present.key").unlink()
    assert "KONTOR_MASTER_KEY_COMMAND failed" in run_kontor(external, "tenant", "list", code=1).stderr
    follow(find_commands("Lost"), external, place)
    found = replace(external, master_key_command=f"cat {shlex.quote(str(place / 'safe/master.key'))}")
    assert "one" in run_kontor(found, "tenant", "list").stdout
    assert "BEGIN CERTIFICATE" in run_kontor(found, "key", "certificate", "one").stdout


def test_a_key_is_written_for_its_owner_only_and_never_over_another(settings, place):
    file = place / "some.key"
    before = os.umask(0)
    try:
        said = run_kontor(settings, "key", "generate", "--out", file).stderr
    finally:
        os.umask(before)
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    assert text not in said
    assert read_key_file(file).fingerprint in said
    refused = run_kontor(settings, "key", "generate", "--out", file, code=1)
    assert "exists" in refused.stderr
    assert file.read_text() == text
    assert [path.name for path in place.glob("some*")] == ["some.key"]
    file.chmod(0o640)
    assert "can be read by others" in run_kontor(settings, "key", "fingerprint", file, code=1).stderr


def test_the_environment_is_no_place_for_the_new_key(external, place, monkeypatch):
    """It may have been the only one."""
    monkeypatch.setenv("KONTOR_NEW_MASTER_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
    assert "requires an argument" in run_kontor(external, "key", "rewrap", code=2).stderr


@pytest.mark.parametrize(
    ("name", "moment", "is_rewrapped"),
    [("use_services", "before", False), ("use_services", "after", True), ("replace_key_file", "after", True)],
)
def test_a_replacement_that_was_killed_loses_no_key_and_can_be_repeated(tmp_path, name, moment, is_rewrapped):
    with own_database(tmp_path / "data") as (_, running):
        run_kontor(running, "tenant", "create", "one", "--regulated")
        old = (running.data / "master.key").read_text()
        file = tmp_path / "new.key"
        run_kontor(running, "key", "generate", "--out", file)
        command = ["key", "rewrap", str(file), "--confirm", read_key_file(file).fingerprint]
        killed = subprocess.run(
            [sys.executable, "-c", KILLED, name, moment, *command],
            env=clean_environment(**export_settings(running)), capture_output=True, check=False,
        )  # fmt: skip
        assert killed.returncode < 0
        new = file.read_text()
        file.unlink()  # even then
        kept = {path.read_text(): path for path in running.data.glob("master*.key")}
        assert set(kept) == {old, new}
        copy = tmp_path / "copy.key"
        copy.write_text(new)
        copy.chmod(0o600)
        done = run_kontor(running, "key", "rewrap", copy, *command[3:])
        assert ("already" in done.stderr) == is_rewrapped
        assert (running.data / "master.key").read_text() == new
        assert {path.read_text() for path in running.data.glob("master-*.key")} == {old}
        run_kontor(running, "key", "rotate", "one")


def test_a_key_that_fits_neither_way_changes_nothing(external, place):
    run_kontor(external, "key", "generate", "--out", place / "new.key")
    run_kontor(external, "key", "generate", "--out", place / "wrong.key")
    wrong = replace(external, master_key_command=f"cat {shlex.quote(str(place / 'wrong.key'))}")
    fingerprint = read_key_file(place / "new.key").fingerprint
    refused = run_kontor(wrong, "key", "rewrap", place / "new.key", "--confirm", fingerprint, code=1)
    assert "The master key is not the one" in refused.stderr
    run_kontor(external, "key", "rotate", "one")
    with pytest.raises(KeyUnusableError):
        load_master_key(replace(external, master_key_command="false"))
