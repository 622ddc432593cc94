"""The code of the guide works as pasted, in its order."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "clients.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


def test_every_block_works_as_pasted(bank_server, shared, new_user, tmp_path, monkeypatch, capsys):
    folder = tmp_path / ".kontor"
    folder.mkdir()
    names = ("username", "password")
    tenant = {
        "userClient": dict(zip(names, shared.app, strict=True)),
        "user": dict(zip(names, (new_user.username, f"password of {new_user.username}"), strict=True)),
    }
    (folder / "demo.json").write_text(json.dumps({"baseUrl": bank_server, "tenants": [tenant]}))
    monkeypatch.chdir(tmp_path)
    # In a thread of its own: the guide starts an event loop, and here one is running already.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(run_blocks).result()
    shown = capsys.readouterr().out
    assert "GIROKONTO" in shown
    assert re.search(r"^200 application/json \['", shown, re.MULTILINE)
    assert re.search(r"^True$", shown, re.MULTILINE)
    assert re.search(r"^True False False False$", shown, re.MULTILINE)


def run_blocks() -> None:
    space: dict[str, object] = {}
    for block in blocks():
        exec(compile(block, str(GUIDE), "exec"), space)
    space["kontor"].close()  # type: ignore[attr-defined]
