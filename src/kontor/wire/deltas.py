"""Changes of transactions (Änderungen) since a cursor."""

from collections.abc import Iterable, Sequence
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.domain.deltas import Change
from kontor.wire.encoding import encode_json
from kontor.wire.transactions import CustomerTransaction, Transaction

Cursor = Annotated[str, Meta(description="of the position that is reached: `since` of the next call")]
HasMore = Annotated[bool, Meta(description="true: there are more changes, call again with `cursor`")]


class RemovedTransaction(msgspec.Struct):
    id: UUID
    produktId: UUID  # noqa: N815


class TransactionChanges(msgspec.Struct):
    """What has changed since a cursor. Each id occurs once, in its latest state."""

    neu: list[Transaction]
    geaendert: Annotated[
        list[Transaction], Meta(description="known ones with other values, such as a pending one that is booked")
    ]
    entfernt: list[RemovedTransaction]
    cursor: Cursor
    weitere: HasMore


class CustomerTransactionChanges(msgspec.Struct):
    """What has changed on all accounts since a cursor. Each id occurs once, in its latest state."""

    neu: list[CustomerTransaction]
    geaendert: Annotated[
        list[CustomerTransaction],
        Meta(description="known ones with other values, such as a pending one that is booked"),
    ]
    entfernt: list[RemovedTransaction]
    cursor: Cursor
    weitere: HasMore


def render_changes(new: bytes, changed: bytes, removed: Iterable[Change], cursor: str, *, has_more: bool) -> bytes:
    """`new` and `changed` are JSON objects, separated by commas."""
    gone: Sequence[RemovedTransaction] = [
        RemovedTransaction(change.transaction_id, change.product_id) for change in removed
    ]
    rest = encode_json({"entfernt": gone, "cursor": cursor, "weitere": has_more})
    return b'{"neu":[' + new + b'],"geaendert":[' + changed + b"]," + rest[1:]
