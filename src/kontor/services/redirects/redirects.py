"""The redirect frontend's use cases: from the tenant's call to the user's return.

Every method loads the session anew and locks it while it decides: a reload, the back button or a second tab meets the
session where it stands now, never where the page thought it was.
"""

import asyncio
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from kontor.domain.errors import InvalidError
from kontor.domain.payments import Payment
from kontor.domain.principals import Principal, user_of
from kontor.domain.providers import Provider
from kontor.domain.redirects import Branding, FormSession, FormStep, RedirectOutcome, UseCase
from kontor.domain.sca_machine import AnswerKind
from kontor.domain.secrets import Secret
from kontor.services.accesses import Accesses, AccessView
from kontor.services.banks import Providers, find_missing_fields
from kontor.services.fetching import FetchResults
from kontor.services.payments import PaymentDrafts, Payments, PaymentView
from kontor.services.redirects.accounts import FormAccounts
from kontor.services.redirects.callbacks import FormCallbacks, find_target
from kontor.services.redirects.dialogues import FormDialogues
from kontor.services.redirects.payments import FormPayments
from kontor.services.redirects.sessions import (
    FormSessions,
    SessionGoneError,
    StaleStepError,
    drop_own_access,
    end_session,
)
from kontor.services.sca import Consents, ConsentView
from kontor.services.security import auditing, hash_secret
from kontor.storage import payments, redirects
from kontor.storage.database import Connection, Database
from kontor.storage.products import StoredProduct

SESSION_LIFETIME = timedelta(minutes=15)
RENEWAL_PATIENCE_SECONDS = 5  # a bank that takes longer lets the user go all the same
RENEWAL_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class FormView:
    """All that a page needs to know. `offered` are the accounts among which the user chooses."""

    session: FormSession
    branding: Branding
    provider: Provider | None = None
    consent: ConsentView | None = None
    access: AccessView | None = None
    offered: tuple[StoredProduct, ...] = ()
    payment: PaymentView | None = None
    sources: tuple[AccessView, ...] = ()
    banks: Mapping[UUID, str] = field(default_factory=dict)


