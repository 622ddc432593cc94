"""The code of docs/compliance/records.md works as pasted, and prints what stands below it."""

import json
import shlex

from banking import new_customer
from guide_code import Guide

GUIDE = Guide("compliance/records.md")


def test_the_statement_adds_up_and_has_the_gaps_that_the_guide_shows(
    bank_server, shared, tmp_path, monkeypatch, capsys
):
    GUIDE.run_python(tmp_path, bank_server, new_customer(shared), monkeypatch)
    [shown] = GUIDE.list_blocks()
    assert capsys.readouterr().out.splitlines() == shown.splitlines() * 2  # both accounts of the customer


async def test_the_ledger_of_connections_is_empty_after_all_that(operator, kontor):
    operator.owner.execute("delete from egress_days")
    [command], [shown] = GUIDE.list_blocks("sh"), GUIDE.list_blocks("json")
    program, *arguments = shlex.split(command)
    assert program == "kontor"
    code, out, err = await kontor(*arguments)
    assert (code, json.loads(out)) == (0, json.loads(shown)), err
