"""The code of docs/guides/payees.md works as pasted, in its order, and prints what stands below it."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from banking import new_customer

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "payees.md"
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_every_block_works_as_pasted_and_prints_what_the_guide_shows(
    bank_server, shared, tmp_path, monkeypatch, capsys
):
    names, new_user = ("username", "password"), new_customer(shared)
    tenant = {
        "userClient": dict(zip(names, shared.app, strict=True)),
        "user": dict(zip(names, (new_user.username, f"password of {new_user.username}"), strict=True)),
    }
    (tmp_path / ".kontor").mkdir()
    (tmp_path / ".kontor/demo.json").write_text(json.dumps({"baseUrl": bank_server, "tenants": [tenant]}))
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(1) as threads:  # an event loop runs in this one
        threads.submit(run_blocks).result()
    printed = capsys.readouterr().out
    shown = [line for language, block in BLOCKS if not language for line in block.splitlines()]
    assert len(shown) >= 6
    assert [line for line in shown if line not in printed] == []
    assert (tmp_path / "letter.pdf").read_bytes().startswith(b"%PDF-")


def run_blocks() -> None:
    space: dict[str, object] = {}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, str(GUIDE), "exec"), space)
    space["kontor"].close()  # type: ignore[attr-defined]
