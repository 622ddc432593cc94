"""Accesses of a customer. Every query names the user: an access is never found by its id alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from kontor.domain.accesses import DATA_LIFETIME, Access, AccessStatus, History, Notice
from kontor.domain.refreshes import RefreshPause
from kontor.domain.sca import ScaMedium, ScaMethod
from kontor.storage.data_versions import increment_version
from kontor.storage.database import Connection, fetch_row
from kontor.storage.leases import Lease
from kontor.storage.lock_order import Lock, note_lock
from kontor.storage.removals import note_removed_products
from kontor.storage.user_binding import bind_transaction

COLUMNS = (
    "id, provider_id, status, is_synced, updated_at, expires_at, selected_products, methods, media, active_method,"
    " messages, issues, issues_at, consent_until, active_medium, form_session_id,"
    " known_products, history, wants_statements"
)


@dataclass(frozen=True, slots=True)
class AccessSecrets:
    """What is sealed with an access; opened by the service that holds the user's key."""

    credentials: bytes | None
    credentials_digest: bytes | None
    lease_key: bytes | None
    connector_state: bytes | None


def _access(row: Sequence[Any]) -> Access:
    return Access(
        id=row[0],
        provider_id=row[1],
        status=AccessStatus(row[2]),
        is_synced=row[3],
        updated_at=row[4],
        expires_at=row[5],
        selected_products=None if row[6] is None else tuple(row[6]),
        methods=msgspec.convert(row[7], tuple[ScaMethod, ...]),
        media=msgspec.convert(row[8], tuple[ScaMedium, ...]),
        active_method=msgspec.convert(row[9], ScaMethod | None),
        messages=msgspec.convert(row[10], tuple[Notice, ...]),
        issues=msgspec.convert(row[11], tuple[Notice, ...]),
        issues_at=row[12],
        consent_until=row[13],
        active_medium=row[14],
        form_session_id=row[15],
        known_products=None if row[16] is None else tuple(row[16]),
        history=History(row[17]),
        wants_statements=row[18],
    )


def _jsonb(value: Any) -> Jsonb:
    return Jsonb(msgspec.to_builtins(value))


async def insert_access(
    connection: Connection,
    user_id: UUID,
    access_id: str,
    provider_id: UUID,
    *,
    is_synced: bool,
    selected_products: Sequence[UUID] | None,
    form_session_id: UUID | None = None,
) -> bool:
    """False when the user has an access of that id already."""
    note_lock(Lock.ACCESS, user_id, access_id)
    selected = None if selected_products is None else list(selected_products)
    cursor = await connection.execute(
        "insert into accesses (user_id, id, provider_id, is_synced, selected_products, form_session_id)"
        " values (%s, %s, %s, %s, %s, %s) on conflict do nothing",
        [user_id, access_id, provider_id, is_synced, selected, form_session_id],
    )
    return cursor.rowcount == 1


async def find_access(connection: Connection, user_id: UUID, access_id: str) -> Access | None:
    cursor = await connection.execute(
        f"select {COLUMNS} from accesses where user_id = %s and id = %s", [user_id, access_id]
    )
    row = await cursor.fetchone()
    return None if row is None else _access(row)


async def lock_access(connection: Connection, user_id: UUID, access_id: str) -> Access | None:
    """As `find_access`, and keeps everybody else from changing it until the end of the transaction."""
    note_lock(Lock.ACCESS, user_id, access_id)
    cursor = await connection.execute(
        f"select {COLUMNS} from accesses where user_id = %s and id = %s for update", [user_id, access_id]
    )
    row = await cursor.fetchone()
    return None if row is None else _access(row)


LOCK_LEASED = f"""
    select {COLUMNS} from accesses, credential_leases l
    where user_id = $1 and id = $2 and l.key = $3 and l.fence = $4 for update of accesses for share of l
"""


async def lock_leased(connection: Connection, user_id: UUID, access_id: str, lease: Lease) -> Access | None:
    """As `lock_access`, while the lease is ours, which it then stays. Nobody takes a lease with an access in hand."""
    note_lock(Lock.ACCESS, user_id, access_id)
    row = await fetch_row(connection, LOCK_LEASED, [user_id, access_id, lease.key, lease.fence])
    return None if row is None else _access(row)


async def list_accesses(connection: Connection, user_id: UUID) -> list[Access]:
    cursor = await connection.execute(
        f"select {COLUMNS} from accesses where user_id = %s order by created_at, id", [user_id]
    )
    return [_access(row) for row in await cursor.fetchall()]


