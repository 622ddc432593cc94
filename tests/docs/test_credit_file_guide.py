"""The worked example of docs/guides/credit-files.md works as pasted, and prints what the page shows."""

import os
import re
import subprocess
from pathlib import Path

from banking import new_customer
from patience import PATIENCE_SECONDS

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
PAGE = (GUIDES / "credit-files.md").read_text(encoding="utf-8")
START = (GUIDES / "quickstart.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"^([A-Z_]+) +(-?[0-9.]+) +([0-9]+)$", re.MULTILINE)


def test_the_worked_example_works_as_pasted(bank_server, shared, tmp_path):
    """With the functions of the quick start, and a customer of one's own."""
    customer = new_customer(shared)
    functions = [
        re.search(rf"^{name}\(\) .*?; }}$", START, re.MULTILINE | re.DOTALL)[0] for name in ("pick", "encrypt")
    ]
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    ran = subprocess.run(
        ["bash", "-c", "\n".join(["set -eu", f"base={shared.http.base_url}", *functions, *blocks])],
        env=os.environ | {"token": customer.token},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    names = [name for name, _, _ in SHOWN.findall(PAGE)]
    printed = SHOWN.findall(ran.stdout)
    assert [name for name, _, _ in printed] == names
    assert len(names) == 15
    assert ran.stdout.splitlines()[-1] == "Signature Verified Successfully"
    assert (tmp_path / "credit-file.pdf").read_bytes().startswith(b"%PDF-")
    assert "Ratenkredit über 5.000 Euro" in (tmp_path / "credit-file.html").read_text(encoding="utf-8")
