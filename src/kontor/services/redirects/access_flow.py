"""Adding an access, or renewing its consent, in the web form."""

import asyncio
import time
from dataclasses import replace
from uuid import UUID, uuid4

from kontor.domain.accesses import NoticeKind
from kontor.domain.errors import InvalidError
from kontor.domain.principals import user_of
from kontor.domain.redirects import Branding, Failure, FormSession, FormStep, RedirectOutcome, UseCase
from kontor.domain.sca_machine import AnswerKind
from kontor.domain.secrets import Secret
from kontor.services.accesses import Accesses
from kontor.services.banks import Providers, find_missing_fields
from kontor.services.redirects.accounts import FormAccounts
from kontor.services.redirects.dialogues import FormDialogues
from kontor.services.redirects.sessions import FormSessions, StaleStepError, drop_own_access
from kontor.services.redirects.views import AccessFormView, FormView
from kontor.storage import accesses, redirects
from kontor.storage.database import Connection

RENEWAL_PATIENCE_SECONDS = 5  # a bank that takes longer lets the user go all the same
RENEWAL_POLL_SECONDS = 0.2
REFUSED = (NoticeKind.WRONG_CREDENTIALS, NoticeKind.INCOMPLETE_CREDENTIALS)


class AccessFlow:
    def __init__(
        self,
        sessions: FormSessions,
        providers: Providers,
        accesses: Accesses,
        accounts: FormAccounts,
        dialogues: FormDialogues,
    ) -> None:
        self._sessions = sessions
        self._providers = providers
        self._accesses = accesses
        self._accounts = accounts
        self._dialogues = dialogues

    # As every flow

    async def prepare(self, connection: Connection, session: FormSession) -> FormSession:
        """Goes on with an access that was begun and is not confirmed; earlier sessions of it end."""
        await self._accounts.replace_sessions(connection, session)
        return session

    async def find_first_step(self, connection: Connection, session: FormSession) -> FormSession:
        if session.use_case is UseCase.CREATE_ACCOUNT:
            return await self._accounts.find_step(connection, session)
        access = await accesses.find_access(connection, user_of(session.principal), session.access_id)
        if access is not None and any(message.kind in REFUSED for message in access.messages):
            # The bank has refused what is stored: another login with it would only count as wrong again.
            provider_id, notice = access.provider_id, Failure.WRONG_CREDENTIALS
            return replace(session, step=FormStep.CREDENTIALS, provider_id=provider_id, notice=notice)
        return replace(session, step=FormStep.SCA)

    async def view(self, session: FormSession, branding: Branding) -> FormView:
        consent = None
        if session.step is FormStep.SCA:
            session, consent = await self._dialogues.advance(session)
        if session.step is FormStep.FETCHING:
            session = await self._advance_after_fetch(session)
        access = await self._accesses.find_for_form(session.principal, session.access_id)
        provider_id = session.provider_id or (access.access.provider_id if access else None)
        return AccessFormView(
            session=session,
            branding=branding,
            provider=None if provider_id is None else self._providers.find(provider_id),
            access=access,
            consent=consent,
            offered=await self._accounts.list_offered(session) if session.step is FormStep.ACCOUNTS else (),
        )

    async def answer(self, session: FormSession, kind: AnswerKind, value: str, seen_wrong_tans: int | None) -> None:
        await self._dialogues.answer(session, kind, value, seen_wrong_tans)

    async def retry(self, session: FormSession) -> None:
        """Begin another dialogue with the same credentials."""
        async with self._sessions.change(session, FormStep.FAILED, FormStep.SCA) as (connection, current):
            if current.notice is not None and not current.notice.can_retry:
                raise StaleStepError
            again = replace(current, step=FormStep.SCA, dialogue_id=uuid4(), notice=None)
            await redirects.save_session(connection, again)

    async def leave(self, session: FormSession, reason: RedirectOutcome) -> None:
        """After a failure with its outcome, otherwise with the reason that is given."""
        if session.step is FormStep.FAILED and session.notice is not None:
            reason = session.notice.outcome
        elif session.step is FormStep.SCA:
            await self._dialogues.cancel(session)
        await self._sessions.finish(session, reason)

    async def expire(self, session: FormSession) -> FormSession:
        return await self._sessions.finish(session, RedirectOutcome.SESSION_EXPIRED)

    # What only an access has

    async def choose_again(self, session: FormSession) -> None:
        """Back to the choice of the bank; what was stored for the bank chosen before is removed."""
        async with self._sessions.change(session, FormStep.CREDENTIALS, FormStep.FAILED) as (connection, current):
            if current.use_case is not UseCase.CREATE_ACCOUNT:
                raise StaleStepError
            await drop_own_access(connection, current)
            chosen = replace(current, step=FormStep.PROVIDER, notice=None, dialogue_id=None)
            await redirects.save_session(connection, chosen)

    async def submit_credentials(self, session: FormSession, credentials: dict[str, Secret]) -> list[str]:
        """Labels of fields that are missing or malformed; empty when the bank is being asked."""
        provider = None if session.provider_id is None else self._providers.find(session.provider_id)
        if provider is None:
            raise StaleStepError
        missing = find_missing_fields(provider, credentials)
        if missing:
            return missing
        try:
            async with self._sessions.change(session, FormStep.CREDENTIALS) as (connection, current):
                if current.provider_id != provider.id:
                    raise StaleStepError
                begun = await self._accounts.take_up(connection, current, provider, credentials)
                if begun is None:
                    await self._accesses.store_opened_access(
                        connection,
                        current.principal,
                        current.access_id,
                        provider,
                        credentials,
                        current.id,
                        current.options,
                    )
                    begun = replace(current, step=FormStep.SCA, dialogue_id=uuid4(), notice=None)
                await redirects.save_session(connection, begun)
            self._accesses.permissions.uses.forget(user_of(session.principal))
        except InvalidError:
            await self._sessions.finish(session, RedirectOutcome.ERROR)
        return []

    async def confirm_accounts(self, session: FormSession, chosen: set[UUID]) -> bool:
        """Keep the chosen accounts and finish. False when there is something to choose and nothing was chosen."""
        return await self._accounts.confirm(session, chosen)

    # Parts

    async def _advance_after_fetch(self, session: FormSession) -> FormSession:
        assert session.dialogue_id is not None
        if session.use_case is UseCase.AUTHENTICATE_ACCOUNT:
            await self._await_renewal(session)
            return await self._sessions.finish(session, RedirectOutcome.FINISHED)
        return await self._accounts.advance_after_fetch(session)

    async def _await_renewal(self, session: FormSession) -> None:
        """The need for SCA goes with the fetch that follows, and the tenant looks as soon as the user is back."""
        end = time.monotonic() + RENEWAL_PATIENCE_SECONDS
        while time.monotonic() < end:
            access = await self._accesses.find_for_form(session.principal, session.access_id)
            if access is None or not access.needs_sca:
                return
            await asyncio.sleep(RENEWAL_POLL_SECONDS)
