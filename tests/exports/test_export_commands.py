"""`kontor export` and `kontor user erase` as an operator runs them."""

import json
import os
import stat
import subprocess
import sys

import pytest

from banking import new_customer
from guide_code import Guide
from kontor.config import export_settings
from processes import run_kontor


@pytest.fixture
def kontor(settings):
    """Runs the program; returns what it printed."""

    def run(*arguments, code=0):
        done = run_kontor(settings, *arguments, code=code)
        return done.stdout, done.stderr

    return run


def test_the_command_writes_what_the_interface_sends(kontor, known, shared, tmp_path):
    user = ("--tenant", shared.name, "--user", known.customer.username)
    file = tmp_path / "out.csv"
    kontor("export", *user, "--format", "csv", "--output", file)
    assert file.read_bytes() == known.customer.get("/customer/v2/export", params={"format": "csv"}).content
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    text, _ = kontor("export", *user, "--from", "2026-01-02", "--to", "2026-01-02")
    assert [transaction["amount"] for transaction in json.loads(text)["transactions"]] == [-900]
    assert known.customer.token not in text


def test_a_pipe_that_closes_early_is_no_failure(settings, demo1, shared):
    """The reader takes a few bytes of many and goes."""
    arguments = ["export", "--tenant", shared.name, "--user", demo1[0].username]
    running = subprocess.Popen(
        [sys.executable, "-m", "kontor", *arguments],
        env=os.environ | export_settings(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.read(10)
    running.stdout.close()
    complaint = running.stderr.read()
    running.stderr.close()
    assert running.wait(timeout=120) == 0
    assert complaint == b""


def test_whoever_is_not_there_is_not_exported(kontor, shared):
    _, complaint = kontor("export", "--tenant", shared.name, "--user", "nobody-at-all", code=1)
    assert "has no user nobody-at-all" in complaint


def test_a_user_is_erased_with_its_name_repeated(kontor, bank_server, shared, owner):
    customer = new_customer(shared)
    customer.add_complete("leer+erased")
    _, complaint = kontor("user", "erase", shared.name, customer.username, code=1)
    assert f"--confirm {customer.username}" in complaint
    assert customer.get("/customer/v2").status_code == 200
    kontor("user", "erase", shared.name, customer.username, "--confirm", customer.username)
    assert customer.get("/customer/v2").status_code in (401, 403)
    assert owner.execute("select 1 from users where id = %s", [customer.reference]).fetchone() is None


def test_the_commands_of_the_guide_take_a_users_data_along_and_erase_the_user(
    kontor, bank_server, shared, tmp_path, monkeypatch
):
    customer = new_customer(shared)
    customer.add_complete("leer+guide")
    monkeypatch.chdir(tmp_path)
    names = {"bank": shared.name, "anna": customer.username}
    commands = Guide("guides/exports.md").list_commands()
    assert [words[:2] for words in commands] == [["kontor", "export"], ["kontor", "user"]]
    for words in commands:
        kontor(*(names.get(word, word) for word in words[1:]))
    assert (tmp_path / "anna.csv").read_text(encoding="utf-8-sig").startswith("Zugang;")
    assert customer.get("/customer/v2").status_code in (401, 403)
