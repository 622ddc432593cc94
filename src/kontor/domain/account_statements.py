"""Account statements as a bank issues them: files with a number and a year, kept as they came."""

import base64
import binascii
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import TypeAlias
from uuid import UUID

MAX_BYTES = 4 * 1024 * 1024  # of one file
MAX_STATEMENTS = 500  # of one account; the oldest go
MAX_PER_FETCH = 12  # of one account
PDF_HEAD = b"%PDF-"
# Year and number; banks that do not number by year name no year.
StatementNumber: TypeAlias = tuple[int | None, int]


class StatementFormat(StrEnum):
    PDF = "PDF"
    MT940 = "MT940"
    CAMT = "CAMT"
    ISO_8583 = "ISO_8583"
    OTHER = "OTHER"


class StatementState(StrEnum):
    """`LISTED`: the bank names it, and its file comes with a later fetch."""

    STORED = "STORED"
    LISTED = "LISTED"
    TOO_LARGE = "TOO_LARGE"


@dataclass(frozen=True, slots=True)
class AccountStatement:
    """`content` is None while the bank has only named it, or where the file is too large: then `size` is its size."""

    number: int | None = None
    year: int | None = None
    format: StatementFormat | None = None
    content: bytes | None = None
    starts_on: date | None = None
    ends_on: date | None = None
    created_on: date | None = None
    size: int | None = None

    @property
    def state(self) -> StatementState:
        if self.content is not None:
            return StatementState.STORED
        return StatementState.LISTED if self.size is None else StatementState.TOO_LARGE


@dataclass(frozen=True, slots=True)
class StoredStatement:
    """What is known of a statement, without its file."""

    id: UUID
    product_id: UUID
    number: int | None
    year: int | None
    format: StatementFormat | None
    starts_on: date | None
    ends_on: date | None
    created_on: date | None
    size: int | None
    state: StatementState
    fetched_at: datetime


def find_format(content: bytes) -> StatementFormat:
    """By what it begins with."""
    head = content[:1024].lstrip(b"\xef\xbb\xbf \r\n\t@")
    if head.startswith(PDF_HEAD):
        return StatementFormat.PDF
    if head.startswith(b"<") and b"camt." in head:
        return StatementFormat.CAMT
    if head.startswith((b":20:", b"{1:")):
        return StatementFormat.MT940
    return StatementFormat.OTHER


def decode_content(content: bytes) -> bytes:
    """Some banks send PDF as Base64, whatever their parameters say of it."""
    if content[:8].startswith(PDF_HEAD):
        return content
    try:
        decoded = base64.b64decode(b"".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        return content
    return decoded if decoded.startswith(PDF_HEAD) else content
