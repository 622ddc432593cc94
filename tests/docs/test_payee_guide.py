"""The code of docs/guides/payees.md works as pasted, in its order, and prints what stands below it."""

from banking import new_customer
from guide_code import Guide

GUIDE = Guide("guides/payees.md")


def test_every_block_works_as_pasted_and_prints_what_the_guide_shows(
    bank_server, shared, tmp_path, monkeypatch, capsys
):
    GUIDE.run_python(tmp_path, bank_server, new_customer(shared), monkeypatch)
    printed = capsys.readouterr().out
    shown = [line for block in GUIDE.list_blocks() for line in block.splitlines()]
    assert len(shown) >= 6
    assert [line for line in shown if line not in printed] == []
    assert (tmp_path / "letter.pdf").read_bytes().startswith(b"%PDF-")
