"""After a fault: payments whose process died are closed truthfully, and unknown ones are asked about at the bank.

Nothing is ever sent again from here. Asking is done under the lease of the credentials, as everything at a bank.
"""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog

from kontor.connectors.base import Done, Failed, LookedUp, LookUp, Step
from kontor.domain.errors import BusyError, NotFoundError
from kontor.domain.payments import Payment, PaymentState
from kontor.services.banks import REFUSALS, BankGateway, HeldLease, Leasing, Permit, Prepared
from kontor.services.payments.dialogues import QUESTIONS, PaymentDialogues, record
from kontor.services.payments.standing_orders import apply_standing
from kontor.services.payments.steps import conclude_lookup, end_orphaned, make_pay
from kontor.services.runtime import fault_points
from kontor.storage import payments
from kontor.storage.database import Database
from kontor.storage.retries import retry_conflicts

log = structlog.get_logger(__name__)

ACTOR = "recovery"
BATCH = 20
WAIT_TIMEOUT_SECONDS = 4  # a bank that takes longer is waited for in the background
MAX_ACCEPTED_LOOKUPS = 10
MAX_UNKNOWN_AGE = timedelta(days=14)
ATTENDED = timedelta(minutes=15)  # so long after the order the customer counts as present


class PaymentRecovery:
    def __init__(
        self,
        database: Database,
        gateway: BankGateway,
        leasing: Leasing,
        dialogues: PaymentDialogues,
    ) -> None:
        self._database = database
        self._gateway = gateway
        self._leasing = leasing
        self._dialogues = dialogues
        self._asking: set[asyncio.Task[None]] = set()

    async def recover(self) -> int:
        """Close what was left behind, ask about what is due. Returns how many payments were looked at."""
        async with self._database.connect() as connection:
            orphaned = await payments.list_orphaned(connection, BATCH)
        for user_id, payment_id in orphaned:
            await self.close_orphaned(user_id, payment_id)
        async with self._database.transaction() as connection:
            due = await payments.claim_lookups(connection, BATCH)
            fault_points.reach("payment.lookup")
        for payment in due:
            task = asyncio.create_task(self.look_up(payment))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        if self._asking:
            await asyncio.wait(self._asking, timeout=WAIT_TIMEOUT_SECONDS)
        if orphaned or due:
            log.info("payment.recovery", closed=len(orphaned), asked=len(due))
        return len(orphaned) + len(due)

    @retry_conflicts
    async def close_orphaned(self, user_id: UUID, payment_id: UUID) -> None:
        """Not sent is failed, sent is unknown; looked at again under the row's lock."""
        now = datetime.now(UTC)
        async with self._database.transaction(user_id) as connection:
            found = await payments.lock_payment(connection, user_id, payment_id)
            closed = None if found is None else end_orphaned(found[0], now)
            if found is None or closed is None:
                return
            closed = self._dialogues.plan_lookup(closed, now)
            secrets = await self._dialogues.open_lookup_secrets(connection, found)
            await self._dialogues.save(connection, closed, secrets, found[2])
            await self._dialogues.publish(connection, closed)
            await record(connection, closed, ACTOR, f"payment.{closed.state.lower()}")
            fault_points.reach("payment.settle")
        fault_points.reach("payment.settled")
        log.warning("payment.orphaned", payment=str(payment_id), state=str(closed.state))

    async def look_up(self, payment: Payment) -> None:
        """Ask the bank what became of it; later where its credentials are in use or the day's calls are used up."""
        fault_points.reach("payment.lookup-claimed")
        assert payment.lease_key is not None
        try:
            async with self._leasing.hold(payment.lease_key, wait_seconds=0) as held:
                prepared = await self._prepare(payment)
                permit = None if prepared is None else await self._admit(payment, prepared, held)
                if prepared is None or permit is None:
                    return
                step = await self._gateway.open(prepared, permit).begin(await self._make_job(payment))
                fault_points.reach("payment.looked-up")
                await self._store(payment, step)
        except BusyError:
            return
        except Exception:
            log.exception("payment.lookup-failed", payment=str(payment.id))

    async def _prepare(self, payment: Payment) -> Prepared | None:
        """None where nobody can be called now: no credentials, or some that the bank has refused."""
        try:
            asking = payment if _is_attended(payment) else replace(payment, customer_ip=None)
            prepared = await self._dialogues.prepare(asking, lambda: False)
        except NotFoundError:  # the user was erased, and with the key everything that was sealed
            prepared = None
        if prepared is None or prepared.refusal is not None:
            await self._store(payment, None)
            return None
        return prepared

    async def _admit(self, payment: Payment, prepared: Prepared, held: HeldLease) -> Permit | None:
        """May the bank be called? Soon after the order the customer is there; later it counts as a call without."""
        admissions = self._gateway.admissions
        if _is_attended(payment):
            return admissions.admit_customer(held)
        access_id = None if prepared.stored_login is None else prepared.stored_login.access_id
        admitted = await admissions.admit_lookup(held, payment.user_id, access_id, payment.id)
        if isinstance(admitted, Permit):
            return admitted
        await self._store(payment, None)
        async with self._database.connect(payment.user_id) as connection:
            await payments.postpone_lookup(connection, payment.user_id, payment.id, admitted.total_seconds())
        return None

    async def _make_job(self, payment: Payment) -> LookUp:
        async with self._database.connect(payment.user_id) as connection:
            found = await payments.find_payment(connection, payment.user_id, payment.id)
            state = None if found is None else (await self._dialogues.open_lookup_secrets(connection, found)).state
        return LookUp(make_pay(payment), state or None)

    @retry_conflicts
    async def _store(self, payment: Payment, step: Step | None) -> None:
        now = datetime.now(UTC)
        async with self._database.transaction(payment.user_id) as connection:
            found = await payments.lock_payment(connection, payment.user_id, payment.id)
            if found is None or found[0].state not in (PaymentState.UNKNOWN, PaymentState.ACCEPTED):
                return
            current, _, credentials = found
            secrets = await self._dialogues.open_lookup_secrets(connection, found)
            known, key = None, None
            if isinstance(step, Done) and isinstance(step.result, LookedUp):
                known, key = conclude_lookup(current, step.result.outcome, step.result.detail), step.result.standing_key
            if known is None:
                known = self._plan_next(current, step, now, has_own_credentials=credentials is not None)
                credentials = credentials if known.next_lookup_at is not None else None
                await self._dialogues.save(connection, known, secrets, credentials)
                return
            known = self._dialogues.plan_lookup(known, now)
            await self._dialogues.save(connection, known, secrets, credentials)
            await apply_standing(connection, known, key)
            await self._dialogues.publish(connection, known)
            await record(connection, known, ACTOR, f"payment.{known.state.lower()}", "told by the bank")
            fault_points.reach("payment.reconcile")
        fault_points.reach("payment.reconciled")
        log.info("payment.reconciled", payment=str(payment.id), state=str(known.state))
        await self._dialogues.refresh_access(known, is_attended=False)

    @staticmethod
    def _plan_next(payment: Payment, step: Step | None, now: datetime, *, has_own_credentials: bool) -> Payment:
        """An unknown one stays so until the bank tells; the pause grows with each time it does not.

        A bank that wants the customer to authenticate is not asked again: his phone would ring each time. Nor is one
        that refuses the payment's own credentials; those of an access can be entered anew, and wait until then.
        """
        is_refused = isinstance(step, Failed) and step.kind in REFUSALS
        is_hopeless = isinstance(step, QUESTIONS) or (is_refused and has_own_credentials)
        if is_hopeless or payment.created_at < now - MAX_UNKNOWN_AGE - _days_ahead(payment):
            return replace(payment, next_lookup_at=None)
        if payment.state is PaymentState.ACCEPTED:
            is_enough = payment.lookups >= MAX_ACCEPTED_LOOKUPS
            return replace(payment, next_lookup_at=None if is_enough else now + timedelta(days=1))
        return payment


def _is_attended(payment: Payment) -> bool:
    return datetime.now(UTC) < payment.created_at + ATTENDED


def _days_ahead(payment: Payment) -> timedelta:
    if payment.execution_date is None:
        return timedelta()
    return max(timedelta(), timedelta(days=(payment.execution_date - payment.created_at.date()).days))
