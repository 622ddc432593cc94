"""The log of erasures: a file outside the database, so that a restored backup can be erased again (ADR 0056).

A line names a user by a keyed hash. `kept` withdraws what was written before: the user was reactivated instead.
"""

import fcntl
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import msgspec

from kontor.storage.keys import SealingKey

ERASED, KEPT = "erased", "kept"


class _Line(msgspec.Struct):
    at: datetime
    key: str
    user: str
    event: str


class ErasureLog:
    def __init__(self, path: Path, digests: SealingKey) -> None:
        self.path = path
        self._digests = digests

    def name_user(self, tenant_id: UUID, user_id: UUID) -> str:
        return self._digests.digest("erased user", str(tenant_id), str(user_id)).hex()

    def append(self, tenant_id: UUID, user_id: UUID, event: str) -> None:
        """On the disk when it returns. Raises OSError."""
        line = _Line(datetime.now(UTC), self._digests.fingerprint, self.name_user(tenant_id, user_id), event)
        is_new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if is_new and os.geteuid() == 0:  # an operator at a prompt; the service's user is to go on writing
                folder = self.path.parent.stat()
                os.fchown(file, folder.st_uid, folder.st_gid)
            size = os.fstat(file).st_size
            is_cut = size > 0 and os.pread(file, 1, size - 1) != b"\n"  # by a crash: begin a line of our own
            text = (b"\n" if is_cut else b"") + msgspec.json.encode(line) + b"\n"
            if os.write(file, text) != len(text):
                raise OSError(f"{self.path} could not be written whole")
            os.fsync(file)
        finally:
            os.close(file)
        if is_new:
            _sync_folder(self.path.parent)

    def read_erased(self, paths: Iterable[Path] = ()) -> tuple[set[str], int]:
        """Users who are to be gone, by the latest line of each; and how many lines belong to another key."""
        lines = [line for path in (list(paths) or [self.path]) for line in _read_lines(path)]
        own = sorted((line for line in lines if line.key == self._digests.fingerprint), key=lambda line: line.at)
        latest = {line.user: line.event for line in own}
        return {user for user, event in latest.items() if event == ERASED}, len(lines) - len(own)


def _read_lines(path: Path) -> list[_Line]:
    lines = []
    for text in path.read_bytes().splitlines():
        try:
            lines.append(msgspec.json.decode(text, type=_Line))
        except msgspec.DecodeError:
            continue  # cut by a crash: that erasure was never committed
    return lines


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
