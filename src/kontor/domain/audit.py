"""The audit trail: who did what, on which object, with what result. Each entry's hash covers the one before it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

SYSTEM_CHAIN = UUID(int=0)
FIRST_HASH = b"\x00" * 32


class AuditResult(StrEnum):
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """`actor` and `object` name users by their pseudonym only, so that erasing a user leaves nobody to be found."""

    actor: str
    action: str
    object: str
    result: AuditResult
    correlation_id: str


@dataclass(frozen=True, slots=True)
class ChainedEntry:
    chain: UUID
    serial: int
    at: datetime
    entry: AuditEntry
    hash: bytes


def hash_entry(previous: bytes, chain: UUID, serial: int, at: datetime, entry: AuditEntry) -> bytes:
    """SHA-256 over the previous hash and every field, each with its length, so that no two entries look alike."""
    digest = hashlib.sha256(previous)
    for part in (
        str(chain),
        str(serial),
        at.isoformat(),
        entry.actor,
        entry.action,
        entry.object,
        entry.result,
        entry.correlation_id,
    ):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
    return digest.digest()


def find_break(
    entries: Iterable[ChainedEntry], previous: bytes = FIRST_HASH, first_serial: int = 1
) -> ChainedEntry | None:
    """The first entry of a chain, in order, that does not follow from the ones before it.

    A part of a chain is checked with the hash of the entry before it and its own first serial.
    """
    for serial, entry in enumerate(entries, first_serial):
        if entry.serial != serial or entry.hash != hash_entry(
            previous, entry.chain, entry.serial, entry.at, entry.entry
        ):
            return entry
        previous = entry.hash
    return None
