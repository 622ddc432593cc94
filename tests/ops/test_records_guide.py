"""The code of docs/compliance/records.md works as pasted, and prints what stands below it."""

import json
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from banking import new_customer

GUIDE = Path(__file__).parents[2] / "docs" / "compliance" / "records.md"
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def find_blocks(language):
    return [block for found, block in BLOCKS if found == language]


def test_the_statement_adds_up_and_has_the_gaps_that_the_guide_shows(
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
        threads.submit(run_python).result()
    printed = capsys.readouterr().out.splitlines()
    [shown] = find_blocks("")
    assert printed == shown.splitlines() * 2  # both accounts of the customer


def run_python():
    space = {}
    for block in find_blocks("python"):
        exec(compile(block, str(GUIDE), "exec"), space)
    space["kontor"].close()


async def test_the_ledger_of_connections_is_empty_after_all_that(operator, kontor):
    operator.owner.execute("delete from egress_days")
    [command], [shown] = find_blocks("sh"), find_blocks("json")
    program, *arguments = shlex.split(command)
    assert program == "kontor"
    code, out, err = await kontor(*arguments)
    assert (code, json.loads(out)) == (0, json.loads(shown)), err