async def find_secrets(connection: Connection, user_id: UUID, access_id: str) -> AccessSecrets | None:
    cursor = await connection.execute(
        "select credentials, credentials_digest, lease_key, memory from accesses where user_id = %s and id = %s",
        [user_id, access_id],
    )
    row = await cursor.fetchone()
    return None if row is None else AccessSecrets(*row)


FIND_CALLABLE = f"""
    select {COLUMNS}, refresh_pause, credentials, credentials_digest, lease_key, memory from accesses a
    where user_id = $1 and id = $2
    and credentials is not null and exists (select 1 from users u where u.id = a.user_id and u.is_active)
    and not exists (select 1 from permissions p where p.user_id = a.user_id and p.access_id = a.id
        and p.ended_at is null and p.usable_until < $3)
"""


async def find_callable(
    connection: Connection, user_id: UUID, access_id: str, today: date
) -> tuple[Access, AccessSecrets, RefreshPause | None] | None:
    """One whose bank can be called: it has credentials, its user is active, and its last day of use is not over."""
    row = await fetch_row(connection, FIND_CALLABLE, [user_id, access_id, today])
    if row is None:
        return None
    return _access(row), AccessSecrets(*row[-4:]), None if row[-5] is None else RefreshPause(row[-5])


async def store_credentials(
    connection: Connection, user_id: UUID, access_id: str, sealed: bytes, digest: bytes, lease_key: bytes
) -> None:
    """New credentials start afresh: the connector's memory and what was said about the old ones are forgotten."""
    await connection.execute(
        "update accesses set credentials = %s, credentials_digest = %s, lease_key = %s, memory = null,"
        " messages = '[]', issues = '[]' where user_id = %s and id = %s",
        [sealed, digest, lease_key, user_id, access_id],
    )


async def forget_credentials(connection: Connection, user_id: UUID, access_id: str) -> None:
    """For data that is not stored permanently."""
    await connection.execute(
        "update accesses set credentials = null, credentials_digest = null, memory = null"
        " where user_id = %s and id = %s",
        [user_id, access_id],
    )


async def change_options(
    connection: Connection,
    user_id: UUID,
    access_id: str,
    *,
    is_synced: bool,
    selected_products: Sequence[UUID] | None,
    wants_statements: bool,
) -> None:
    await connection.execute(
        "update accesses set is_synced = %s, selected_products = %s, wants_statements = %s,"
        " expires_at = case when %s then null else coalesce(expires_at, now() + %s) end"
        " where user_id = %s and id = %s",
        [
            is_synced,
            None if selected_products is None else list(selected_products),
            wants_statements,
            is_synced,
            DATA_LIFETIME,
            user_id,
            access_id,
        ],
    )


async def set_history(connection: Connection, user_id: UUID, access_id: str, history: History) -> None:
    """The caller has locked the access."""
    await connection.execute(
        "update accesses set history = %s where user_id = %s and id = %s", [str(history), user_id, access_id]
    )


async def add_known_products(connection: Connection, user_id: UUID, access_id: str, named: Sequence[UUID]) -> None:
    """Products that the bank has named. The caller has locked the access."""
    await connection.execute(
        "update accesses set known_products = array(select unnest(known_products) union select unnest(%s::uuid[]))"
        " where user_id = %s and id = %s",
        [list(named), user_id, access_id],
    )


async def set_status(connection: Connection, user_id: UUID, access_id: str, status: AccessStatus) -> None:
    await connection.execute(
        "update accesses set status = %s where user_id = %s and id = %s", [str(status), user_id, access_id]
    )


async def store_sca_options(
    connection: Connection,
    user_id: UUID,
    access_id: str,
    methods: Sequence[ScaMethod],
    media: Sequence[ScaMedium],
    active_method: ScaMethod | None,
) -> None:
    await connection.execute(
        "update accesses set methods = %s, media = %s, active_method = coalesce(active_method, %s)"
        " where user_id = %s and id = %s",
        [
            _jsonb(methods),
            _jsonb(media),
            None if active_method is None else _jsonb(active_method),
            user_id,
            access_id,
        ],
    )


async def store_notices(
    connection: Connection, user_id: UUID, access_id: str, messages: Sequence[Notice], issues: Sequence[Notice]
) -> None:
    """What the last attempt has to say: for the user in the access, everything among its issues."""
    await connection.execute(
        "update accesses set messages = %s, issues = %s, issues_at = now() where user_id = %s and id = %s",
        [_jsonb(messages), _jsonb(issues), user_id, access_id],
    )


