"""Guides whose code is run as pasted: their blocks, and what their readers have around them."""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from banking import BankCustomer
from patience import PATIENCE_SECONDS

DOCS = Path(__file__).parents[1] / "docs"


class Guide:
    """`page` below docs."""

    def __init__(self, page: str) -> None:
        self.text = (DOCS / page).read_text(encoding="utf-8")
        self._page = page

    def list_blocks(self, language: str = "") -> list[str]:
        """In their order; without a language those that show what is printed."""
        found = re.findall(r"^```(\w*)\n(.*?)^```$", self.text, re.DOTALL | re.MULTILINE)
        return [block for name, block in found if name == language]

    def run_python(self, folder: Path, address: str, customer: BankCustomer, monkeypatch: Any) -> None:
        """All blocks, beside a demo whose first user is this customer. What they print goes to standard output."""
        names = ("username", "password")
        tenant = {
            "userClient": dict(zip(names, customer.tenant.app, strict=True)),
            "user": dict(zip(names, (customer.username, f"password of {customer.username}"), strict=True)),
        }
        (folder / ".kontor").mkdir()
        (folder / ".kontor/demo.json").write_text(json.dumps({"baseUrl": address, "tenants": [tenant]}))
        monkeypatch.chdir(folder)
        # In a thread of its own: a guide may start an event loop, and in tests one is running already.
        with ThreadPoolExecutor(1) as threads:
            threads.submit(self._run_blocks).result()

    def _run_blocks(self) -> None:
        space: dict[str, Any] = {}
        for block in self.list_blocks("python"):
            exec(compile(block, self._page, "exec"), space)
        space["kontor"].close()

    def run_shell(self, folder: Path, customer: BankCustomer) -> str:
        """All blocks, in the terminal of the quick start, as this customer. Returns what they print."""
        quickstart = Guide("guides/quickstart.md").text
        functions = [
            re.search(rf"^{name}\(\) \{{.*?; \}}$", quickstart, re.MULTILINE | re.DOTALL)[0]  # type: ignore[index]
            for name in ("pick", "encrypt")
        ]
        ran = subprocess.run(
            ["bash", "-c", "\n".join(["set -eu", *functions, *self.list_blocks("sh")])],
            env=os.environ | {"base": str(customer.http.base_url).rstrip("/"), "token": customer.token},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout
