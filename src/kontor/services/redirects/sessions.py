"""How a redirect session moves on: each change is made to the session as it stands, under its lock."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from kontor.domain.principals import user_of
from kontor.domain.redirects import Failure, FormSession, FormStep, RedirectOutcome, find_payment_outcome
from kontor.services.accesses import delete_access_data
from kontor.services.security import auditing
from kontor.storage import accesses, payments, redirects
from kontor.storage.database import Connection, Database
from kontor.storage.user_binding import bind_transaction


class SessionGoneError(Exception):
    """No such session: never was, deleted, or opened in another browser."""


class StaleStepError(Exception):
    """The page was older than the session; the current page is shown instead."""


class FormSessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def reload(self, session: FormSession) -> FormSession:
        async with self._locked(session) as (_, current):
            return current

    @asynccontextmanager
    async def change(self, session: FormSession, *steps: FormStep) -> AsyncIterator[tuple[Connection, FormSession]]:
        """A transaction on the session as it stands; what does not fit its step any more is refused."""
        async with self._locked(session) as (connection, current):
            if current.step not in steps:
                raise StaleStepError
            yield connection, current

    async def advance(self, session: FormSession, dialogue_id: UUID, **changes: Any) -> FormSession:
        """What came of a dialogue, unless the session has left it behind meanwhile."""
        async with self._locked(session) as (connection, current):
            if current.step not in (FormStep.SCA, FormStep.CHECKING) or current.dialogue_id != dialogue_id:
                return current
            changed = replace(current, **changes)
            await redirects.save_session(connection, changed)
        return changed

    async def move(self, session: FormSession, step: FormStep, notice: Failure | None = None) -> FormSession:
        """Where a payment has brought it, unless the session has ended."""
        async with self._locked(session) as (connection, current):
            if current.step is FormStep.END or (current.step, current.notice) == (step, notice):
                return current
            moved = replace(current, step=step, notice=notice)
            await redirects.save_session(connection, moved)
        return moved

    async def fail(self, session: FormSession, dialogue_id: UUID, failure: Failure) -> FormSession:
        return await self.advance(session, dialogue_id, step=FormStep.FAILED, notice=failure)

    async def finish(self, session: FormSession, outcome: RedirectOutcome) -> FormSession:
        """End the session, once: the first outcome stands."""
        async with self._locked(session) as (connection, current):
            return await end_session(connection, current, outcome)

    @asynccontextmanager
    async def _locked(self, session: FormSession) -> AsyncIterator[tuple[Connection, FormSession]]:
        async with self._database.transaction(session.principal.user_id) as connection:
            current = await redirects.lock_session(connection, session.id)
            if current is None:
                raise SessionGoneError
            yield connection, current


async def end_session(connection: Connection, session: FormSession, outcome: RedirectOutcome) -> FormSession:
    """End a locked session. A new access that came to nothing goes with it, unless the user may still go on with it."""
    if session.step is FormStep.END:
        return session
    ended = replace(session, step=FormStep.END, outcome=outcome)
    await redirects.save_session(connection, ended)
    if outcome not in (RedirectOutcome.ACCOUNT_CREATED, RedirectOutcome.SESSION_EXPIRED):
        await drop_own_access(connection, session)
    subject = f"user {session.principal.user_pseudonym} session {session.id} {outcome}"
    await record(connection, session, "redirect.end", subject)
    return ended


async def end_abandoned(connection: Connection, batch: int) -> int:
    """Sessions whose time is over. What was begun in them can be gone on with for a day; what was paid is paid."""
    ended = 0
    for session in await redirects.lock_abandoned(connection, batch):
        await bind_transaction(connection, user_of(session.principal))
        outcome = await _find_outcome(connection, session)
        if outcome is not None:
            await redirects.save_session(connection, replace(session, step=FormStep.END, outcome=outcome))
            ended += 1
    return ended


async def delete_unconfirmed(connection: Connection) -> bool:
    """An access whose accounts nobody has chosen, once its session is no longer kept. False when there is none."""
    orphan = await accesses.lock_orphan(connection)
    return orphan is not None and await delete_access_data(connection, *orphan)


async def _find_outcome(connection: Connection, session: FormSession) -> RedirectOutcome | None:
    """None while a payment is with the bank: the next look will know more."""
    if session.payment_id is None:
        return RedirectOutcome.SESSION_EXPIRED
    found = await payments.find_payment(connection, user_of(session.principal), session.payment_id)
    return RedirectOutcome.SESSION_EXPIRED if found is None else find_payment_outcome(session, found[0])


async def drop_own_access(connection: Connection, session: FormSession) -> None:
    """Only what belongs to this session: another one may have gone on with it, or finished it, meanwhile."""
    access = await accesses.lock_access(connection, user_of(session.principal), session.access_id)
    if access is None or access.form_session_id != session.id:
        return
    await delete_access_data(connection, user_of(session.principal), session.access_id)
    subject = f"user {session.principal.user_pseudonym} access {session.access_id}"
    await record(connection, session, "access.delete", subject)


async def record(connection: Connection, session: FormSession, action: str, subject: str) -> None:
    actor = auditing.name_actor(session.principal)
    await auditing.record(connection, session.principal.tenant_id, actor, action, subject)
