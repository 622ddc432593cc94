"""The redirect frontend's use cases: from the tenant's call to the user's return.

Every method loads the session anew and locks it while it decides: a reload, the back button or a second tab meets the
session where it stands now, never where the page thought it was.
"""

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.domain.providers import Provider
from kontor.domain.redirects import Branding, FormOptions, FormSession, FormStep, RedirectOutcome, UseCase
from kontor.domain.sca_machine import AnswerKind
from kontor.domain.secrets import Secret
from kontor.services.accesses import Accesses, AccessView
from kontor.services.banks import Providers
from kontor.services.fetching import FetchResults
from kontor.services.payments import PaymentDrafts, Payments
from kontor.services.redirects.access_flow import AccessFlow
from kontor.services.redirects.accounts import FormAccounts
from kontor.services.redirects.callbacks import FormCallbacks, find_target
from kontor.services.redirects.dialogues import FormDialogues
from kontor.services.redirects.flows import FormFlow
from kontor.services.redirects.payment_flow import PaymentFlow
from kontor.services.redirects.payments import FormPayments
from kontor.services.redirects.sessions import FormSessions, SessionGoneError, end_session
from kontor.services.redirects.views import FormView
from kontor.services.sca import Consents
from kontor.services.security import auditing, hash_secret
from kontor.storage import redirects
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts
from kontor.storage.user_binding import bind_transaction

SESSION_LIFETIME = timedelta(minutes=15)
NO_OPTIONS = FormOptions()


