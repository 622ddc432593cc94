"""Where the master key comes from: the environment, a command, HashiCorp Vault, or a file.

A key in a file is never overwritten, is readable by its owner only, and is on the disk before anything depends on it.
"""

import base64
import os
import secrets
import shlex
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kontor.domain.secrets import Secret
from kontor.storage.keys import KEY_BYTES, KeyUnusableError, SealingKey
from kontor.storage.transit_keys import TransitKey


def generate_master_key() -> Secret:
    return Secret(base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode())


class MasterKeySource(Protocol):
    """What an installation's master key is loaded from, once in each process."""

    @property
    def name(self) -> str:
        """For the operator: where a new key has to be put."""

    def load(self) -> SealingKey:
        """Raises KeyUnusableError."""


@dataclass(frozen=True, slots=True)
class KeyText:
    text: Secret
    name: str = "KONTOR_MASTER_KEY"

    def load(self) -> SealingKey:
        return decode_master_key(self.text, self.name)


@dataclass(frozen=True, slots=True)
class KeyCommand:
    command: str
    name: str = "KONTOR_MASTER_KEY_COMMAND"

    def load(self) -> SealingKey:
        return decode_master_key(_run_key_command(self.command), f"what {self.name} prints")


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """Under a key of HashiCorp Vault's transit engine."""

    wrapped: str
    transit: TransitKey
    name: str = "KONTOR_MASTER_KEY_WRAPPED"

    def load(self) -> SealingKey:
        return self.transit.unwrap(self.wrapped)


@dataclass(frozen=True, slots=True)
class KeyFile:
    """Of embedded mode. It is made at first use."""

    file: Path

    @property
    def name(self) -> str:
        return str(self.file)

    def load(self) -> SealingKey:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if not self.file.exists():
            with suppress(FileExistsError):  # of two processes that start at once, one wins and both read its key
                write_key_file(self.file, generate_master_key())
        return read_key_file(self.file)


def decode_master_key(text: Secret, source: str) -> SealingKey:
    """`source` says in error messages where the key came from."""
    try:
        return SealingKey(base64.b64decode(text.reveal(), validate=True))
    except ValueError:
        raise KeyUnusableError(f"The master key ({source}) is not Base64.") from None
    except KeyUnusableError:
        raise KeyUnusableError(
            f"The master key ({source}) is not 32 random bytes; make one with `kontor key generate`."
        ) from None


def _run_key_command(command: str) -> Secret:
    try:
        result = subprocess.run(  # noqa: S603 (the operator's own command)
            shlex.split(command), capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        # Its output may hold the key, so only the kind of the failure is told.
        raise KeyUnusableError(f"KONTOR_MASTER_KEY_COMMAND failed ({type(error).__name__}).") from None
    return Secret(result.stdout.strip())


# Files


def read_key_file(file: Path) -> SealingKey:
    return decode_master_key(read_key_text(file), str(file))


def read_key_text(file: Path) -> Secret:
    if file.stat().st_mode & 0o077:
        raise KeyUnusableError(f"The master key {file} can be read by others; run `chmod 600 {file}`.")
    return Secret(file.read_text(encoding="ascii", errors="replace").strip())


def write_key_file(file: Path, text: Secret) -> None:
    """Raises FileExistsError where there is a file already, which may be the only copy of another key."""
    unfinished = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as handle:
            handle.write(text.reveal())
            handle.flush()
            os.fsync(handle.fileno())
        os.link(unfinished, file)
    finally:
        unfinished.unlink(missing_ok=True)
    _sync_folder(file.parent)


def sync_key_file(file: Path) -> None:
    """Somebody else wrote it: before anything depends on it, it must be on the disk."""
    with file.open("rb") as handle:
        os.fsync(handle.fileno())
    _sync_folder(file.parent)


def keep_key_beside(file: Path, source: Path) -> Path:
    """Keep the key in `source` in the folder of `file` too, under its fingerprint. Safe to repeat."""
    copy = file.with_name(f"{file.stem}-{read_key_file(source).fingerprint}{file.suffix}")
    if not copy.exists():
        write_key_file(copy, read_key_text(source))
    return copy


def replace_key_file(file: Path, copy: Path) -> None:
    """`copy` becomes `file`, in one step."""
    copy.replace(file)
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
