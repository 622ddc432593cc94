"""The web form's part in a payment: what the user sees, changes and chooses, until the bank has it.

The payment's own row is the truth. Whatever a session thinks, it follows the payment: a second tab, a second session of
the same order, a process that died. The bank is asked in tasks of their own, so that nobody waits in front of an empty
page, and a page that is sent twice asks once.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

import structlog

from kontor.connectors.base import FailureKind
from kontor.domain.errors import BusyError, InvalidError, NotFoundError
from kontor.domain.order_checks import OrderError, OrderProblem
from kontor.domain.payments import Order, PayeeMatch, PayeeResult, PayeeWarning, Payment, PaymentFailure, PaymentState
from kontor.domain.providers import Provider
from kontor.domain.redirects import Failure, FormSession, FormStep, RedirectOutcome, find_payment_outcome
from kontor.domain.sca_machine import AnswerKind
from kontor.domain.secrets import Secret
from kontor.services.accesses import AccessView
from kontor.services.payments import (
    DraftChangedError,
    LoginRefusedError,
    PaymentDrafts,
    PaymentNotOpenError,
    Payments,
    PaymentView,
)
from kontor.services.redirects.dialogues import MAX_WRONG_LOGINS
from kontor.services.redirects.sessions import FormSessions, SessionGoneError, StaleStepError
from kontor.services.sca import make_answer
from kontor.storage import redirects

log = structlog.get_logger(__name__)

WAIT_TIMEOUT_SECONDS = 1.5  # most banks answer within; for the others there is a page to wait on
CANCEL_SECONDS = 5

# Why nothing was paid, in the words of the form.
FAILURES = {
    PaymentFailure.WRONG_CREDENTIALS: Failure.WRONG_CREDENTIALS,
    PaymentFailure.INCOMPLETE_CREDENTIALS: Failure.WRONG_CREDENTIALS,
    PaymentFailure.LOCKED: Failure.LOCKED,
    PaymentFailure.UNREACHABLE: Failure.UNREACHABLE,
    PaymentFailure.NO_SUPPORTED_METHOD: Failure.NO_METHOD,
    PaymentFailure.WRONG_METHOD: Failure.NO_METHOD,
    PaymentFailure.WRONG_MEDIUM: Failure.NO_METHOD,
    PaymentFailure.WRONG_TAN: Failure.WRONG_TAN,
    PaymentFailure.CANCELLED: Failure.REFUSED,
    PaymentFailure.EXPIRED: Failure.TOO_LATE,
    PaymentFailure.ABANDONED: Failure.INTERRUPTED,
    PaymentFailure.REJECTED: Failure.REJECTED,
    PaymentFailure.NO_FUNDS: Failure.NO_FUNDS,
    PaymentFailure.NOT_SUPPORTED: Failure.NOT_SUPPORTED,
    PaymentFailure.REFERENCE_ACCOUNT: Failure.NOT_SUPPORTED,
    PaymentFailure.NEVER_ARRIVED: Failure.INTERRUPTED,
    PaymentFailure.INTERNAL: Failure.INTERRUPTED,
}
# Why an order was refused before any bank saw it.
REFUSALS = {OrderProblem.PAYEE_LIMIT: Failure.PAYEE_LIMIT, OrderProblem.PAYEE_HOLD: Failure.PAYEE_HOLD}


@dataclass(frozen=True, slots=True)
class Details:
    """What the user made of an order that may be changed."""

    order: Order
    is_instant: bool
    execution_date: date | None


class FormPayments:
    def __init__(self, sessions: FormSessions, drafts: PaymentDrafts, paying: Payments, return_url: str) -> None:
        self._sessions = sessions
        self._drafts = drafts
        self._payments = paying
        self._return_url = return_url
        self._running: dict[UUID, asyncio.Task[None]] = {}

    # Looking

    async def advance(self, session: FormSession) -> tuple[FormSession, PaymentView | None]:
        """The session where its payment has brought it. Starts what was decided and has not begun."""
        view = await self._find(session)
        if view is None:
            return await self._sessions.finish(session, RedirectOutcome.ERROR), None
        if session.step is FormStep.END:
            return session, view
        is_draft = view.payment.state is PaymentState.DRAFT and session.step in (FormStep.CHECKING, FormStep.SCA)
        # What the user has accepted already is on its way to the bank: the question is not shown again meanwhile.
        is_accepted = view.payment.dialogue.is_payee_open and session.dialogue_id in self._running
        if is_draft or is_accepted:
            session = await self._await_bank(session)
            view = await self._find(session) or view
        return await self._advance(session, view.payment), view

    async def list_sources(self, session: FormSession) -> list[AccessView]:
        return await self._drafts.list_products(session.principal, _payment_id(session))

    async def expire(self, session: FormSession) -> FormSession:
        """Its time is over. Not while the bank has the order: who waits for the answer is to see it."""
        view = await self._find(session)
        if view is None:
            return await self._sessions.finish(session, RedirectOutcome.SESSION_EXPIRED)
        outcome = find_payment_outcome(session, view.payment)
        if outcome is None:
            return session
        if not view.payment.state.may_have_moved_money and not await self._cancel(session):
            return session
        return await self._sessions.finish(session, outcome)

    # What the user does

    async def change(self, session: FormSession, details: Details) -> None:
        """Raises OrderError for what no bank is to see."""
        if session.step is not FormStep.PAYMENT:
            raise StaleStepError
        await self._change(session, details)

    async def confirm(self, session: FormSession) -> None:
        """The payment is as the user wants it: on to the account, or to the bank where the tenant has chosen that."""
        if session.is_source_fixed:
            await self._begin_check(session, FormStep.PAYMENT)
            return
        has_sources = bool(await self.list_sources(session))
        step = FormStep.SOURCE if has_sources else FormStep.PROVIDER
        await self._step(session, step, FormStep.PAYMENT)

    async def choose_product(self, session: FormSession, access_id: str, product_id: UUID) -> None:
        """Raises InvalidError where it cannot be paid from there."""
        if session.step is not FormStep.SOURCE:
            raise StaleStepError
        try:
            view = await self._drafts.choose_product(session.principal, _payment_id(session), access_id, product_id)
        except NotFoundError as error:
            raise InvalidError("there is no such account", "product") from error
        except PaymentNotOpenError as error:
            raise StaleStepError from error
        await self._begin_check(session, FormStep.SOURCE, provider_id=view.payment.provider_id)

    async def choose_other_bank(self, session: FormSession) -> None:
        await self._step(session, FormStep.PROVIDER, FormStep.SOURCE, FormStep.CREDENTIALS)

    async def choose_again(self, session: FormSession) -> None:
        """Back to the choice of the account, while nothing is with the bank."""
        if session.is_source_fixed:
            raise StaleStepError
        step = FormStep.SOURCE if await self.list_sources(session) else FormStep.PROVIDER
        await self._step(session, step, FormStep.PROVIDER, FormStep.CREDENTIALS, FormStep.PAYEES, FormStep.FAILED)

    async def go_back(self, session: FormSession) -> None:
        """Back to the payment itself."""
        await self._step(session, FormStep.PAYMENT, FormStep.SOURCE, FormStep.PAYEES)

    async def submit_credentials(
        self, session: FormSession, provider: Provider, credentials: dict[str, Secret], account: str
    ) -> None:
        """Raises OrderError for an account that is none."""
        if session.step is not FormStep.CREDENTIALS or session.provider_id != provider.id:
            raise StaleStepError
        payment_id = _payment_id(session)
        if session.is_source_fixed:
            view = await self._find(session)
            account = account if view is None else str(view.payment.product_id or account)
        try:
            await self._drafts.choose_credentials(session.principal, payment_id, provider.id, credentials, account)
        except PaymentNotOpenError as error:
            raise StaleStepError from error
        await self._begin_check(session, FormStep.CREDENTIALS, provider_id=provider.id)

    async def use_name(self, session: FormSession, payment: Payment, name: str) -> None:
        """Pay to the name that the payee's bank has suggested, and have that checked as well."""
        if session.step is not FormStep.PAYEES:
            raise StaleStepError
        order = replace(payment.given[0], recipient=name)
        await self._change(session, Details(order, payment.is_instant, payment.execution_date))
        await self._begin_check(session, FormStep.PAYEES)

    async def accept_payees(self, session: FormSession, payment: Payment) -> None:
        """Pay to this payee all the same. `payment` is what the user saw, and only that is accepted."""
        if payment.state is not PaymentState.DRAFT:
            await self._attempt(session, self._payments.accept_payees(session.principal, payment.id))
            return
        begun = await self._step(session, FormStep.SCA, FormStep.PAYEES)
        self._spawn(begun, self._start(begun, payment.dialogue.payees))

    async def note_shown(self, session: FormSession, payment: Payment, text: str, language: str) -> None:
        """What the page says about the payees is kept with the payment."""
        await self._payments.evidence.note_shown(session.principal, payment, text, language)

    async def answer(self, session: FormSession, kind: AnswerKind, value: str, seen_wrong_tans: int | None) -> None:
        """An answer from the page. One that comes too late or twice just shows where things stand."""
        if session.step is not FormStep.SCA:
            return
        answer = make_answer(kind, value)
        answering = self._payments.answer(session.principal, _payment_id(session), kind, answer, seen_wrong_tans)
        await self._attempt(session, answering)

    async def retry(self, session: FormSession) -> None:
        """After a failure that may pass, and before anything was ordered: ask again."""
        view = await self._find(session)
        if view is None or view.payment.state is not PaymentState.DRAFT:
            raise StaleStepError
        await self._begin_check(session, FormStep.FAILED, FormStep.CHECKING)

    async def leave(self, session: FormSession, reason: RedirectOutcome) -> None:
        """The user wants to go. They do when it is certain what became of the payment, or that it is not known."""
        view = await self._find(session)
        if view is None:
            await self._sessions.finish(session, reason)
            return
        if not view.payment.state.may_have_moved_money:
            if not await self._cancel(session):
                return
            view = await self._find(session) or view
        outcome = find_payment_outcome(session, view.payment)
        if outcome is RedirectOutcome.SESSION_EXPIRED:  # nothing was paid, and the user knows why
            outcome = reason if view.payment.failure in (PaymentFailure.CANCELLED, PaymentFailure.EXPIRED) else None
        if outcome is not None:
            await self._sessions.finish(session, outcome)

    # Steps of the session

    async def _step(self, session: FormSession, step: FormStep, *before: FormStep, **changes: Any) -> FormSession:
        async with self._sessions.change(session, *before) as (connection, current):
            moved = replace(current, step=step, notice=None, **changes)
            await redirects.save_session(connection, moved)
        return moved

    async def _begin_check(self, session: FormSession, *before: FormStep, provider_id: UUID | None = None) -> None:
        changes: dict[str, Any] = {"dialogue_id": uuid4(), "checking_at": datetime.now(UTC), "is_payee_matched": False}
        if provider_id is not None:
            wrong = session.wrong_logins if provider_id == session.provider_id else 0
            changes |= {"provider_id": provider_id, "wrong_logins": wrong}
        begun = await self._step(session, FormStep.CHECKING, *before, **changes)
        self._spawn(begun, self._check(begun))

    async def _advance(self, session: FormSession, payment: Payment) -> FormSession:
        """From the payment's state to the form's step."""
        if payment.state is PaymentState.DRAFT:
            return session
        if payment.state.is_under_way:
            return await self._sessions.move(session, FormStep.SCA)
        if payment.state is PaymentState.UNKNOWN:
            return await self._sessions.move(session, FormStep.UNKNOWN)
        if payment.state is PaymentState.FAILED:
            assert payment.failure is not None
            return await self._sessions.move(session, FormStep.FAILED, FAILURES[payment.failure])
        return await self._sessions.finish(session, RedirectOutcome.FINISHED)

    # At the bank

    async def _await_bank(self, session: FormSession) -> FormSession:
        """What was decided is begun by whoever looks first; a check is begun by whoever asked for it, and only once."""
        assert session.dialogue_id is not None
        task = self._running.get(session.dialogue_id)
        if task is None and session.step is FormStep.SCA:
            task = self._spawn(session, self._start(session, ()))
        if task is not None:
            await asyncio.wait({task}, timeout=WAIT_TIMEOUT_SECONDS)
        return await self._sessions.reload(session)

    def _spawn(self, session: FormSession, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        key = session.dialogue_id
        assert key is not None
        task = self._running[key] = asyncio.create_task(self._run(session, key, work))
        task.add_done_callback(lambda finished: self._running.pop(key) if self._running.get(key) is finished else None)
        return task

    async def _run(self, session: FormSession, dialogue_id: UUID, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (SessionGoneError, PaymentNotOpenError):
            return
        except DraftChangedError:  # in another tab: the user is to look at it again
            await self._sessions.advance(session, dialogue_id, step=FormStep.PAYMENT)
        except OrderError as error:
            await self._sessions.fail(session, dialogue_id, REFUSALS.get(error.problem, Failure.NOT_SUPPORTED))
        except (NotFoundError, InvalidError):
            await self._sessions.fail(session, dialogue_id, Failure.NOT_SUPPORTED)
        except BusyError:
            await self._sessions.fail(session, dialogue_id, Failure.BUSY)
        except Exception:
            log.exception("form.payment-failed")
            await self._sessions.fail(session, dialogue_id, Failure.INTERRUPTED)

    async def _check(self, session: FormSession) -> None:
        """Log in and ask about the payees. Where they match, it goes on by itself."""
        assert session.dialogue_id is not None
        view = await self._find(session)
        try:
            # A payee that was accepted before, such as that of a standing order which is deleted, is not verified.
            is_accepted = view is not None and view.payment.is_payee_accepted
            results: tuple[PayeeResult, ...] = ()
            warnings: tuple[PayeeWarning, ...] = ()
            if not is_accepted:
                results = await self._drafts.verify(session.principal, _payment_id(session), session.customer_ip)
            if not is_accepted or (view is not None and view.payment.standing is not None):
                warnings = await self._drafts.warn(session.principal, _payment_id(session))
        except LoginRefusedError as error:
            await self._refuse_login(session, error.failure)
            return
        is_matching = all(result.match is PayeeMatch.MATCH for result in results)
        step = FormStep.SCA if is_matching and not warnings else FormStep.PAYEES
        is_matched = bool(results) and is_matching
        moved = await self._sessions.advance(session, session.dialogue_id, step=step, is_payee_matched=is_matched)
        if moved.step is FormStep.SCA and moved.dialogue_id == session.dialogue_id:
            await self._start(moved, ())

    async def _refuse_login(self, session: FormSession, failure: FailureKind) -> None:
        assert session.dialogue_id is not None
        if failure is FailureKind.LOCKED:
            await self._sessions.fail(session, session.dialogue_id, Failure.LOCKED)
            return
        view = await self._find(session)
        wrong = session.wrong_logins + 1
        await self._sessions.advance(
            session,
            session.dialogue_id,
            step=FormStep.FAILED if wrong >= MAX_WRONG_LOGINS else FormStep.CREDENTIALS,
            wrong_logins=wrong,
            notice=Failure.WRONG_CREDENTIALS,
            provider_id=session.provider_id if view is None else view.payment.provider_id,
        )

    async def _start(self, session: FormSession, accepted: tuple[PayeeResult, ...]) -> None:
        """Order it. What the bank says about the payees counts as accepted only where the user has seen just that."""
        view = await self._drafts.start(
            session.principal,
            _payment_id(session),
            customer_ip=session.customer_ip,
            callback_url=self._return_url,
            accepted_payees=accepted,
        )
        dialogue = view.payment.dialogue
        if accepted and dialogue.is_payee_open and dialogue.payees == accepted:
            await self._payments.accept_payees(session.principal, view.payment.id)

    async def _attempt(self, session: FormSession, step: Coroutine[Any, Any, PaymentView]) -> None:
        """A step that is open, or not any more. A bank that takes long is waited for on a page."""

        async def run() -> None:
            try:
                await step
            except (PaymentNotOpenError, OrderError, BusyError, NotFoundError):
                return
            except Exception:
                log.exception("form.payment-failed")

        task = asyncio.create_task(run())
        key = uuid4()  # kept until it is done, whoever still waits
        self._running[key] = task
        task.add_done_callback(lambda _: self._running.pop(key, None))
        await asyncio.wait({task}, timeout=WAIT_TIMEOUT_SECONDS)

    # Parts

    async def _change(self, session: FormSession, details: Details) -> None:
        try:
            await self._drafts.change(
                session.principal,
                _payment_id(session),
                [details.order],
                is_instant=details.is_instant,
                execution_date=details.execution_date,
            )
        except PaymentNotOpenError as error:
            raise StaleStepError from error

    async def _cancel(self, session: FormSession) -> bool:
        """Is it certain now that nothing more will be paid, or known what was? Nobody waits long in order to leave."""
        cancelling = self._payments.answer(
            session.principal, _payment_id(session), AnswerKind.CANCEL, make_answer(AnswerKind.CANCEL, "")
        )
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                await cancelling
        except (PaymentNotOpenError, NotFoundError):
            pass
        except (TimeoutError, BusyError):
            return False
        view = await self._find(session)
        return view is None or not (view.payment.state is PaymentState.DRAFT or view.payment.state.is_under_way)

    async def _find(self, session: FormSession) -> PaymentView | None:
        try:
            return await self._drafts.read(session.principal, _payment_id(session))
        except NotFoundError:
            return None


def _payment_id(session: FormSession) -> UUID:
    assert session.payment_id is not None, "only a payment's session comes here"
    return session.payment_id
