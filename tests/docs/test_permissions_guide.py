"""The worked example of docs/compliance/permissions.md works as pasted, in the terminal of the quick start."""

import json
import os
import re
import subprocess
from pathlib import Path

from patience import PATIENCE_SECONDS

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "compliance/permissions.md").read_text(encoding="utf-8")
QUICKSTART = (DOCS / "guides/quickstart.md").read_text(encoding="utf-8")


def take_function(name):
    """As the quick start defines it."""
    return re.search(rf"^{name}\(\) \{{.*?; \}}$", QUICKSTART, re.MULTILINE | re.DOTALL)[0]


def test_every_line_works_as_pasted(customer, tmp_path):
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    assert len(blocks) >= 4
    script = "\n".join(["set -eu", take_function("pick"), take_function("encrypt"), *blocks])
    ran = subprocess.run(
        ["bash", "-c", script],
        env=os.environ | {"base": str(customer.http.base_url).rstrip("/"), "token": customer.token},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[:2] == ["201", "VOLLSTAENDIG"]
    assert lines[-3:] == ["404", "True", "WIDERRUFEN"]
    [shown], receipt = (json.loads((tmp_path / name).read_text()) for name in ("permissions.json", "receipt.json"))
    described = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)]
    assert [set(described[0][0]), set(described[1])] == [set(shown), set(receipt)]
    assert shown["zweck"] == "Haushaltsbuch"
    assert receipt["geloescht"]["umsaetze"] > 0
