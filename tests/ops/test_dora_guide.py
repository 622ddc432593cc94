"""Every command of docs/compliance/dora.md works as it stands there."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/compliance/dora.md").read_text(encoding="utf-8")


def list_commands():
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


async def test_every_command_of_the_guide_works(operator, kontor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    operator.owner.execute("truncate incidents, incident_reports restart identity")  # the guide begins with INC-1
    commands = list_commands()
    assert len(commands) >= 12
    shown = ""
    for program, *arguments in commands:
        assert program == "kontor"
        code, out, err = await kontor(*arguments)
        assert (code, bool(out) or "Written to" in err) == (0, True), err
        shown = out if arguments[:3] == ["dora", "incident", "show"] else shown
    written = {file.name for file in (tmp_path / "register").iterdir()}
    assert set(re.findall(r"`([a-z_0-9.]+\.(?:csv|json))`", GUIDE)) <= written
    (told,) = re.findall(r"`show` then says:\n\n```\n(.*?)```", GUIDE, re.DOTALL)
    told_words, shown_words = ([line.split() for line in text.splitlines()] for text in (told, shown))
    assert told_words[:-1] == shown_words[:-1]  # the last line counts down
    operator.owner.execute("truncate incidents, incident_reports restart identity")


def test_the_tests_that_the_guide_names_exist():
    named = re.findall(r"\| `([a-z]+/test_\w+\.py)` \|", GUIDE)
    assert len(named) >= 5
    assert [name for name in named if not (ROOT / "tests" / name).exists()] == []
