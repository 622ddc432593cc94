"""Payments: ordered, authenticated, sent once, and their status.

Never twice: an order is stored under keys that are unique in the database before any bank is called, and what was
given once is answered again. Never lost: see `dialogues` and `recovery`.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from kontor.connectors.base import AcceptPayees, Answer, ChooseMethod
from kontor.domain.errors import NotFoundError
from kontor.domain.order_checks import OrderError, OrderProblem
from kontor.domain.payee_evidence import note_choice
from kontor.domain.payments import (
    PayeeChoice,
    PayeeResult,
    Payment,
    PaymentAnswer,
    PaymentDialogue,
    PaymentFailure,
    PaymentKind,
    PaymentState,
)
from kontor.domain.principals import Principal, user_of
from kontor.domain.sca_machine import AnswerKind, count_tan
from kontor.services.banks import BankGateway, Leasing
from kontor.services.payments.debtors import Debtor, PaymentDebtors
from kontor.services.payments.dialogues import PaymentDialogues, PaymentView, record
from kontor.services.payments.evidence import PaymentEvidence
from kontor.services.payments.files import PaymentFiles
from kontor.services.payments.ordering import PaymentOrdering
from kontor.services.payments.payees import Payees
from kontor.services.payments.recovery import PaymentRecovery
from kontor.services.payments.requests import (
    DIALOGUE_LIFETIME,
    PaymentRequest,
    check_request,
    digest_order,
    is_same_order,
    make_payment,
)
from kontor.services.payments.standing_orders import StandingOrders
from kontor.services.payments.verifications import PaymentVerifications
from kontor.services.runtime import Clock, fault_points
from kontor.services.sca import find_unoffered
from kontor.services.security import UserEncryption, auditing
from kontor.services.webhooks import Events
from kontor.storage import payments
from kontor.storage.database import Connection, Database
from kontor.storage.leases import Lease

FIRST_POLL_SECONDS, LAST_POLL_SECONDS = 0.03, 0.25


class PaymentNotOpenError(Exception):
    """The answer does not fit the open step. Carries the payment as it stands."""

    def __init__(self, view: PaymentView) -> None:
        super().__init__("the answer does not fit the open step")
        self.view = view


class DraftChangedError(Exception):
    """Somebody has changed the draft since it was read, perhaps in another tab. Nothing was ordered."""


class Payments:
    """`debtors`, `standing_orders`, `verifications`, `evidence`, `payees`, `files` and `recovery` are parts for edges.

    `dialogues` is for drafts.
    """

    def __init__(
        self,
        database: Database,
        gateway: BankGateway,
        user_encryption: UserEncryption,
        clock: Clock,
        debtors: PaymentDebtors,
        events: Events,
        request_seconds: float,
    ) -> None:
        self._database = database
        self._clock = clock
        self._leasing = Leasing(database)
        self.dialogues = PaymentDialogues(database, gateway, user_encryption, clock, events)
        self._engine = self.dialogues.engine
        self._wait_seconds = max(0.5, request_seconds - 1)
        self.debtors = debtors
        self.standing_orders = StandingOrders(database, clock)
        self.verifications = PaymentVerifications(database, gateway, user_encryption, clock, self._leasing)
        self.evidence = PaymentEvidence(database)
        self.payees = Payees(database)
        self._ordering = PaymentOrdering(
            database,
            clock,
            self._leasing,
            self.dialogues,
            self.standing_orders,
            self.verifications,
            self.payees,
            self.await_settled,
        )
        self.files = PaymentFiles(clock)
        self.recovery = PaymentRecovery(database, gateway, self._leasing, self.dialogues)

    # Reading

    async def read_payment(self, principal: Principal, payment_id: UUID) -> PaymentView:
        """The payment as it stands. The bank is not asked, but an unknown one will be, soon."""
        return await self._read(user_of(principal), payment_id)

    async def list_payments(self, principal: Principal, limit: int | None = None) -> list[Payment]:
        """Newest first."""
        async with self._database.connect(principal.user_id) as connection:
            found = await payments.list_payments(connection, user_of(principal), limit)
        now = datetime.now(UTC)
        if any(payment.is_orphaned or payment.is_over(now) for payment in found):
            for payment in found:
                if payment.is_orphaned or payment.is_over(now):
                    await self.recovery.close_orphaned(payment.user_id, payment.id)
            async with self._database.connect(principal.user_id) as connection:
                found = await payments.list_payments(connection, user_of(principal), limit)
        return found

    # Ordering

    async def initiate(self, principal: Principal, debtor: Debtor, request: PaymentRequest) -> PaymentView:
        """Store the order and ask the bank. The same key again answers what came of the first.

        Raises OrderError for what no bank is to see, DuplicateOrderError for an equal order a moment ago, ConflictError
        for a key that was used for another order.
        """
        [view] = await self.initiate_all(principal, debtor, [request])
        _refuse_wrong_choice(view.payment)
        return view

    async def initiate_all(
        self, principal: Principal, debtor: Debtor, requests: Sequence[PaymentRequest]
    ) -> list[PaymentView]:
        """As `initiate`, for the orders of a file: all of them are stored, or none."""
        return await self._engine.run_shielded(self._ordering.order(principal, debtor, requests))

    def check(self, principal: Principal, request: PaymentRequest) -> None:
        """Raises OrderError for what no bank is to see, DebitsNotAllowedError for what this client may not order."""
        check_request(principal, request, self._clock.today())

    async def store_draft(self, principal: Principal, debtor: Debtor | None, request: PaymentRequest) -> Payment:
        """An order that the user completes and confirms in the web form. The id is ours, whatever the caller gave."""
        request = replace(request, payment_id=None)
        payment = make_payment(principal, debtor, request, PaymentState.DRAFT, self._clock.today())
        existing = await self._ordering.find_existing(principal, request, payment.request_digest)
        if existing is not None:
            return existing
        await self.standing_orders.check_active(payment)
        payment = await self.verifications.accept(payment, request)
        async with self._database.transaction(principal.user_id) as connection:
            is_new = await payments.insert_payment(connection, payment, None)
            if is_new:
                await self.payees.check(connection, payment, request.fields)
                if request.verification_id is not None:
                    await self.verifications.use(connection, payment.user_id, request.verification_id)
                await record(connection, payment, auditing.name_actor(principal), "payment.draft")
        if is_new:
            return payment
        existing = await self._ordering.find_existing(principal, request, payment.request_digest)
        assert existing is not None, "the key was taken a moment ago"
        return existing

    # Answering

    async def answer(
        self,
        principal: Principal,
        payment_id: UUID,
        kind: AnswerKind,
        answer: Answer,
        seen_wrong_tans: int | None = None,
    ) -> PaymentView:
        """Pass the user's answer on to the bank. Raises PaymentNotOpenError where it does not fit the open step.

        With `seen_wrong_tans`, also where a TAN was wrong since the user saw that many: the same page sent twice must
        not spend two attempts.
        """
        return await self._engine.run_shielded(self._answer(principal, payment_id, kind, answer, seen_wrong_tans))

    async def accept_payees(self, principal: Principal, payment_id: UUID) -> PaymentView:
        """Pay although the payee does not match. Raises PaymentNotOpenError where nobody asked."""
        accepted = self._answer(principal, payment_id, PaymentAnswer.ACCEPT_PAYEES, AcceptPayees(), None)
        return await self._engine.run_shielded(accepted)

    # For the drafts of the web form, see `drafts`

    async def begin_stored(
        self, payment: Payment, principal: Principal, accepted_payees: tuple[PayeeResult, ...]
    ) -> PaymentView:
        """Ask the bank for a draft that is complete. Under way already, it is just shown."""
        return await self._engine.run_shielded(self._begin_draft(payment, principal, accepted_payees))

    # Parts

    async def _read(self, user_id: UUID, payment_id: UUID) -> PaymentView:
        view = await self._load(user_id, payment_id)
        now = datetime.now(UTC)
        if view.payment.is_orphaned or view.payment.is_over(now):
            await self.recovery.close_orphaned(user_id, payment_id)
            view = await self._load(user_id, payment_id)
        if view.payment.state is PaymentState.UNKNOWN:
            async with self._database.connect(user_id) as connection:
                await payments.advance_lookup(connection, user_id, payment_id, now)
        return view

    async def _load(self, user_id: UUID, payment_id: UUID) -> PaymentView:
        async with self._database.connect(user_id) as connection:
            found = await payments.find_payment(connection, user_id, payment_id)
            if found is None:
                raise NotFoundError
            return await self.dialogues.open_view(connection, found)

    async def await_settled(self, user_id: UUID, payment_id: UUID) -> PaymentView:
        """Somebody else is at the bank with it: what comes of that is our answer too."""
        end, pause = time.monotonic() + self._wait_seconds, FIRST_POLL_SECONDS
        while True:
            view = await self._read(user_id, payment_id)
            if view.payment.fence is None or not view.payment.state.is_under_way or time.monotonic() > end:
                return view
            await asyncio.sleep(pause)
            pause = min(LAST_POLL_SECONDS, pause * 1.5)

    async def _begin_draft(
        self, draft: Payment, principal: Principal, accepted_payees: tuple[PayeeResult, ...]
    ) -> PaymentView:
        assert draft.lease_key is not None, "a draft without an account cannot begin"
        actor = auditing.name_actor(principal)
        async with self._leasing.hold(draft.lease_key) as held:
            async with self._database.transaction(principal.user_id) as connection:
                found = await payments.lock_payment(connection, draft.user_id, draft.id)
                if found is None:
                    raise NotFoundError
                is_ours = found[0].state is PaymentState.DRAFT
                if is_ours and not is_same_order(found[0], draft):
                    raise DraftChangedError
                if is_ours:
                    expires_at = datetime.now(UTC) + DIALOGUE_LIFETIME
                    draft = replace(draft, state=PaymentState.OPEN, fence=held.lease.fence, expires_at=expires_at)
                    await payments.save_payment(connection, draft, None, found[2])
                    await payments.note_order(connection, draft.user_id, digest_order(draft), draft.id)
                    await self.payees.check(connection, draft)
                    await record(connection, draft, actor, "payment.order")
                    fault_points.reach("payment.insert")
            if is_ours:
                fault_points.reach("payment.inserted")
                return await self.dialogues.begin(draft, held, actor, accepted_payees)
        return await self.await_settled(draft.user_id, draft.id)

    async def _answer(
        self,
        principal: Principal,
        payment_id: UUID,
        kind: AnswerKind | PaymentAnswer,
        answer: Answer,
        seen_wrong_tans: int | None,
    ) -> PaymentView:
        user_id, actor = user_of(principal), auditing.name_actor(principal)
        view = await self._read(user_id, payment_id)
        if view.payment.fence is None and not view.payment.is_waiting_for(kind):
            raise PaymentNotOpenError(view)
        if view.payment.state is PaymentState.DRAFT:
            return await self._cancel_draft(user_id, payment_id, actor)
        assert view.payment.lease_key is not None
        async with self._leasing.hold(view.payment.lease_key) as held:
            async with self._database.transaction(principal.user_id) as connection:
                view, credentials = await self._lock(connection, user_id, payment_id)
                is_fitting = _is_fitting(view.payment, kind, seen_wrong_tans)
                if is_fitting:
                    _check_offered(view.payment.dialogue, answer)
                    view = replace(view, payment=_take_up(view.payment, kind, held.lease))
                    await self.dialogues.save(connection, view.payment, view.secrets, credentials)
                    if kind is not AnswerKind.CONFIRMED:  # which decides nothing, and comes every few seconds
                        await record(connection, view.payment, actor, "payment.answer", kind.lower())
                    fault_points.reach("payment.answer")
            if is_fitting:
                fault_points.reach("payment.answered")
                return await self.dialogues.resume(view, answer, held, actor)
        raise PaymentNotOpenError(await self._read(user_id, payment_id))

    async def _lock(self, connection: Connection, user_id: UUID, payment_id: UUID) -> tuple[PaymentView, bytes | None]:
        """As it stands, with its sealed credentials."""
        found = await payments.lock_payment(connection, user_id, payment_id)
        if found is None:
            raise NotFoundError
        return await self.dialogues.open_view(connection, found), found[2]

    async def _cancel_draft(self, user_id: UUID, payment_id: UUID, actor: str) -> PaymentView:
        async with self._database.transaction(user_id) as connection:
            view, _ = await self._lock(connection, user_id, payment_id)
            if view.payment.state is not PaymentState.DRAFT:
                raise PaymentNotOpenError(view)
            chosen = note_choice(view.payment.evidence, PayeeChoice.CANCELLED, datetime.now(UTC))
            failed = PaymentState.FAILED
            ended = replace(view.payment, state=failed, failure=PaymentFailure.CANCELLED, evidence=chosen)
            await self.dialogues.save(connection, ended, view.secrets, None)
            await self.dialogues.publish(connection, ended)
            await record(connection, ended, actor, "payment.failed")
        return replace(view, payment=ended)


def _take_up(payment: Payment, kind: AnswerKind | PaymentAnswer, lease: Lease) -> Payment:
    """Ours for one step. A TAN is counted before the bank sees it: no race gives a fourth try."""
    dialogue, evidence = payment.dialogue, payment.evidence
    is_warned = payment.kind is PaymentKind.LEGACY and bool(dialogue.warnings)
    if dialogue.is_payee_open or is_warned:
        is_accepted = kind in (PaymentAnswer.ACCEPT_PAYEES, AnswerKind.TAN)
        choice = PayeeChoice.CONFIRMED if is_accepted else PayeeChoice.CANCELLED
        evidence = note_choice(evidence, choice, datetime.now(UTC))
    if kind is AnswerKind.TAN:
        dialogue = replace(dialogue, position=count_tan(dialogue.position))
    return replace(payment, dialogue=dialogue, evidence=evidence, fence=lease.fence)


def _is_fitting(payment: Payment, kind: AnswerKind | PaymentAnswer, seen_wrong_tans: int | None) -> bool:
    if payment.fence is not None or payment.is_over(datetime.now(UTC)) or not payment.is_waiting_for(kind):
        return False
    return seen_wrong_tans in (None, payment.dialogue.position.wrong_tans)


def _check_offered(dialogue: PaymentDialogue, answer: Answer) -> None:
    problem = find_unoffered(dialogue, answer)
    if problem is not None:
        raise OrderError(OrderProblem.METHOD if isinstance(answer, ChooseMethod) else OrderProblem.DATA, *problem)


def _refuse_wrong_choice(payment: Payment) -> None:
    """The legacy form names method and medium with the order; where they do not fit, the order is refused."""
    if payment.failure is PaymentFailure.WRONG_METHOD:
        message = "cannot be used here, or is not offered by the bank"
        raise OrderError(OrderProblem.METHOD, message, "sicherheitsverfahrenKodierung")
    if payment.failure is PaymentFailure.WRONG_MEDIUM:
        raise OrderError(OrderProblem.DATA, "is not one of the bank's media for this user", "tanMediumName")
