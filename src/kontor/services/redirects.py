"""The redirect frontend's use cases: from the tenant's call to the user's return.

Every method loads the session anew and locks it while it decides: a reload, the back button or a second tab meets the
session where it stands now, never where the page thought it was.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from kontor.domain.accesses import AccessStatus, NoticeKind
from kontor.domain.callbacks import CallbackRules, add_to_query, check_callback
from kontor.domain.errors import BusyError, InvalidError, NotFoundError
from kontor.domain.principals import Principal
from kontor.domain.providers import Provider
from kontor.domain.redirects import FormSession, FormStep, Look, Reentry, UseCase
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.domain.secrets import Secret
from kontor.services import auditing
from kontor.services.accesses import Accesses, AccessRequest, AccessView
from kontor.services.consents import ConsentOptions, Consents, ConsentView, NotOpenError, make_answer
from kontor.services.providers import Providers, find_missing_fields
from kontor.services.tenants import hash_secret
from kontor.storage import redirects, tenants
from kontor.storage.database import Connection, Database

SESSION_LIFETIME = timedelta(minutes=15)
MAX_WRONG_LOGINS = 3


class SessionGoneError(Exception):
    """No such session: never was, deleted, or opened in another browser."""


@dataclass(frozen=True, slots=True)
class FormView:
    """All that a page needs to know."""

    session: FormSession
    look: Look
    provider: Provider | None = None
    consent: ConsentView | None = None
    access: AccessView | None = None


class Redirects:
    def __init__(
        self,
        database: Database,
        providers: Providers,
        accesses: Accesses,
        consents: Consents,
        *,
        return_url: str,
        is_loopback_allowed: bool,
    ) -> None:
        self._database = database
        self._providers = providers
        self._accesses = accesses
        self._consents = consents
        self._return_url = return_url
        self._is_loopback_allowed = is_loopback_allowed

    # The tenant's side

    async def check_callback(self, principal: Principal, url: str) -> str:
        """The URL, when the tenant's allow-list has it; else InvalidError."""
        async with self._database.connect() as connection:
            return check_callback(url, await self._rules(connection, principal.tenant_name))

    async def start_session(
        self, principal: Principal, use_case: UseCase, access_id: str, callback_url: str | None, customer_ip: str | None
    ) -> Secret:
        """A session for the user; the handle that is returned opens it once."""
        handle = Secret(secrets.token_urlsafe(32))
        session = FormSession(
            id=uuid4(),
            principal=principal,
            use_case=use_case,
            access_id=access_id,
            callback_url=callback_url,
            step=FormStep.LEGAL,
            expires_at=datetime.now(UTC) + SESSION_LIFETIME,
            customer_ip=customer_ip,
        )
        async with self._database.transaction() as connection:
            await redirects.insert_session(connection, session, hash_secret(handle.reveal()))
            actor = auditing.name_actor(principal)
            subject = f"user {principal.user_pseudonym} session {session.id} {use_case}"
            await auditing.record(connection, principal.tenant_id, actor, "redirect.start", subject)
        return handle

    async def delete_sessions(self, principal: Principal) -> None:
        assert principal.user_id is not None
        async with self._database.transaction() as connection:
            await redirects.delete_sessions(connection, principal.user_id)
            actor = auditing.name_actor(principal)
            subject = f"user {principal.user_pseudonym}"
            await auditing.record(connection, principal.tenant_id, actor, "redirect.delete", subject)

    # The browser's side: opening

    async def open_session(self, handle: Secret, appended_callback: str | None, *, is_framed: bool) -> Secret:
        """Exchange the handle for a cookie. It works once: afterwards the URL is useless to anyone else."""
        cookie = Secret(secrets.token_urlsafe(32))
        async with self._database.transaction() as connection:
            found = await redirects.lock_by_handle(connection, hash_secret(handle.reveal()))
            if found is None:
                raise SessionGoneError
            session, was_opened = found
            if was_opened:
                raise SessionGoneError
            chosen, problem = await self._choose_callback(connection, session, appended_callback)
            await redirects.open_session(
                connection, session.id, hash_secret(cookie.reveal()), chosen, is_framed=is_framed
            )
            if problem is not None:
                await redirects.save_session(connection, replace(session, step=FormStep.END, outcome=problem))
            else:
                await redirects.save_session(connection, await self._first_step(connection, session))
        return cookie

    async def _choose_callback(
        self, connection: Connection, session: FormSession, appended: str | None
    ) -> tuple[str | None, Reentry | None]:
        """The appended address wins over the stored one, and is checked like it."""
        if appended is None:
            return None, None if session.callback_url is not None else Reentry.NO_CALLBACK_URL
        try:
            return check_callback(appended, await self._rules(connection, session.principal.tenant_name)), None
        except InvalidError:
            return None, Reentry.INVALID_CALLBACK_URL

    async def _first_step(self, connection: Connection, session: FormSession) -> FormSession:
        look = await redirects.find_look(connection, session.principal.tenant_id)
        assert session.principal.user_id is not None
        if not await redirects.has_accepted(connection, session.principal.user_id, _acceptance(look)):
            return replace(session, step=FormStep.LEGAL)
        return _after_legal(session)

    async def find_session(self, cookie: Secret | None) -> FormSession:
        if cookie is None:
            raise SessionGoneError
        async with self._database.connect() as connection:
            session = await redirects.find_by_cookie(connection, hash_secret(cookie.reveal()))
        if session is None:
            raise SessionGoneError
        if session.step is not FormStep.END and session.expires_at < datetime.now(UTC):
            return await self.finish(session, Reentry.SESSION_EXPIRED)
        return session

    async def view(self, session: FormSession) -> FormView:
        """What the page of the session's current step shows. Starts what can start without a click."""
        if session.step is FormStep.SCA and session.dialogue_id is None:
            session = await self._start_consent(session)
        if session.step is FormStep.FETCHING:
            session = await self._follow_fetch(session)
        async with self._database.connect() as connection:
            look = await redirects.find_look(connection, session.principal.tenant_id)
        provider = None if session.provider_id is None else self._providers.find(session.provider_id)
        consent = None
        if session.step is FormStep.SCA and session.dialogue_id is not None:
            consent = await self._consents.read_consent(session.principal, session.dialogue_id)
        return FormView(session, look, provider, consent, await self._find_access(session))

    # The browser's side: what the user does

    async def accept_legal(self, session: FormSession) -> None:
        async with self._change(session, FormStep.LEGAL) as (connection, current):
            look = await redirects.find_look(connection, current.principal.tenant_id)
            assert current.principal.user_id is not None
            await redirects.accept(connection, current.principal.user_id, _acceptance(look))
            await redirects.save_session(connection, _after_legal(current))

    async def decline_legal(self, session: FormSession) -> None:
        await self.finish(session, Reentry.LEGAL_NOT_ACCEPTED)

    async def choose_provider(self, session: FormSession, provider_id: UUID) -> None:
        if self._providers.find(provider_id) is None:
            raise InvalidError("there is no such bank", "provider")
        async with self._change(session, FormStep.PROVIDER) as (connection, current):
            chosen = replace(current, step=FormStep.CREDENTIALS, provider_id=provider_id, notice=None)
            await redirects.save_session(connection, chosen)

    async def go_back(self, session: FormSession) -> None:
        """From the credentials to the choice of the bank."""
        async with self._change(session, FormStep.CREDENTIALS) as (connection, current):
            if current.use_case is UseCase.CREATE_ACCOUNT:
                await redirects.save_session(connection, replace(current, step=FormStep.PROVIDER, notice=None))

    async def submit_credentials(self, session: FormSession, credentials: dict[str, Secret]) -> list[str]:
        """Labels of fields that are missing or malformed; empty when the bank is being asked."""
        provider = None if session.provider_id is None else self._providers.find(session.provider_id)
        if provider is None or session.step is not FormStep.CREDENTIALS:
            return []
        missing = find_missing_fields(provider, credentials)
        if missing:
            return missing
        request = AccessRequest(provider.id, None, True)
        await self._accesses.store_opened_access(session.principal, session.access_id, request, credentials)
        async with self._change(session, FormStep.CREDENTIALS) as (connection, current):
            await redirects.save_session(connection, replace(current, step=FormStep.SCA, dialogue_id=None, notice=None))
        return []

    async def answer(self, session: FormSession, kind: AnswerKind, value: str) -> None:
        """An SCA answer from the page. One that comes too late or twice just shows where things stand."""
        if session.step is not FormStep.SCA or session.dialogue_id is None:
            return
        try:
            view = await self._consents.answer(session.principal, session.dialogue_id, kind, make_answer(kind, value))
        except NotOpenError as error:
            view = error.view
        except (InvalidError, BusyError):
            return
        await self._follow_consent(session, view)

    async def confirm_accounts(self, session: FormSession, chosen: list[UUID]) -> bool:
        """Keep the chosen products and finish. False when none was chosen."""
        if not chosen or session.step is not FormStep.ACCOUNTS:
            return False
        await self._accesses.select_products(session.principal, session.access_id, chosen)
        await self.finish(session, Reentry.ACCOUNT_CREATED)
        return True

    async def cancel(self, session: FormSession) -> None:
        """The user gives up; a new access that came to nothing goes with the session."""
        if session.step is FormStep.SCA and session.dialogue_id is not None:
            await self.answer(session, AnswerKind.CANCEL, "")
        await self.finish(session, Reentry.USER_CANCELLED)

    async def finish(self, session: FormSession, outcome: Reentry) -> FormSession:
        """End the session, once: the first outcome stands."""
        async with self._database.transaction() as connection:
            current = await redirects.lock_session(connection, session.id)
            if current is None:
                raise SessionGoneError
            if current.step is FormStep.END:
                return current
            ended = replace(current, step=FormStep.END, outcome=outcome)
            await redirects.save_session(connection, ended)
            subject = f"user {current.principal.user_pseudonym} session {current.id} {outcome}"
            actor = auditing.name_actor(current.principal)
            await auditing.record(connection, current.principal.tenant_id, actor, "redirect.end", subject)
        # Only what this session itself has stored: another one may have added the same id meanwhile.
        is_new = ended.use_case is UseCase.CREATE_ACCOUNT and ended.dialogue_id is not None
        if is_new and outcome is not Reentry.ACCOUNT_CREATED:
            await self._remove_unfinished(session)
        return ended

    def target(self, session: FormSession) -> str | None:
        """Where the user goes at the end; None where there is no safe place."""
        if session.outcome is None or not session.outcome.has_safe_target or session.callback_url is None:
            return None
        return add_to_query(session.callback_url, baReentry=str(session.outcome), accessId=session.access_id)

    # Parts

    @asynccontextmanager
    async def _change(self, session: FormSession, step: FormStep) -> AsyncIterator[tuple[Connection, FormSession]]:
        """A transaction on the session as it stands; what does not fit its step any more is dropped silently."""
        async with self._database.transaction() as connection:
            current = await redirects.lock_session(connection, session.id)
            if current is None:
                raise SessionGoneError
            if current.step is not step:
                raise StaleStepError
            yield connection, current

    async def _save(self, session: FormSession) -> FormSession:
        async with self._database.transaction() as connection:
            current = await redirects.lock_session(connection, session.id)
            if current is None:
                raise SessionGoneError
            if current.step is FormStep.END:
                return current
            await redirects.save_session(connection, session)
        return session

    async def _start_consent(self, session: FormSession) -> FormSession:
        options = ConsentOptions(session.customer_ip, self._return_url)
        try:
            view = await self._consents.start_consent(session.principal, session.access_id, None, options)
        except NotFoundError:
            return await self.finish(session, Reentry.ERROR)
        except (InvalidError, BusyError):
            return await self.finish(session, Reentry.BACKEND_ERROR)
        return await self._follow_consent(replace(session, dialogue_id=view.dialogue.id), view)

    async def _follow_consent(self, session: FormSession, view: ConsentView) -> FormSession:
        """From the dialogue's state to the form's step."""
        state = view.dialogue.position.state
        if state is ScaState.GIVEN:
            return await self._save(replace(session, step=FormStep.FETCHING))
        if state.is_open:
            return await self._save(session)
        if view.dialogue.is_last_tan_wrong:
            return await self.finish(session, Reentry.INVALID_TAN)
        return await self._follow_refusal(session)

    async def _follow_refusal(self, session: FormSession) -> FormSession:
        """The bank refused: wrong credentials may be corrected twice, everything else is the end of this attempt."""
        access = await self._find_access(session)
        kinds = {one.kind for one in access.access.issues} if access is not None else set()
        if NoticeKind.LOCKED in kinds:
            return await self.finish(session, Reentry.INVALID_CREDENTIALS)
        if NoticeKind.WRONG_CREDENTIALS in kinds:
            wrong = session.wrong_logins + 1
            if wrong >= MAX_WRONG_LOGINS:
                return await self.finish(session, Reentry.INVALID_CREDENTIALS)
            return await self._save(
                replace(
                    session,
                    step=FormStep.CREDENTIALS,
                    dialogue_id=None,
                    wrong_logins=wrong,
                    notice="wrong_credentials",
                    provider_id=session.provider_id or (access.access.provider_id if access else None),
                )
            )
        if kinds & {NoticeKind.UNREACHABLE, NoticeKind.INTERNAL}:
            return await self._save(replace(session, dialogue_id=session.dialogue_id, notice="unreachable"))
        return await self._save(replace(session, notice="refused"))

    async def retry(self, session: FormSession) -> None:
        """After a bank that could not be reached, or an attempt that was cancelled: begin the dialogue again."""
        async with self._change(session, FormStep.SCA) as (connection, current):
            await redirects.save_session(connection, replace(current, dialogue_id=None, notice=None))

    async def give_up(self, session: FormSession) -> None:
        """The user goes back after a failure that is not their own."""
        await self.finish(session, Reentry.BACKEND_ERROR)

    async def _follow_fetch(self, session: FormSession) -> FormSession:
        access = await self._find_access(session)
        if access is None:
            return await self.finish(session, Reentry.ERROR)
        if session.use_case is UseCase.AUTHENTICATE_ACCOUNT:
            return await self.finish(session, Reentry.FINISHED)
        if access.access.status is AccessStatus.STARTED:
            return session
        return await self._save(replace(session, step=FormStep.ACCOUNTS))

    async def _find_access(self, session: FormSession) -> AccessView | None:
        try:
            return await self._accesses.read_access(session.principal, session.access_id)
        except NotFoundError:
            return None

    async def _remove_unfinished(self, session: FormSession) -> None:
        try:
            await self._accesses.delete_access(session.principal, session.access_id)
        except NotFoundError:
            return

    async def _rules(self, connection: Connection, tenant_name: str) -> CallbackRules:
        tenant = await tenants.find_tenant(connection, tenant_name)
        assert tenant is not None
        return CallbackRules(tenant.callback_bases, tenant.is_any_callback_allowed, self._is_loopback_allowed)


class StaleStepError(Exception):
    """The page was older than the session; the current page is shown instead."""


def _after_legal(session: FormSession) -> FormSession:
    is_new = session.use_case is UseCase.CREATE_ACCOUNT
    return replace(session, step=FormStep.PROVIDER if is_new else FormStep.SCA)


def _acceptance(look: Look) -> str:
    """A new version of a tenant's text is asked for again."""
    return f"{look.tenant_name} {look.legal_version}"
