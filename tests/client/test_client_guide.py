"""The code of the guide works as pasted, in its order."""

import re

from guide_code import Guide


def test_every_block_works_as_pasted(bank_server, customer, tmp_path, monkeypatch, capsys):
    Guide("guides/clients.md").run_python(tmp_path, bank_server, customer, monkeypatch)
    shown = capsys.readouterr().out
    assert "GIROKONTO" in shown
    assert re.search(r"^200 application/json \['", shown, re.MULTILINE)
    assert re.search(r"^True$", shown, re.MULTILINE)
    assert re.search(r"^True False False False$", shown, re.MULTILINE)
