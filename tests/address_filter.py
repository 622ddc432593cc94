"""Refuses every connection of this process to another machine, permitted by the product or not.

`tests/egress/filtered/sitecustomize.py` brings it into programs that tests start. It is a second opinion beside the
guard of the product, and shares no code with it.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

CONNECTING = frozenset(("socket.connect", "socket.sendto", "socket.sendmsg"))
INET = (2, 10)  # address families of Linux
OWN = ("127.", "::1", "::ffff:127.")


def refuse_outside(note: Callable[[str], None] | None = None) -> None:
    """For the rest of the process."""

    def inspect(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in CONNECTING:  # most events: the interpreter reports many kinds
            return
        line, address = arguments[0], arguments[-1]
        if int(line.family) in INET and isinstance(address, tuple) and not str(address[0]).startswith(OWN):
            if note is not None:
                note(f"{event} {address[0]}")
            raise OSError(f"tests connect to no other machine: {address[0]}")

    sys.addaudithook(inspect)


def note_into(path: str) -> Callable[[str], None]:
    def note(text: str) -> None:
        line = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(line, f"{text}\n".encode())
        os.close(line)

    return note
