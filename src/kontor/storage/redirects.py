"""Redirect sessions, legal acceptance, and the branding of tenants."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from kontor.domain.accesses import History
from kontor.domain.principals import Principal
from kontor.domain.redirects import Branding, Failure, FormOptions, FormSession, FormStep, RedirectOutcome, UseCase
from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock

COLUMNS = (
    "s.id, s.tenant_id, t.name, t.is_regulated, s.user_id, u.pseudonym, s.use_case, s.access_id,"
    " coalesce(s.appended_callback_url, s.callback_url), s.step, s.expires_at, s.provider_id, s.dialogue_id,"
    " s.wrong_logins, s.notice, s.is_framed, s.outcome, s.customer_ip, s.payment_id,"
    " s.is_source_fixed, s.checking_at, s.is_payee_matched, s.asks_settings, s.history, s.selected_products,"
    " s.language, s.created_at, s.purpose, s.usable_until"
)
JOINS = "redirect_sessions s join tenants t on t.id = s.tenant_id join users u on u.id = s.user_id and u.is_active"


def _session(row: Sequence[Any]) -> FormSession:
    principal = Principal(row[1], row[2], row[3], UUID(int=0), "webform", frozenset(), row[4], row[5])
    return FormSession(
        id=row[0],
        principal=principal,
        use_case=UseCase(row[6]),
        access_id=row[7],
        callback_url=row[8],
        step=FormStep(row[9]),
        expires_at=row[10],
        provider_id=row[11],
        dialogue_id=row[12],
        wrong_logins=row[13],
        notice=None if row[14] is None else Failure(row[14]),
        is_framed=row[15],
        outcome=None if row[16] is None else RedirectOutcome(row[16]),
        customer_ip=row[17],
        payment_id=row[18],
        is_source_fixed=row[19],
        checking_at=row[20],
        is_payee_matched=row[21],
        options=FormOptions(
            asks_settings=row[22],
            history=None if row[23] is None else History(row[23]),
            selected_products=None if row[24] is None else tuple(row[24]),
            language=row[25],
            purpose=row[27],
            usable_until=row[28],
        ),
        created_at=row[26],
    )


async def insert_session(connection: Connection, session: FormSession, handle_hash: bytes) -> None:
    options = session.options
    await connection.execute(
        "insert into redirect_sessions (id, handle_hash, tenant_id, user_id, use_case, access_id, callback_url,"
        " customer_ip, step, expires_at, payment_id, is_source_fixed, asks_settings, history, selected_products,"
        " language, purpose, usable_until)"
        " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            session.id,
            handle_hash,
            session.principal.tenant_id,
            session.principal.user_id,
            str(session.use_case),
            session.access_id,
            session.callback_url,
            session.customer_ip,
            str(session.step),
            session.expires_at,
            session.payment_id,
            session.is_source_fixed,
            options.asks_settings,
            None if options.history is None else str(options.history),
            None if options.selected_products is None else list(options.selected_products),
            options.language,
            options.purpose,
            options.usable_until,
        ],
    )


async def lock_by_handle(connection: Connection, handle_hash: bytes) -> tuple[FormSession, bool] | None:
    """The session of a handle, and whether it was opened before."""
    cursor = await connection.execute(
        f"select s.cookie_hash is not null, {COLUMNS} from {JOINS} where s.handle_hash = %s for update of s",
        [handle_hash],
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    note_lock(Lock.FORM_SESSION, row[1])
    return _session(row[1:]), row[0]


async def open_session(
    connection: Connection, session_id: UUID, cookie_hash: bytes, appended_callback: str | None, *, is_framed: bool
) -> None:
    await connection.execute(
        "update redirect_sessions set cookie_hash = %s, appended_callback_url = %s, is_framed = %s, used_at = now()"
        " where id = %s",
        [cookie_hash, appended_callback, is_framed, session_id],
    )


async def find_by_cookie(connection: Connection, cookie_hash: bytes) -> FormSession | None:
    cursor = await connection.execute(f"select {COLUMNS} from {JOINS} where s.cookie_hash = %s", [cookie_hash])
    row = await cursor.fetchone()
    return None if row is None else _session(row)


async def find_session(connection: Connection, session_id: UUID) -> FormSession | None:
    cursor = await connection.execute(f"select {COLUMNS} from {JOINS} where s.id = %s", [session_id])
    row = await cursor.fetchone()
    return None if row is None else _session(row)


async def lock_session(connection: Connection, session_id: UUID) -> FormSession | None:
    note_lock(Lock.FORM_SESSION, session_id)
    cursor = await connection.execute(f"select {COLUMNS} from {JOINS} where s.id = %s for update of s", [session_id])
    row = await cursor.fetchone()
    return None if row is None else _session(row)


async def save_session(connection: Connection, session: FormSession) -> None:
    note_lock(Lock.FORM_SESSION, session.id)
    await connection.execute(
        "update redirect_sessions set step = %s, provider_id = %s, dialogue_id = %s, wrong_logins = %s, notice = %s,"
        " outcome = %s, checking_at = %s, is_payee_matched = %s, used_at = now() where id = %s",
        [
            str(session.step),
            session.provider_id,
            session.dialogue_id,
            session.wrong_logins,
            None if session.notice is None else str(session.notice),
            None if session.outcome is None else str(session.outcome),
            session.checking_at,
            session.is_payee_matched,
            session.id,
        ],
    )


async def lock_abandoned(connection: Connection, batch: int) -> list[FormSession]:
    """Sessions that ran out before they came to an end."""
    cursor = await connection.execute(
        f"select {COLUMNS} from {JOINS} where s.expires_at < now() and s.step <> 'END' order by s.id limit %s"
        " for update of s skip locked",
        [batch],
    )
    return [_session(row) for row in await cursor.fetchall()]


async def list_sessions(connection: Connection, user_id: UUID, session_id: UUID | None = None) -> list[FormSession]:
    """Those of the user that are kept, the newest first; or the one of this id."""
    cursor = await connection.execute(
        f"select {COLUMNS} from {JOINS} where s.user_id = %(user)s and (%(id)s::uuid is null or s.id = %(id)s)"
        " order by s.created_at desc, s.id",
        {"user": user_id, "id": session_id},
    )
    return [_session(row) for row in await cursor.fetchall()]


OWNS_ACCESS = "exists (select 1 from accesses a where a.user_id = s.user_id and a.form_session_id = s.id)"


async def lock_sessions(connection: Connection, user_id: UUID) -> list[tuple[FormSession, bool]]:
    """All sessions of the user, and whether an access is being added in them."""
    cursor = await connection.execute(
        f"select {OWNS_ACCESS}, {COLUMNS} from {JOINS} where s.user_id = %s order by s.id for update of s", [user_id]
    )
    rows = await cursor.fetchall()
    for row in rows:
        note_lock(Lock.FORM_SESSION, row[1])
    return [(_session(row[1:]), row[0]) for row in rows]


async def lock_sessions_of_access(connection: Connection, user_id: UUID, access_id: str) -> list[FormSession]:
    """Sessions that are not over, and add this access."""
    cursor = await connection.execute(
        f"select {COLUMNS} from {JOINS} where s.user_id = %s and s.access_id = %s and s.use_case = 'CREATE_ACCOUNT'"
        " and s.step <> 'END' order by s.id for update of s",
        [user_id, access_id],
    )
    sessions = [_session(row) for row in await cursor.fetchall()]
    for session in sessions:
        note_lock(Lock.FORM_SESSION, session.id)
    return sessions


async def delete_sessions(connection: Connection, user_id: UUID, session_ids: Sequence[UUID]) -> None:
    """The caller has locked them."""
    await connection.execute(
        "delete from redirect_sessions where user_id = %s and id = any(%s)", [user_id, list(session_ids)]
    )


async def delete_old_sessions(connection: Connection, batch: int) -> int:
    """A day after they ran out: until then a user who comes late is told so, or goes on in another session."""
    cursor = await connection.execute(
        "delete from redirect_sessions where id in"
        " (select id from redirect_sessions where expires_at < now() - interval '24 hours' limit %s"
        " for update skip locked)",
        [batch],
    )
    return cursor.rowcount


# Legal acceptance


async def has_accepted(connection: Connection, user_id: UUID, version: str) -> bool:
    cursor = await connection.execute(
        "select 1 from legal_acceptances where user_id = %s and version = %s", [user_id, version]
    )
    return await cursor.fetchone() is not None


async def accept(connection: Connection, user_id: UUID, version: str) -> None:
    await connection.execute(
        "insert into legal_acceptances (user_id, version) values (%s, %s) on conflict do nothing", [user_id, version]
    )


# Looks

# Beside the colours, in their column: the version before draws no colour of this name.
NOTES = "notes"


async def find_branding(connection: Connection, tenant_id: UUID) -> Branding:
    cursor = await connection.execute(
        "select name, display_name, logo is not null, colours, legal_text, coalesce(legal_version, '1'), frame_origins"
        " from tenants where id = %s",
        [tenant_id],
    )
    row = await cursor.fetchone()
    assert row is not None
    notes = row[3].pop(NOTES, {})
    colours = tuple(sorted(row[3].items()))
    return Branding(row[0], row[1], row[2], colours, row[4], row[5], tuple(row[6]), tuple(sorted(notes.items())))


async def find_logo(connection: Connection, tenant_name: str) -> bytes | None:
    cursor = await connection.execute("select logo from tenants where name = %s", [tenant_name])
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def store_branding(
    connection: Connection,
    tenant_id: UUID,
    *,
    display_name: str | None,
    logo: bytes | None,
    colours: dict[str, str],
    notes: dict[str, str],
    legal_text: str | None,
    legal_version: str | None,
    frame_origins: Sequence[str],
) -> None:
    await connection.execute(
        "update tenants set display_name = %s, logo = %s, colours = %s, legal_text = %s, legal_version = %s,"
        " frame_origins = %s where id = %s",
        [
            display_name,
            logo,
            Jsonb(colours | ({NOTES: notes} if notes else {})),
            legal_text,
            legal_version,
            list(frame_origins),
            tenant_id,
        ],
    )
