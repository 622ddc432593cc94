"""Dialogues about consent. Every query names the user."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from kontor.domain.accesses import History
from kontor.domain.dialogues import Dialogue
from kontor.domain.sca import ScaMedium, ScaMethod
from kontor.domain.sca_machine import ScaPosition, ScaState
from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock

COLUMNS = (
    "id, user_id, access_id, state, wrong_tans, is_renewal, asks_settings, history, lease_key, expires_at,"
    " customer_ip, callback_url, methods, media, chosen_method, chosen_medium, redirect_url, is_last_tan_wrong"
)


def _dialogue(row: Sequence[Any]) -> Dialogue:
    return Dialogue(
        id=row[0],
        user_id=row[1],
        access_id=row[2],
        position=ScaPosition(ScaState(row[3]), row[4]),
        is_renewal=row[5],
        asks_settings=row[6],
        history=History(row[7]),
        lease_key=row[8],
        expires_at=row[9],
        customer_ip=row[10],
        callback_url=row[11],
        methods=msgspec.convert(row[12], tuple[ScaMethod, ...]),
        media=msgspec.convert(row[13], tuple[ScaMedium, ...]),
        chosen_method=msgspec.convert(row[14], ScaMethod | None),
        chosen_medium=row[15],
        redirect_url=row[16],
        is_last_tan_wrong=row[17],
    )


def _jsonb(value: Any) -> Jsonb | None:
    return None if value is None else Jsonb(msgspec.to_builtins(value))


async def upsert_dialogue(connection: Connection, dialogue: Dialogue, sealed: bytes | None) -> None:
    await connection.execute(
        f"insert into dialogues ({COLUMNS}, sealed) values"
        " (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
        " on conflict (id) do update set state = excluded.state, wrong_tans = excluded.wrong_tans,"
        " expires_at = excluded.expires_at, methods = excluded.methods, media = excluded.media,"
        " chosen_method = excluded.chosen_method, chosen_medium = excluded.chosen_medium,"
        " redirect_url = excluded.redirect_url, is_last_tan_wrong = excluded.is_last_tan_wrong,"
        " sealed = excluded.sealed where dialogues.user_id = excluded.user_id",
        [
            dialogue.id,
            dialogue.user_id,
            dialogue.access_id,
            str(dialogue.position.state),
            dialogue.position.wrong_tans,
            dialogue.is_renewal,
            dialogue.asks_settings,
            str(dialogue.history),
            dialogue.lease_key,
            dialogue.expires_at,
            dialogue.customer_ip,
            dialogue.callback_url,
            _jsonb(dialogue.methods),
            _jsonb(dialogue.media),
            _jsonb(dialogue.chosen_method),
            dialogue.chosen_medium,
            dialogue.redirect_url,
            dialogue.is_last_tan_wrong,
            sealed,
        ],
    )


async def find_dialogue(
    connection: Connection, user_id: UUID, dialogue_id: UUID
) -> tuple[Dialogue, bytes | None] | None:
    """With its sealed part."""
    cursor = await connection.execute(
        f"select {COLUMNS}, sealed from dialogues where user_id = %s and id = %s", [user_id, dialogue_id]
    )
    row = await cursor.fetchone()
    return None if row is None else (_dialogue(row), row[18])


async def lock_dialogue(
    connection: Connection, user_id: UUID, dialogue_id: UUID
) -> tuple[Dialogue, bytes | None] | None:
    note_lock(Lock.DIALOGUE, user_id, dialogue_id)
    cursor = await connection.execute(
        f"select {COLUMNS}, sealed from dialogues where user_id = %s and id = %s for update", [user_id, dialogue_id]
    )
    row = await cursor.fetchone()
    return None if row is None else (_dialogue(row), row[18])


async def end_open_dialogues(connection: Connection, user_id: UUID, access_id: str) -> None:
    """A new dialogue about an access ends the ones before it."""
    await connection.execute(
        "update dialogues set state = 'FAILED', sealed = null where user_id = %s and access_id = %s"
        " and state not in ('GIVEN', 'FAILED', 'NO_METHOD')",
        [user_id, access_id],
    )


async def delete_old_dialogues(connection: Connection, batch: int) -> int:
    """A day after they ran out: until then the caller can still read how they ended."""
    cursor = await connection.execute(
        "delete from all_dialogues where id in"
        " (select id from all_dialogues where expires_at < now() - interval '1 day' limit %s)",
        [batch],
    )
    return cursor.rowcount
