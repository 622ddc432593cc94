"""Passwords that were published after breaches, looked up in a file on this machine."""

import hashlib
import os
from pathlib import Path

DIGITS = 40
HEXADECIMAL = frozenset(b"0123456789ABCDEFabcdef")


class BreachFileError(Exception):
    """The file is not what it should be."""


class BreachedPasswords:
    """A text file with one SHA-1 hash of a password in each line, sorted, as Have I Been Pwned publishes it.

    What follows a hash in its line, such as a count, does not matter. The file may have any size: a look-up reads about
    40 lines of it.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def check(self) -> None:
        """Raises BreachFileError, or OSError, where the first and the last line are not hashes in order."""
        with self._file.open("rb") as lines:
            first = _read_hash(lines.readline())
            lines.seek(max(0, lines.seek(0, os.SEEK_END) - 1000))
            last = _read_hash(lines.read().splitlines()[-1] if first else b"")
        if first is None or last is None or last < first:
            raise BreachFileError(f"{self._file} is not a sorted list of SHA-1 hashes.")

    def contains(self, password: str) -> bool:
        # The file decides about the hash: nothing is protected by it.
        wanted = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper().encode()
        with self._file.open("rb") as lines:
            low, high = 0, lines.seek(0, os.SEEK_END)  # the line is found by a place between the two
            while low < high:
                middle = (low + high) // 2
                lines.seek(middle)
                if middle:
                    lines.seek(middle - 1)
                    lines.readline()  # up to the beginning of a line
                found = lines.readline()[:DIGITS].upper()
                if found == wanted:
                    return True
                if found and found < wanted:
                    low = middle + 1
                else:
                    high = middle
        return False


def _read_hash(line: bytes) -> bytes | None:
    found = line[:DIGITS]
    return found.upper() if len(found) == DIGITS and HEXADECIMAL.issuperset(found) else None
