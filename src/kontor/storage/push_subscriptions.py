"""Browsers that are told of alerts. What a browser is reached by is sealed with the user's key."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg import errors

from kontor.domain.alerts import AlertKind
from kontor.domain.errors import ConflictError
from kontor.storage.database import Connection

COLUMNS = "id, sealed, kinds, created_at"
# A browser belongs to whoever has registered it last: people who share one are not told of each other's alerts.
TAKE_OVER = "delete from all_push_subscriptions where endpoint_digest = %s and user_id <> %s"
INSERT = """
    insert into push_subscriptions (user_id, id, endpoint_digest, sealed, kinds) values (%s, %s, %s, %s, %s)
"""


@dataclass(frozen=True, slots=True)
class SealedSubscription:
    id: UUID
    sealed: bytes
    kinds: tuple[AlertKind, ...] | None
    created_at: datetime


def _subscription(row: Sequence[object]) -> SealedSubscription:
    own_id, sealed, kinds, created_at = row
    assert isinstance(own_id, UUID)
    assert isinstance(sealed, bytes)
    assert isinstance(created_at, datetime)
    known = None if not isinstance(kinds, list) else tuple(map(AlertKind, kinds))
    return SealedSubscription(own_id, sealed, known, created_at)


async def list_subscriptions(connection: Connection, user_id: UUID) -> list[SealedSubscription]:
    """The oldest first."""
    cursor = await connection.execute(
        f"select {COLUMNS} from push_subscriptions where user_id = %s order by created_at, id", [user_id]
    )
    return [_subscription(row) for row in await cursor.fetchall()]


async def find_subscription(connection: Connection, user_id: UUID, own_id: UUID) -> SealedSubscription | None:
    cursor = await connection.execute(
        f"select {COLUMNS} from push_subscriptions where user_id = %s and id = %s", [user_id, own_id]
    )
    row = await cursor.fetchone()
    return None if row is None else _subscription(row)


async def find_id(connection: Connection, user_id: UUID, endpoint_digest: bytes) -> UUID | None:
    cursor = await connection.execute(
        "select id from push_subscriptions where user_id = %s and endpoint_digest = %s", [user_id, endpoint_digest]
    )
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def insert_subscription(
    connection: Connection,
    user_id: UUID,
    own_id: UUID,
    endpoint_digest: bytes,
    sealed: bytes,
    kinds: Sequence[AlertKind] | None,
) -> None:
    """The caller has locked the user's data. Nobody else is told in this browser any more."""
    await connection.execute(TAKE_OVER, [endpoint_digest, user_id])
    try:
        await connection.execute(INSERT, [user_id, own_id, endpoint_digest, sealed, _write_kinds(kinds)])
    except errors.UniqueViolation:
        raise ConflictError("Another user is registering this browser.") from None


async def update_subscription(
    connection: Connection, user_id: UUID, own_id: UUID, sealed: bytes, kinds: Sequence[AlertKind] | None
) -> None:
    await connection.execute(
        "update push_subscriptions set sealed = %s, kinds = %s where user_id = %s and id = %s",
        [sealed, _write_kinds(kinds), user_id, own_id],
    )


async def delete_subscription(connection: Connection, user_id: UUID, own_id: UUID) -> bool:
    """With what was still to be sent to it."""
    cursor = await connection.execute(
        "delete from push_subscriptions where user_id = %s and id = %s", [user_id, own_id]
    )
    return cursor.rowcount == 1


def _write_kinds(kinds: Sequence[AlertKind] | None) -> list[str] | None:
    return None if kinds is None else [str(kind) for kind in kinds]
