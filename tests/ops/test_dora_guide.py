"""Every command of docs/compliance/dora.md works as it stands there."""

import re
import shlex
from pathlib import Path

GUIDE = (Path(__file__).parents[2] / "docs/compliance/dora.md").read_text(encoding="utf-8")


def list_commands():
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


async def test_every_command_of_the_guide_works(kontor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = list_commands()
    assert len(commands) >= 2
    for program, *arguments in commands:
        assert program == "kontor"
        code, out, err = await kontor(*arguments)
        assert (code, bool(out)) == (0, True), err
    written = {file.name for file in (tmp_path / "register").iterdir()}
    assert set(re.findall(r"`([a-z_0-9.]+\.(?:csv|json))`", GUIDE)) <= written
