"""Every command of docs/compliance/dora.md works as it stands there."""

import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from operating import BANK

from guide_code import Guide

OUTAGE = datetime(2026, 11, 16, 6, 55, tzinfo=UTC)
ROOT = Path(__file__).parents[2]
GUIDE = Guide("compliance/dora.md")


def list_commands():
    return [shlex.split(line, comments=True) for block in GUIDE.list_blocks("sh") for line in block.splitlines()]


@pytest.fixture
def demo(operator, monkeypatch):
    """The installation of the guide: Vault elsewhere, and a demo bank that did not answer one of two customers."""
    monkeypatch.setenv("KONTOR_VAULT_ADDRESS", "https://vault.example.com:8200")
    operator.owner.execute("delete from egress_days")
    operator.owner.execute("truncate incidents, incident_reports restart identity")  # the guide begins with INC-1
    operator.add_fetch(operator.add_access(), "DONE", finished_at=OUTAGE)
    broken = operator.add_access()
    for hours in (0, 6):
        operator.add_fetch(broken, "FAILED", failure="UNREACHABLE", finished_at=OUTAGE + timedelta(hours=hours))
    operator.owner.execute(
        "insert into provider_outcomes (provider_id, at, is_success, seconds)"
        " select %s, %s, is_success, 1 from unnest('{t,f,f}'::bool[]) is_success",
        [BANK, OUTAGE],
    )
    yield operator
    operator.owner.execute("truncate incidents, incident_reports restart identity")


async def test_every_command_of_the_guide_works_and_shows_what_it_says(demo, kontor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outputs = {}
    for program, *arguments in list_commands():
        assert program == "kontor"
        code, out, err = await kontor(*arguments)
        assert (code, bool(out) or "Written to" in err) == (0, True), err
        outputs[" ".join(arguments)] = out
    assert len(outputs) >= 12
    written = {file.name: file.read_text() for file in (tmp_path / "register").iterdir()}
    assert set(re.findall(r"`([a-z_0-9.]+\.(?:csv|json))`", GUIDE.text)) <= set(written)
    shown = GUIDE.list_blocks()
    assert shown[:2] == [written["b_02.01.csv"], written["b_05.02.csv"]]
    told, facts = shown[2:]
    words = [[line.split() for line in text.splitlines()] for text in (told, outputs["dora incident show INC-1"])]
    assert words[0][:-1] == words[1][:-1]  # the last line counts down
    assert [line for line in facts.splitlines() if line not in outputs["dora incident draft INC-1 final"]] == []


def test_the_tests_that_the_guide_names_exist():
    named = re.findall(r"\| `([a-z]+/test_\w+\.py)` \|", GUIDE.text)
    assert len(named) >= 5
    assert [name for name in named if not (ROOT / "tests" / name).exists()] == []