class Redirects:
    """`payments` is what a form does beyond this for a payment; its pages use it directly."""

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
        self._accesses = added
        self._sessions = FormSessions(database)
        self._accounts = FormAccounts(database, self._sessions, added, results)
        self._dialogues = FormDialogues(self._sessions, added, consents, return_url)
        self.payments = FormPayments(self._sessions, drafts, paying, return_url)
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
        )
        async with self._database.transaction() as connection:
            if payment_id is not None:
                found = await payments.find_payment(connection, user_of(principal), payment_id)
                is_fixed = found is not None and found[0].lease_key is not None and found[2] is None
                session = replace(session, is_source_fixed=is_fixed)
            await self._accounts.replace_sessions(connection, session)
            await redirects.insert_session(connection, session, hash_secret(handle.reveal()))
            actor = auditing.name_actor(principal)
            subject = f"user {principal.user_pseudonym} session {session.id} {use_case}"
            await auditing.record(connection, principal.tenant_id, actor, "redirect.start", subject)
        return handle

    async def delete_sessions(self, principal: Principal) -> None:
        """All sessions of the user. An access that was begun stays: another session can go on with it."""
        assert principal.user_id is not None
        async with self._database.transaction() as connection:
            for session in await redirects.lock_owning_sessions(connection, principal.user_id):
                await end_session(connection, session, RedirectOutcome.SESSION_EXPIRED)
            await redirects.delete_sessions(connection, principal.user_id)
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
        return await self._after_legal(connection, session)

    async def _after_legal(self, connection: Connection, session: FormSession) -> FormSession:
        if session.use_case is UseCase.CREATE_ACCOUNT:
            return await self._accounts.find_step(connection, session)
        is_renewal = session.use_case is UseCase.AUTHENTICATE_ACCOUNT
        return replace(session, step=FormStep.SCA if is_renewal else FormStep.PAYMENT)

    async def find_session(self, cookie: Secret | None) -> FormSession:
        if cookie is None:
            raise SessionGoneError
        async with self._database.connect() as connection:
            session = await redirects.find_by_cookie(connection, hash_secret(cookie.reveal()))
        if session is None:
            raise SessionGoneError
        if session.step is not FormStep.END and session.expires_at < datetime.now(UTC):
            if session.payment_id is not None:
                return await self.payments.expire(session)
            return await self.finish(session, RedirectOutcome.SESSION_EXPIRED)
        return session

    async def view(self, session: FormSession) -> FormView:
        """What the page of the session's current step shows. Starts what can start without a click."""
        if session.payment_id is not None:
            return await self._view_payment(session)
        consent = None
        if session.step is FormStep.SCA:
            session, consent = await self._dialogues.advance(session)
        if session.step is FormStep.FETCHING:
            session = await self._advance_after_fetch(session)
        access = await self._accesses.find_for_form(session.principal, session.access_id)
        provider_id = session.provider_id or (access.access.provider_id if access else None)
        provider = None if provider_id is None else self._providers.find(provider_id)
        offered = await self._accounts.list_offered(session) if session.step is FormStep.ACCOUNTS else ()
        return FormView(session, await self.find_branding(session), provider, consent, access, offered)

    async def _view_payment(self, session: FormSession) -> FormView:
        session, payment = await self.payments.advance(session)
        if payment is None:
            return FormView(session, await self.find_branding(session))
        paying = payment.payment
        is_choosing = session.step in (FormStep.SOURCE, FormStep.PROVIDER)
        sources = tuple(await self.payments.list_sources(session)) if is_choosing else ()
        banks = [self._providers.find(one.access.provider_id) for one in sources]
        return FormView(
            session,
            await self.find_branding(session),
            self._find_payment_provider(session, paying),
            access=None
            if paying.access_id is None
            else await self._accesses.find_for_form(session.principal, paying.access_id),
            payment=payment,
            sources=sources,
            banks={one.id: one.name for one in banks if one is not None},
        )

    def _find_payment_provider(self, session: FormSession, payment: Payment) -> Provider | None:
        """Whose credentials are asked for, else the bank that pays."""
        is_asking = session.step in (FormStep.PROVIDER, FormStep.CREDENTIALS)
        provider_id = session.provider_id if is_asking else payment.provider_id
        return None if provider_id is None else self._providers.find(provider_id)

    async def find_branding(self, session: FormSession) -> Branding:
        async with self._database.connect() as connection:
            return await redirects.find_branding(connection, session.principal.tenant_id)

    async def find_logo(self, session: FormSession) -> bytes | None:
        async with self._database.connect() as connection:
            return await redirects.find_logo(connection, session.principal.tenant_name)

    # The browser's side: what the user does

    async def accept_legal(self, session: FormSession) -> None:
        async with self._sessions.change(session, FormStep.LEGAL) as (connection, current):
            branding = await redirects.find_branding(connection, current.principal.tenant_id)
            await redirects.accept(connection, user_of(current.principal), _acceptance(branding))
            await redirects.save_session(connection, await self._after_legal(connection, current))

    async def decline_legal(self, session: FormSession) -> None:
        if session.payment_id is not None:
            await self.payments.leave(session, RedirectOutcome.LEGAL_NOT_ACCEPTED)
        else:
            await self.finish(session, RedirectOutcome.LEGAL_NOT_ACCEPTED)

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
                        connection, current.principal, current.access_id, provider, credentials, current.id
                    )
                    begun = replace(current, step=FormStep.SCA, dialogue_id=uuid4(), notice=None)
                await redirects.save_session(connection, begun)
        except InvalidError:
            await self.finish(session, RedirectOutcome.ERROR)
        return []

    async def answer(
        self, session: FormSession, kind: AnswerKind, value: str, seen_wrong_tans: int | None = None
    ) -> None:
        if session.payment_id is not None:
            await self.payments.answer(session, kind, value, seen_wrong_tans)
        else:
            await self._dialogues.answer(session, kind, value, seen_wrong_tans)

    async def confirm_accounts(self, session: FormSession, chosen: set[UUID]) -> bool:
        """Keep the chosen accounts and finish. False when there is something to choose and nothing was chosen."""
        return await self._accounts.confirm(session, chosen)

    async def retry(self, session: FormSession) -> None:
        """After a failure that may pass: begin another dialogue with the same credentials."""
        if session.payment_id is not None:
            await self.payments.retry(session)
            return
        async with self._sessions.change(session, FormStep.FAILED, FormStep.SCA) as (connection, current):
            if current.notice is not None and not current.notice.can_retry:
                raise StaleStepError
            again = replace(current, step=FormStep.SCA, dialogue_id=uuid4(), notice=None)
            await redirects.save_session(connection, again)

    async def leave(self, session: FormSession) -> None:
        """The user goes back to the tenant: after a failure with that, otherwise because they gave up."""
        if session.payment_id is not None:
            await self.payments.leave(session)
            return
        if session.step is FormStep.FAILED and session.notice is not None:
            await self.finish(session, session.notice.outcome)
            return
        if session.step is FormStep.SCA:
            await self._dialogues.cancel(session)
        await self.finish(session, RedirectOutcome.USER_CANCELLED)

    async def finish(self, session: FormSession, outcome: RedirectOutcome) -> FormSession:
        return await self._sessions.finish(session, outcome)

    def target(self, session: FormSession) -> str | None:
        """Where the user goes at the end; None where there is no safe place."""
        return find_target(session)

    # Parts

    async def _advance_after_fetch(self, session: FormSession) -> FormSession:
        assert session.dialogue_id is not None
        if session.use_case is UseCase.AUTHENTICATE_ACCOUNT:
            await self._await_renewal(session)
            return await self.finish(session, RedirectOutcome.FINISHED)
        return await self._accounts.advance_after_fetch(session)

    async def _await_renewal(self, session: FormSession) -> None:
        """The need for SCA goes with the fetch that follows, and the tenant looks as soon as the user is back."""
        end = time.monotonic() + RENEWAL_PATIENCE_SECONDS
        while time.monotonic() < end:
            access = await self._accesses.find_for_form(session.principal, session.access_id)
            if access is None or not access.needs_sca:
                return
            await asyncio.sleep(RENEWAL_POLL_SECONDS)


def _acceptance(branding: Branding) -> str:
    """A new version of a tenant's text is asked for again."""
    return f"{branding.tenant_name} {branding.legal_version}"
