"""The worked example of docs/guides/credit-files.md works as pasted, and prints what the page shows."""

import re

from guide_code import Guide

GUIDE = Guide("guides/credit-files.md")
SHOWN = re.compile(r"^([A-Z_]+) +(-?[0-9.]+) +([0-9]+)$", re.MULTILINE)


def test_the_worked_example_works_as_pasted(customer, tmp_path):
    """With the functions of the quick start, and a customer of one's own."""
    printed = GUIDE.run_shell(tmp_path, customer)
    names = [name for name, _, _ in SHOWN.findall(GUIDE.text)]
    assert [name for name, _, _ in SHOWN.findall(printed)] == names
    assert len(names) == 15
    assert printed.splitlines()[-1] == "Signature Verified Successfully"
    assert (tmp_path / "credit-file.pdf").read_bytes().startswith(b"%PDF-")
    assert "Ratenkredit über 5.000 Euro" in (tmp_path / "credit-file.html").read_text(encoding="utf-8")
