"""A payment at the bank, one step at a time, and the send guard before what cannot be taken back.

The order is stored, and the row carries the fence of our lease, before the bank is called. Directly before the order
leaves, the connector asks the send guard, which commits `SENDING`; what comes after that without the bank's own word
leaves the payment `UNKNOWN`. The row decides: who finds another fence in it, or another state, writes nothing.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog

from kontor.connectors.base import (
    Answer,
    Cancel,
    Context,
    Done,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedPayeeDecision,
    NeedRedirect,
    NeedTan,
    Paid,
    Step,
)
from kontor.domain.accesses import Access
from kontor.domain.dialogues import Secrets
from kontor.domain.errors import NotFoundError
from kontor.domain.payee_evidence import note_results
from kontor.domain.payments import PayeeResult, Payment, PaymentState
from kontor.domain.secrets import Secret
from kontor.domain.webhooks import Event, EventType
from kontor.services.accesses import request_fetch
from kontor.services.banks import BankDialogue, BankGateway, HeldLease, Prepared
from kontor.services.payments.standing_orders import apply_standing
from kontor.services.payments.steps import conclude, decide_for, describe_payment, keep_secrets, make_pay
from kontor.services.runtime import Clock, fault_points
from kontor.services.sca import DialogueEngine
from kontor.services.security import UserEncryption, auditing
from kontor.services.webhooks import Events
from kontor.storage import accesses, leases, payments, users
from kontor.storage.database import Connection, Database
from kontor.storage.leases import Lease
from kontor.storage.retries import retry_conflicts

log = structlog.get_logger(__name__)

SEND_GUARD_SECONDS = 30
FIRST_LOOKUP_SECONDS = 1
QUESTIONS = (NeedMethod, NeedMedium, NeedTan, NeedConfirmation, NeedRedirect, NeedPayeeDecision)


@dataclass(frozen=True, slots=True)
class PaymentView:
    """A payment as it stands, and what the user is shown meanwhile."""

    payment: Payment
    secrets: Secrets


class PaymentDialogues:
    def __init__(
        self, database: Database, gateway: BankGateway, user_encryption: UserEncryption, clock: Clock, events: Events
    ) -> None:
        self._database = database
        self._events = events
        self._gateway = gateway
        self._user_encryption = user_encryption
        self._clock = clock
        self.engine = DialogueEngine(
            describe_payment,
            before_call=lambda: fault_points.reach("payment.call"),
            after_call=lambda: fault_points.reach("payment.called"),
        )

    async def begin(
        self, payment: Payment, held: HeldLease, actor: str, accepted_payees: tuple[PayeeResult, ...] = ()
    ) -> PaymentView:
        """Ask the bank to pay. The payment is stored, with the lease's fence."""
        bank = await self._open_bank(payment, held, actor)
        decide = decide_for(payment, await self._find_access(payment), accepted_payees)
        dialogue, step = await self.engine.begin(bank, make_pay(payment), payment.dialogue, decide)
        return await self._conclude(bank, replace(payment, dialogue=dialogue), step, None, actor)

    async def resume(self, view: PaymentView, answer: Answer, held: HeldLease, actor: str) -> PaymentView:
        """Pass the user's answer on. The row carries the lease's fence."""
        payment = view.payment
        if payment.dialogue.is_warning_open:
            return await self._answer_warning(payment, answer, held, actor)
        bank = await self._open_bank(payment, held, actor)
        decide = decide_for(payment, await self._find_access(payment))
        dialogue, step = await self.engine.resume(bank, view.secrets.state, answer, payment.dialogue, decide)
        return await self._conclude(bank, replace(payment, dialogue=dialogue), step, view.secrets, actor)

    async def _answer_warning(self, payment: Payment, answer: Answer, held: HeldLease, actor: str) -> PaymentView:
        """The bank knows nothing of the order yet: it is asked now, or never."""
        dialogue = replace(payment.dialogue, is_payee_open=False, is_warning_open=False)
        answered = replace(payment, dialogue=dialogue)
        if isinstance(answer, Cancel):
            return await self._conclude(None, answered, Failed(FailureKind.CANCELLED), None, actor)
        return await self.begin(answered, held, actor)

    async def _open_bank(self, payment: Payment, held: HeldLease, actor: str) -> BankDialogue | None:
        prepared = await self.prepare(payment, self._make_send_guard(payment, held.lease, actor))
        if prepared is None:
            return None
        return self._gateway.open(prepared, self._gateway.admissions.admit_customer(held))

    async def open_view(self, connection: Connection, found: tuple[Payment, bytes | None, bytes | None]) -> PaymentView:
        payment, sealed, _ = found
        if sealed is None or not payment.state.is_under_way:
            return PaymentView(payment, Secrets())
        return PaymentView(payment, await self._unseal(connection, payment, sealed))

    async def open_lookup_secrets(
        self, connection: Connection, found: tuple[Payment, bytes | None, bytes | None]
    ) -> Secrets:
        """The connector's state alone, for a look-up. Empty once the user has been erased."""
        payment, sealed, _ = found
        if sealed is None:
            return Secrets()
        try:
            return Secrets((await self._unseal(connection, payment, sealed)).state)
        except NotFoundError:
            return Secrets()

    async def _unseal(self, connection: Connection, payment: Payment, sealed: bytes) -> Secrets:
        associated_data = (payment.access_id or "", f"payment {payment.id}")
        return await self._user_encryption.unseal(connection, payment.user_id, *associated_data, sealed, Secrets)

    async def seal_credentials(self, connection: Connection, payment: Payment, credentials: dict[str, Secret]) -> bytes:
        plain = {name: value.reveal() for name, value in credentials.items()}
        associated_data = (payment.access_id or "", f"payment {payment.id} credentials")
        return await self._user_encryption.seal(connection, payment.user_id, *associated_data, plain)

    async def prepare(self, payment: Payment, may_send: Callable[[], bool]) -> Prepared | None:
        """With the credentials that were given for this payment, else with those of its access."""
        context = Context(
            self._clock.today(),
            self._user_encryption.name_customer(payment.user_id),
            payment.customer_ip,
            payment.callback_url,
            may_send,
        )
        credentials = await self.open_credentials(payment)
        if credentials is None:
            if payment.access_id is None or not await self._has_same_login(payment):
                return None
            return await self._gateway.prepare(payment.user_id, payment.access_id, context)
        assert payment.provider_id is not None
        return await self._gateway.prepare_unstored(payment.user_id, payment.provider_id, credentials, context)

    async def _has_same_login(self, payment: Payment) -> bool:
        """A dialogue that began with one login cannot go on with another."""
        assert payment.access_id is not None
        async with self._database.connect(payment.user_id) as connection:
            secrets = await accesses.find_secrets(connection, payment.user_id, payment.access_id)
        return secrets is not None and secrets.lease_key == payment.lease_key

    async def open_credentials(self, payment: Payment) -> dict[str, Secret] | None:
        """Those that were given for this payment alone; None where there are none, or nobody to use them for."""
        async with self._database.connect(payment.user_id) as connection:
            found = await payments.find_payment(connection, payment.user_id, payment.id)
            if found is None or found[2] is None:
                return None
            associated_data = (payment.access_id or "", f"payment {payment.id} credentials")
            plain = await self._user_encryption.unseal(
                connection, payment.user_id, *associated_data, found[2], dict[str, str]
            )
        return {name: Secret(value) for name, value in plain.items()}

    # The send guard

    def _make_send_guard(self, payment: Payment, lease: Lease, actor: str) -> Callable[[], bool]:
        """Asked in the connector's thread; answered by this loop, in a transaction of its own."""
        loop = asyncio.get_running_loop()

        def may_send() -> bool:
            asking = asyncio.run_coroutine_threadsafe(self._pass_send_guard(payment, lease, actor), loop)
            try:
                return asking.result(SEND_GUARD_SECONDS)
            except Exception as error:
                asking.cancel()
                log.warning("payment.send-guard-failed", payment=str(payment.id), reason=type(error).__name__)
                return False

        return may_send

    @retry_conflicts
    async def _pass_send_guard(self, payment: Payment, lease: Lease, actor: str) -> bool:
        """Write down that the order leaves now. Once: who comes a second time, too late or without lease is stopped."""
        async with self._database.transaction(payment.user_id) as connection:
            if not await leases.holds_lease(connection, lease):
                return False
            found = await payments.lock_payment(connection, payment.user_id, payment.id)
            if found is None:
                return False
            current, sealed, credentials = found
            if current.state is not PaymentState.OPEN or current.fence != lease.fence:
                return False
            if not await self._is_wanted(connection, current):
                return False
            is_first = not await payments.was_sent(connection, current.user_id, current.id)
            await payments.save_payment(connection, replace(current, state=PaymentState.SENDING), sealed, credentials)
            if is_first:  # a bank that is polled for a confirmation is sent the same order's reference again and again
                await record(connection, current, actor, "payment.send")
            fault_points.reach("payment.send")
        fault_points.reach("payment.sending")
        return True

    @staticmethod
    async def _is_wanted(connection: Connection, payment: Payment) -> bool:
        """Not for a user who was deactivated, or from an access that was deleted, while the bank was asked."""
        if not await users.is_active(connection, payment.user_id):
            return False
        if payment.access_id is None:
            return True
        return await accesses.find_access(connection, payment.user_id, payment.access_id) is not None

    # Parts

    async def _conclude(
        self, bank: BankDialogue | None, payment: Payment, step: Step, before: Secrets | None, actor: str
    ) -> PaymentView:
        view = await self._settle(payment, step, before, actor)
        if bank is not None and isinstance(step, QUESTIONS) and view.payment.state is PaymentState.FAILED:
            await bank.resume(step.state, Cancel())  # so that the bank does not wait for us
        return view

    async def _find_access(self, payment: Payment) -> Access | None:
        if payment.access_id is None:
            return None
        async with self._database.connect(payment.user_id) as connection:
            return await accesses.find_access(connection, payment.user_id, payment.access_id)

    @retry_conflicts
    async def _settle(self, payment: Payment, step: Step, before: Secrets | None, actor: str) -> PaymentView:
        """Store where the payment stands now, unless somebody has decided about it meanwhile."""
        async with self._database.transaction(payment.user_id) as connection:
            found = await payments.lock_payment(connection, payment.user_id, payment.id)
            if found is None:
                raise NotFoundError
            current, _, credentials = found
            is_ours = current.fence is not None and current.fence == payment.fence
            if not is_ours or not (current.state.is_under_way or current.state is PaymentState.UNKNOWN):
                return await self.open_view(connection, found)
            settled = conclude(replace(payment, state=current.state, lookups=current.lookups), step)
            if current.state is PaymentState.UNKNOWN and settled.state.is_under_way:
                return await self.open_view(connection, found)
            settled = self.plan_lookup(_note_verification(settled), datetime.now(UTC))
            secrets = keep_secrets(settled, step, before)
            await self.save(connection, settled, secrets, credentials)
            await apply_standing(connection, settled, _find_standing_key(step))
            if settled.state is not current.state and not settled.state.is_under_way:
                await self.publish(connection, settled)
            if not settled.state.is_under_way:
                await record(connection, settled, actor, f"payment.{settled.state.lower()}")
            elif settled.dialogue != current.dialogue:  # a poll that brings nothing new is no step
                await record(connection, settled, actor, "payment.step")
            fault_points.reach("payment.settle")
        fault_points.reach("payment.settled")
        log.info("payment.settled", payment=str(payment.id), state=str(settled.state), failure=str(settled.failure))
        if credentials is None:
            await self._learn(settled, step)
        await self.refresh_access(settled, is_attended=True)
        return PaymentView(settled, secrets)

    async def save(self, connection: Connection, payment: Payment, secrets: Secrets, credentials: bytes | None) -> None:
        """Secrets are kept no longer than they are needed."""
        sealed = None
        if payment.state.is_under_way or (payment.next_lookup_at is not None and secrets.state):
            associated_data = (payment.access_id or "", f"payment {payment.id}")
            sealed = await self._user_encryption.seal(connection, payment.user_id, *associated_data, secrets)
        is_needed = payment.state.is_under_way or payment.state in (PaymentState.DRAFT, PaymentState.UNKNOWN)
        await payments.save_payment(connection, payment, sealed, credentials if is_needed else None)
        dialogue = payment.dialogue
        if payment.access_id is not None and payment.state in (PaymentState.EXECUTED, PaymentState.ACCEPTED):
            await accesses.store_choice(
                connection, payment.user_id, payment.access_id, dialogue.chosen_method, dialogue.chosen_medium
            )

    async def publish(self, connection: Connection, payment: Payment) -> None:
        """Tell the tenant that the payment has come to an end, for now or for good. Before the audit entry."""
        event = Event(
            EventType.PAYMENT_STATUS,
            payment.user_id,
            payment.access_id,
            payment_id=payment.id,
            payment_kind=payment.kind,
        )
        await self._events.publish(connection, event)

    def plan_lookup(self, payment: Payment, now: datetime) -> Payment:
        """When the bank is to be asked: about an unknown one soon, about an accepted one after its day."""
        if payment.state is PaymentState.UNKNOWN:
            return replace(payment, next_lookup_at=now + timedelta(seconds=FIRST_LOOKUP_SECONDS))
        is_final = payment.standing is not None  # a standing order that the bank has accepted needs no day to come
        if payment.state is PaymentState.ACCEPTED and payment.access_id is not None and not is_final:
            today = self._clock.today()
            days = ((payment.execution_date or today) - today).days + 1
            return replace(payment, next_lookup_at=now + timedelta(days=max(1, days)))
        return replace(payment, next_lookup_at=None)

    async def refresh_access(self, payment: Payment, *, is_attended: bool) -> None:
        """An executed payment shows in the access's transactions; failing to fetch them changes nothing about it."""
        if payment.state is not PaymentState.EXECUTED or payment.access_id is None:
            return
        try:
            async with self._database.transaction(payment.user_id) as connection:
                await _start_fetch(connection, payment.user_id, payment.access_id, is_attended=is_attended)
            fault_points.reach("payment.refreshed")
        except Exception as error:
            log.warning("payment.refresh-failed", payment=str(payment.id), reason=type(error).__name__)

    async def _learn(self, payment: Payment, step: Step) -> None:
        """What a dialogue with the access's own credentials has taught is kept for the next, as after a fetch.

        Failing to keep it changes nothing about the payment.
        """
        user_id, access_id, lease_key = payment.user_id, payment.access_id, payment.lease_key
        if access_id is None or lease_key is None or not (isinstance(step, Done) and isinstance(step.result, Paid)):
            return
        if step.connector_state is None and step.result.consent_until is None:
            return
        try:
            async with self._database.transaction(payment.user_id) as connection:
                sealed = None
                if step.connector_state is not None:
                    sealed = await self._user_encryption.seal(
                        connection, user_id, access_id, "memory", step.connector_state
                    )
                learnt = step.result.consent_until
                await accesses.store_dialogue_state(connection, user_id, access_id, lease_key, sealed, learnt)
        except Exception as error:
            log.warning("payment.state-not-stored", payment=str(payment.id), reason=type(error).__name__)


def _note_verification(payment: Payment) -> Payment:
    """What the bank has said about the payees within this dialogue."""
    dialogue = payment.dialogue
    noted = note_results(payment.evidence, dialogue.payees, datetime.now(UTC), is_asked=dialogue.is_payee_open)
    return replace(payment, evidence=noted)


def _find_standing_key(step: Step) -> str | None:
    return step.result.standing_key if isinstance(step, Done) and isinstance(step.result, Paid) else None


async def _start_fetch(connection: Connection, user_id: UUID, access_id: str, *, is_attended: bool) -> None:
    access = await accesses.lock_access(connection, user_id, access_id)
    secrets = await accesses.find_secrets(connection, user_id, access_id)
    if access is None or not access.is_synced or secrets is None or secrets.credentials is None:
        return
    await request_fetch(connection, user_id, access_id, secrets.lease_key, is_attended=is_attended, all_history=False)


async def record(connection: Connection, payment: Payment, actor: str, action: str, detail: str = "") -> None:
    """Every step of a payment is in the audit trail, in the transaction that makes it."""
    subject = f"user {payment.pseudonym} payment {payment.id} {detail or payment.failure or ''}".rstrip()
    await auditing.record(connection, payment.tenant_id, actor, action, subject)