async def store_success(
    connection: Connection,
    user_id: UUID,
    access_id: str,
    *,
    messages: Sequence[Notice],
    issues: Sequence[Notice],
    connector_state: bytes | None,
    consent_until: date | None,
    today: date,
    expires_at: datetime | None,
) -> None:
    """Everything is there; whatever kept the access from being refreshed is over.

    So is a date that had passed when the bank let us in: nobody knows then how long the consent lasts.
    """
    await connection.execute(
        "update accesses set status = 'COMPLETE', updated_at = now(), messages = %s, issues = %s, issues_at = now(),"
        " memory = %s, consent_until = coalesce(%s, case when consent_until >= %s then consent_until end),"
        " expires_at = %s, refresh_pause = null where user_id = %s and id = %s",
        [_jsonb(messages), _jsonb(issues), connector_state, consent_until, today, expires_at, user_id, access_id],
    )


async def store_dialogue_state(
    connection: Connection,
    user_id: UUID,
    access_id: str,
    lease_key: bytes,
    connector_state: bytes | None,
    consent_until: date | None,
) -> None:
    """What a dialogue has taught before its end, or a payment's, about an access that keeps its credentials."""
    note_lock(Lock.ACCESS, user_id, access_id)
    await connection.execute(
        "update accesses set memory = coalesce(%s, memory), consent_until = coalesce(%s, consent_until)"
        " where user_id = %s and id = %s and lease_key = %s and is_synced and credentials is not null",
        [connector_state, consent_until, user_id, access_id, lease_key],
    )


async def delete_access(connection: Connection, user_id: UUID, access_id: str) -> bool:
    """With its products, and all that belongs to them."""
    note_lock(Lock.DATA_VERSION, user_id)
    await note_removed_products(connection, user_id, access_id)
    # No cascade does this on a cluster, where products are on another node than accesses (ADR 0062).
    cursor = await connection.execute(
        "delete from products where user_id = %s and access_id = %s", [user_id, access_id]
    )
    if cursor.rowcount:
        await increment_version(connection, user_id)
    cursor = await connection.execute("delete from accesses where user_id = %s and id = %s", [user_id, access_id])
    return cursor.rowcount == 1


async def lock_expired(connection: Connection) -> tuple[UUID, str] | None:
    """An access whose data has reached the end of its lifetime. One that somebody is just changing is left.

    Binds the transaction to its user.
    """
    cursor = await connection.execute(
        "select user_id, id from all_accesses where expires_at < now() order by expires_at limit 1"
        " for update skip locked"
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    await bind_transaction(connection, row[0])
    return row[0], row[1]


async def list_with_credentials(connection: Connection, user_id: UUID) -> set[str]:
    """Ids of accesses whose credentials are kept, so that the bank can be called without asking the user."""
    cursor = await connection.execute(
        "select id from accesses where user_id = %s and credentials is not null and is_synced", [user_id]
    )
    return {row[0] for row in await cursor.fetchall()}


# Accesses that are being added in the web form


async def set_form_session(connection: Connection, user_id: UUID, access_id: str, session_id: UUID) -> None:
    """Another session goes on with an access that is not confirmed yet."""
    note_lock(Lock.ACCESS, user_id, access_id)
    await connection.execute(
        "update accesses set form_session_id = %s where user_id = %s and id = %s and form_session_id is not null",
        [session_id, user_id, access_id],
    )


async def confirm_access(
    connection: Connection, user_id: UUID, access_id: str, selected_products: Sequence[UUID] | None
) -> None:
    """The user has chosen: from now on it is customer data."""
    selected = None if selected_products is None else list(selected_products)
    await connection.execute(
        "update accesses set form_session_id = null, selected_products = %s where user_id = %s and id = %s",
        [selected, user_id, access_id],
    )


async def lock_orphan(connection: Connection) -> tuple[UUID, str] | None:
    """An access that is not confirmed, and whose form session is gone. Binds the transaction to its user."""
    cursor = await connection.execute(
        "select a.user_id, a.id from all_accesses a where a.form_session_id is not null"
        " and not exists (select 1 from redirect_sessions s where s.id = a.form_session_id)"
        " limit 1 for update of a skip locked"
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    await bind_transaction(connection, row[0])
    return row[0], row[1]


# What the user authenticates with


async def store_choice(
    connection: Connection, user_id: UUID, access_id: str, method: ScaMethod | None, medium: str | None
) -> None:
    """What the user authenticated with: shown, and used again next time."""
    note_lock(Lock.ACCESS, user_id, access_id)
    await connection.execute(
        "update accesses set active_method = coalesce(%s, active_method), active_medium = coalesce(%s, active_medium)"
        " where user_id = %s and id = %s",
        [None if method is None else _jsonb(method), medium, user_id, access_id],
    )


async def set_expiry(connection: Connection, user_id: UUID, access_id: str, at: datetime) -> None:
    await connection.execute(
        "update accesses set expires_at = %s where user_id = %s and id = %s", [at, user_id, access_id]
    )
