"""What the outside world saw, a line of JSON each: written by the bank and by the receiver, read by the checks."""

import json
from pathlib import Path
from typing import Any


class Ledger:
    """Written by one process; a line is whole or not there."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("ab", buffering=0)

    def write(self, **entry: Any) -> None:
        self._file.write(json.dumps(entry).encode() + b"\n")


def read_ledger(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []
