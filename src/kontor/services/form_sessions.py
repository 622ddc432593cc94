"""How a redirect session moves on: each change is made to the session as it stands, under its lock."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from kontor.domain.redirects import Failure, FormSession, FormStep, Reentry, UseCase, find_payment_outcome
from kontor.services import auditing
from kontor.services.accesses import delete_access_data, user_of
from kontor.storage import payments, redirects
from kontor.storage.database import Connection, Database


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

    async def follow(self, session: FormSession, dialogue_id: UUID, **changes: Any) -> FormSession:
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
        return await self.follow(session, dialogue_id, step=FormStep.FAILED, notice=failure)

    async def finish(self, session: FormSession, outcome: Reentry) -> FormSession:
        """End the session, once: the first outcome stands. A new access that came to nothing goes with it."""
        async with self._locked(session) as (connection, current):
            if current.step is FormStep.END:
                return current
            ended = replace(current, step=FormStep.END, outcome=outcome)
            await redirects.save_session(connection, ended)
            if outcome is not Reentry.ACCOUNT_CREATED:
                await drop_own_access(connection, current)
            subject = f"user {current.principal.user_pseudonym} session {current.id} {outcome}"
            await _record(connection, current, "redirect.end", subject)
        return ended

    @asynccontextmanager
    async def _locked(self, session: FormSession) -> AsyncIterator[tuple[Connection, FormSession]]:
        async with self._database.transaction() as connection:
            current = await redirects.lock_session(connection, session.id)
            if current is None:
                raise SessionGoneError
            yield connection, current


async def end_abandoned(connection: Connection, batch: int) -> int:
    """Who closed the form before its end has not agreed to anything: nothing is kept, but what was paid is paid."""
    ended = 0
    for one in await redirects.lock_abandoned(connection, batch):
        outcome = await _find_outcome(connection, one)
        if outcome is not None:
            await redirects.save_session(connection, replace(one, step=FormStep.END, outcome=outcome))
            await drop_own_access(connection, one)
            ended += 1
    return ended


async def _find_outcome(connection: Connection, session: FormSession) -> Reentry | None:
    """None while a payment is with the bank: the next look will know more."""
    if session.payment_id is None:
        return Reentry.SESSION_EXPIRED
    found = await payments.find_payment(connection, user_of(session.principal), session.payment_id)
    return Reentry.SESSION_EXPIRED if found is None else find_payment_outcome(session, found[0])


async def drop_own_access(connection: Connection, session: FormSession) -> None:
    """Only what this session itself has stored: another one may have added the same id, or finished it, meanwhile."""
    if session.use_case is not UseCase.CREATE_ACCOUNT or session.dialogue_id is None:
        return
    if await redirects.is_finished_elsewhere(connection, session):
        return
    if await delete_access_data(connection, user_of(session.principal), session.access_id):
        subject = f"user {session.principal.user_pseudonym} access {session.access_id}"
        await _record(connection, session, "access.delete", subject)


async def _record(connection: Connection, session: FormSession, action: str, subject: str) -> None:
    actor = auditing.name_actor(session.principal)
    await auditing.record(connection, session.principal.tenant_id, actor, action, subject)