class Redirects:
    """What only one kind of session has is done by `accesses` and `payments`, which the pages use directly."""

    def __init__(
        self,
        database: Database,
        providers: Providers,
        added: Accesses,
        consents: Consents,
        results: FetchResults,
        paying: Payments,
        drafts: PaymentDrafts,
        *,
        return_url: str,
        is_loopback_allowed: bool,
    ) -> None:
        self._database = database
        self._providers = providers
        self._added = added
        self._sessions = FormSessions(database)
        self._accounts = FormAccounts(database, self._sessions, added, results)
        dialogues = FormDialogues(self._sessions, added, consents, return_url)
        self.accesses = AccessFlow(self._sessions, providers, added, self._accounts, dialogues)
        self.payments = FormPayments(self._sessions, drafts, paying, return_url)
        self._flows: dict[UseCase, FormFlow] = {
            UseCase.CREATE_ACCOUNT: self.accesses,
            UseCase.AUTHENTICATE_ACCOUNT: self.accesses,
            UseCase.INITIATE_PAYMENT: PaymentFlow(providers, added, self.payments),
        }
        self._callbacks = FormCallbacks(database, is_loopback_allowed=is_loopback_allowed)

    # The tenant's side

    async def check_callback(self, principal: Principal, url: str) -> str:
        """The URL, when the tenant's allow-list has it; else InvalidError."""
        return await self._callbacks.check(principal, url)

    async def start_session(
        self,
        principal: Principal,
        use_case: UseCase,
        access_id: str,
        callback_url: str | None,
        customer_ip: str | None,
        payment_id: UUID | None = None,
        options: FormOptions = NO_OPTIONS,
    ) -> Secret:
        """A session for the user; the handle that is returned opens it once.

        For an access that was begun and is not confirmed it goes on with that; earlier sessions of it end.
        """
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
            payment_id=payment_id,
            options=options,
        )
        async with self._database.transaction(principal.user_id) as connection:
            session = await self._flows[use_case].prepare(connection, session)
            await redirects.insert_session(connection, session, hash_secret(handle.reveal()))
            actor = auditing.name_actor(principal)
            subject = f"user {principal.user_pseudonym} session {session.id} {use_case}"
            await auditing.record(connection, principal.tenant_id, actor, "redirect.start", subject)
        return handle

    async def list_sessions(self, principal: Principal) -> list[FormSession]:
        """Those of the user that are kept, the newest first."""
        async with self._database.connect(principal.user_id) as connection:
            return await redirects.list_sessions(connection, user_of(principal))

    async def read_session(self, principal: Principal, session_id: UUID) -> FormSession:
        async with self._database.connect(principal.user_id) as connection:
            found = await redirects.list_sessions(connection, user_of(principal), session_id)
        if not found:
            raise NotFoundError
        return found[0]

    @retry_conflicts
    async def delete_sessions(self, principal: Principal, session_id: UUID | None = None) -> None:
        """All sessions of the user, or one. An access that was begun stays: another session can go on with it."""
        assert principal.user_id is not None
        async with self._database.transaction(principal.user_id) as connection:
            found = await redirects.lock_sessions(connection, principal.user_id)
            if session_id is not None:
                found = [(session, owns_access) for session, owns_access in found if session.id == session_id]
                if not found:
                    raise NotFoundError
            for session, owns_access in found:
                if owns_access:  # it can be gone on with from there
                    await end_session(connection, session, RedirectOutcome.SESSION_EXPIRED)
            others = [session.id for session, owns_access in found if not owns_access]
            await redirects.delete_sessions(connection, principal.user_id, others)
            actor = auditing.name_actor(principal)
            subject = f"user {principal.user_pseudonym}"
            await auditing.record(connection, principal.tenant_id, actor, "redirect.delete", subject)

    # The browser's side: opening

    async def open_session(
        self, handle: Secret, appended_callback: str | None, cookie: Secret | None, *, is_framed: bool
    ) -> Secret:
        """Exchange the handle for a cookie. It works once: afterwards the URL is useless to anyone else."""
        fresh = Secret(secrets.token_urlsafe(32))
        async with self._database.transaction() as connection:
            found = await redirects.lock_by_handle(connection, hash_secret(handle.reveal()))
            if found is None:
                raise SessionGoneError
            session, was_opened = found
            await bind_transaction(connection, user_of(session.principal))
            if was_opened:
                return await self._recognise(connection, session, cookie)
            if session.step is FormStep.END:
                raise SessionGoneError
            branding = await redirects.find_branding(connection, session.principal.tenant_id)
            chosen, problem = await self._callbacks.choose(connection, session, appended_callback)
            await redirects.open_session(
                connection,
                session.id,
                hash_secret(fresh.reveal()),
                chosen,
                is_framed=is_framed and bool(branding.frame_origins),
            )
            if problem is not None:
                await redirects.save_session(connection, replace(session, step=FormStep.END, outcome=problem))
            else:
                before = None if cookie is None else hash_secret(cookie.reveal())
                session = await self._accounts.adopt(connection, session, before)
                await redirects.save_session(connection, await self._first_step(connection, session, branding))
        return fresh

    async def _recognise(self, connection: Connection, session: FormSession, cookie: Secret | None) -> Secret:
        """The browser that opened the session may come back to its URL; no other may."""
        known = None
        if cookie is not None:
            known = await redirects.find_by_cookie(connection, hash_secret(cookie.reveal()))
        if cookie is None or known is None or known.id != session.id:
            raise SessionGoneError
        return cookie

    async def _first_step(self, connection: Connection, session: FormSession, branding: Branding) -> FormSession:
        if not await redirects.has_accepted(connection, user_of(session.principal), _acceptance(branding)):
            return replace(session, step=FormStep.LEGAL)
        return await self._flows[session.use_case].find_first_step(connection, session)

    async def find_session(self, cookie: Secret | None) -> FormSession:
        if cookie is None:
            raise SessionGoneError
        async with self._database.connect() as connection:
            session = await redirects.find_by_cookie(connection, hash_secret(cookie.reveal()))
        if session is None:
            raise SessionGoneError
        if session.step is not FormStep.END and session.expires_at < datetime.now(UTC):
            return await self._flows[session.use_case].expire(session)
        return session

    async def view(self, session: FormSession) -> FormView:
        """What the page of the session's current step shows. Starts what can start without a click."""
        return await self._flows[session.use_case].view(session, await self.find_branding(session))

    async def find_branding(self, session: FormSession) -> Branding:
        async with self._database.connect(session.principal.user_id) as connection:
            return await redirects.find_branding(connection, session.principal.tenant_id)

    async def find_logo(self, session: FormSession) -> bytes | None:
        async with self._database.connect(session.principal.user_id) as connection:
            return await redirects.find_logo(connection, session.principal.tenant_name)

    async def list_own_banks(self, session: FormSession) -> tuple[Provider, ...]:
        """Those that the user has connected for this tenant, which its API names as well."""
        views = await self._added.list_accesses(session.principal)
        ids = dict.fromkeys(view.access.provider_id for view in views if isinstance(view, AccessView))
        found = (self._providers.find(provider_id) for provider_id in ids)
        return tuple(provider for provider in found if provider is not None and self._providers.can_connect(provider))

    # The browser's side: what the user does

    async def accept_legal(self, session: FormSession) -> None:
        async with self._sessions.change(session, FormStep.LEGAL) as (connection, current):
            branding = await redirects.find_branding(connection, current.principal.tenant_id)
            await redirects.accept(connection, user_of(current.principal), _acceptance(branding))
            first = await self._flows[current.use_case].find_first_step(connection, current)
            await redirects.save_session(connection, first)

    async def decline_legal(self, session: FormSession) -> None:
        await self._flows[session.use_case].leave(session, RedirectOutcome.LEGAL_NOT_ACCEPTED)

    async def choose_provider(self, session: FormSession, provider_id: UUID) -> None:
        provider = self._providers.find(provider_id)
        if provider is None or not self._providers.can_connect(provider):
            raise InvalidError("this bank cannot be connected", "provider")
        async with self._sessions.change(session, FormStep.PROVIDER) as (connection, current):
            wrong = current.wrong_logins if provider_id == current.provider_id else 0
            chosen = replace(
                current, step=FormStep.CREDENTIALS, provider_id=provider_id, notice=None, wrong_logins=wrong
            )
            await redirects.save_session(connection, chosen)

    async def answer(
        self, session: FormSession, kind: AnswerKind, value: str, seen_wrong_tans: int | None = None
    ) -> None:
        await self._flows[session.use_case].answer(session, kind, value, seen_wrong_tans)

    async def retry(self, session: FormSession) -> None:
        """After a failure that may pass: ask the bank again."""
        await self._flows[session.use_case].retry(session)

    async def leave(self, session: FormSession) -> None:
        """The user goes back to the tenant."""
        await self._flows[session.use_case].leave(session, RedirectOutcome.USER_CANCELLED)

    def target(self, session: FormSession) -> str | None:
        """Where the user goes at the end; None where there is no safe place."""
        return find_target(session)


def _acceptance(branding: Branding) -> str:
    """A new version of a tenant's text is asked for again."""
    return f"{branding.tenant_name} {branding.legal_version}"
