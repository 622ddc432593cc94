"""Guides whose code is run as pasted: their blocks, and what their readers have around them."""

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from banking import BankCustomer
from timeouts import WAIT_TIMEOUT_SECONDS

DOCS = Path(__file__).parents[1] / "docs"


class Guide:
    """`page` below docs."""

    def __init__(self, page: str) -> None:
        self.text = (DOCS / page).read_text(encoding="utf-8")
        self._page = page

    def list_blocks(self, language: str = "") -> list[str]:
        """In their order; without a language those that show what is printed."""
        found = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", self.text, re.DOTALL | re.MULTILINE)
        return [textwrap.dedent(block) for _, name, block in found if name == language]

    def list_commands(self, place: int | None = None) -> list[list[str]]:
        """The words of each command in all blocks of a shell, or in one of them. `./dev`, which only starts a
        checkout's program, is left out."""
        blocks = self.list_blocks("sh") + [keep_input(block) for block in self.list_blocks("console")]
        lines = [line for block in (blocks if place is None else blocks[place : place + 1]) for line in join(block)]
        return [words[words[0] == "./dev" :] for line in lines if (words := shlex.split(line, comments=True))]

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

    def run_shell(self, folder: Path, customer: BankCustomer, between: str = "", **names: str) -> str:
        """All blocks, in the terminal of the quick start, as this customer. Returns what they print, and what the
        command `between` two blocks does."""
        quickstart = Guide("guides/quickstart.md").text
        functions = [
            re.search(rf"^{name}\(\) \{{.*?; \}}$", quickstart, re.MULTILINE | re.DOTALL)[0]  # type: ignore[index]
            for name in ("pick", "encrypt")
        ]
        names |= {"base": str(customer.http.base_url).rstrip("/"), "token": customer.token}
        script = "\n".join([*functions, f"\n{between}\n".join(self.list_blocks("sh"))])
        return run_bash(script, folder, **names).stdout


def run_bash(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """In a terminal that finds this installation's programs. The first command that fails ends it."""
    given = os.environ | {"PATH": with_programs(os.environ["PATH"])} | environment
    ran = subprocess.run(
        ["bash", "-c", f"set -eu\n{script}"],
        env=given,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=WAIT_TIMEOUT_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran


def with_programs(path: str) -> str:
    return f"{Path(sys.executable).parent}:{path}"


def keep_input(block: str) -> str:
    """Of a session in a terminal, what was typed after `$ `, with the lines that go on below it."""
    kept, is_open = [], False
    for line in block.splitlines():
        if line.startswith("$ ") or is_open:
            kept.append(line.removeprefix("$ "))
            is_open = not is_complete("\n".join(kept))
    return "\n".join(kept)


def join(block: str) -> list[str]:
    """Commands, each with the lines on which it goes on."""
    commands: list[str] = []
    for line in block.splitlines():
        if commands and not is_complete(commands[-1]):
            commands[-1] += f"\n{line}"
        elif line.strip():
            commands.append(line)
    return commands


def is_complete(text: str) -> bool:
    """Whether a shell would run it: no quote is open, and the last line does not end in a backslash."""
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return not text.endswith("\\")
