"""The worked example of docs/compliance/permissions.md works as pasted, in the terminal of the quick start."""

import json

from guide_code import Guide

GUIDE = Guide("compliance/permissions.md")


def test_every_line_works_as_pasted(customer, tmp_path):
    assert len(GUIDE.list_blocks("sh")) >= 4
    lines = GUIDE.run_shell(tmp_path, customer).splitlines()
    assert lines[:2] == ["201", "VOLLSTAENDIG"]
    assert lines[-3:] == ["404", "True", "WIDERRUFEN"]
    [shown], receipt = (json.loads((tmp_path / name).read_text()) for name in ("permissions.json", "receipt.json"))
    described = [json.loads(block) for block in GUIDE.list_blocks("json")]
    assert [set(described[0][0]), set(described[1])] == [set(shown), set(receipt)]
    assert shown["zweck"] == "Haushaltsbuch"
    assert receipt["geloescht"]["umsaetze"] > 0
