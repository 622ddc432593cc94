"""Transactions that are pushed, and those that a file would add: many rows, read and shown in pieces."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import msgspec

from kontor.api.answers import HttpError
from kontor.api.bodies import decode_json
from kontor.domain.errors import InvalidError
from kontor.domain.transactions import clean_transaction
from kontor.services.compute import Packed, cut
from kontor.services.statements import Import
from kontor.services.transactions import PushedTransaction
from kontor.wire.encoding import encode_json
from kontor.wire.transactions import NewTransaction, read_transaction, show_previewed

MAX_PUSHED = 10_000

_pushed_rows = msgspec.msgpack.Decoder(list[PushedTransaction])


def read_pushed(body: bytes) -> Packed:
    """In a compute process: the rows of a body, as they can be stored."""
    rows = decode_json(body, list[NewTransaction])
    if len(rows) > MAX_PUSHED:
        raise HttpError(413, f"At most {MAX_PUSHED} transactions can be pushed at once.")
    pushed = [_clean(read_transaction(row, number), number) for number, row in enumerate(rows)]
    return [msgspec.msgpack.encode(piece) for piece in cut(pushed)]


def _clean(pushed: PushedTransaction, number: int) -> PushedTransaction:
    transaction = clean_transaction(pushed.transaction)
    if transaction is None:
        raise InvalidError("the amount or the date cannot be stored", f"[{number}]")
    utc = replace(transaction, booked_at=_to_utc(transaction.booked_at), value_at=_to_utc(transaction.value_at))
    return replace(pushed, transaction=utc)


def _to_utc(at: datetime | None) -> datetime | None:
    """An offset may have seconds, which do not travel."""
    return None if at is None else at.astimezone(UTC)


async def unpack_pushed(packed: Packed) -> list[PushedTransaction]:
    """For the event loop: others have their turn after each piece."""
    pushed: list[PushedTransaction] = []
    for piece in packed:
        pushed += _pushed_rows.decode(piece)
        await asyncio.sleep(0)
    return pushed


async def show_added(imported: Import) -> AsyncIterator[bytes]:
    """What a file would add, as an array that is sent in pieces."""
    yield b"["
    separator = b""
    for piece in cut(row for account in imported.accounts for row in account.added):
        yield separator + encode_json([show_previewed(row) for row in piece])[1:-1]
        separator = b","
    yield b"]"
