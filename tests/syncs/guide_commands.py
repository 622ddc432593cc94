"""The commands of a guide, as somebody would type them."""

import re
import shlex
from pathlib import Path

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


def read_commands(guide: str) -> list[list[str]]:
    """The words of each line of the first block."""
    block = re.search(r"^```sh\n(.*?)^```", (GUIDES / guide).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None
    return [shlex.split(line) for line in block[1].splitlines()]
