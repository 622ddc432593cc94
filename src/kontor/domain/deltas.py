"""Changes of transactions since a position: what a reader is told, and where it stands (ADR 0047)."""

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from kontor.domain.errors import ConflictError

NOTHING_TOLD = -1  # the position of a reader that has not read anything: rows of version 0 are new to it
START = UUID(int=0)
_END = struct.Struct(">c8sq")
_WITHIN = struct.Struct(">c8sq8sqq16s16s")
_OF_END, _OF_WITHIN = b"\x01", b"\x02"


class ChangeKind(StrEnum):
    NEW = "NEW"
    CHANGED = "CHANGED"
    REMOVED = "REMOVED"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a reader has come in changes that need several answers.

    They end at version `until`, whatever changes meanwhile. `scope` names what is read; the rest is the change told
    last, in the order of changes.
    """

    scope: bytes
    until: int
    version: int
    product_id: UUID = START
    transaction_id: UUID = START


@dataclass(frozen=True, slots=True)
class DeltaCursor:
    """All changes until `version` are told; those after it up to where `progress` says."""

    version: int = NOTHING_TOLD
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Change:
    kind: ChangeKind
    version: int
    product_id: UUID
    transaction_id: UUID


def name_scope(product_id: UUID | None, tree: str | None) -> bytes:
    """What is read: changes of one product or of all, with tags of a tree or without."""
    return hashlib.sha256(f"{product_id} {tree}".encode()).digest()[:8]


def write_cursor(user_id: UUID, cursor: DeltaCursor) -> str:
    """The same for the same position, so that two can be compared."""
    progress = cursor.progress
    if progress is None:
        packed = _END.pack(_OF_END, _digest(user_id), cursor.version)
    else:
        packed = _WITHIN.pack(
            _OF_WITHIN,
            _digest(user_id),
            cursor.version,
            progress.scope,
            progress.until,
            progress.version,
            progress.product_id.bytes,
            progress.transaction_id.bytes,
        )
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def read_cursor(user_id: UUID, text: str) -> DeltaCursor:
    """One that was written for this user. Anything else is refused alike."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        if packed[:1] == _OF_END:
            _, digest, version = _END.unpack(packed)
            cursor = DeltaCursor(version)
        elif packed[:1] == _OF_WITHIN:
            _, digest, version, scope, until, at, product_id, transaction_id = _WITHIN.unpack(packed)
            progress = Progress(scope, until, at, UUID(bytes=product_id), UUID(bytes=transaction_id))
            cursor = DeltaCursor(version, progress)
        else:
            raise refuse_cursor()
    except (ValueError, binascii.Error, struct.error):
        raise refuse_cursor() from None
    if digest != _digest(user_id) or not _is_possible(cursor) or write_cursor(user_id, cursor) != text:
        raise refuse_cursor()
    return cursor


def _is_possible(cursor: DeltaCursor) -> bool:
    progress = cursor.progress
    if progress is None:
        return cursor.version >= 0
    return NOTHING_TOLD <= cursor.version < progress.version <= progress.until


def refuse_cursor() -> ConflictError:
    return ConflictError("since: start again without since")


def _digest(user_id: UUID) -> bytes:
    return hashlib.sha256(user_id.bytes).digest()[:8]
