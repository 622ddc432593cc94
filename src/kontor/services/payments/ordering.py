"""Orders: checked, stored together or not at all, then begun at the bank one after the other.

A file orders several payments at once, everything else one.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from kontor.domain.dialogues import Secrets
from kontor.domain.errors import ConflictError
from kontor.domain.order_checks import DuplicateOrderError, OrderError
from kontor.domain.payments import Payment, PaymentState
from kontor.domain.principals import Principal, user_of
from kontor.services.banks import Leasing
from kontor.services.payments.debtors import Debtor
from kontor.services.payments.dialogues import PaymentDialogues, PaymentView, record
from kontor.services.payments.payees import Payees
from kontor.services.payments.requests import PaymentRequest, digest_order, make_payment
from kontor.services.payments.standing_orders import StandingOrders
from kontor.services.payments.verifications import PaymentVerifications
from kontor.services.runtime import Clock, fault_points
from kontor.services.security import auditing
from kontor.storage import payments
from kontor.storage.database import Connection, Database

AwaitSettled = Callable[[UUID, UUID], Awaitable[PaymentView]]


class _KeyTakenError(Exception):
    """By an order that was given at the same time. Nothing is stored."""


@dataclass(frozen=True, slots=True)
class _New:
    """A payment that is to be stored."""

    payment: Payment
    request: PaymentRequest


class PaymentOrdering:
    """`await_settled` answers what comes of a payment that was ordered before."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        leasing: Leasing,
        dialogues: PaymentDialogues,
        standing_orders: StandingOrders,
        verifications: PaymentVerifications,
        payees: Payees,
        await_settled: AwaitSettled,
    ) -> None:
        self._database = database
        self._clock = clock
        self._leasing = leasing
        self._dialogues = dialogues
        self._standing_orders = standing_orders
        self._verifications = verifications
        self._payees = payees
        self._await_settled = await_settled

    async def order(
        self, principal: Principal, debtor: Debtor, requests: Sequence[PaymentRequest]
    ) -> list[PaymentView]:
        """One payment per request, all from one account; those that were ordered before are answered.

        Raises OrderError, DuplicateOrderError or ConflictError before anything is stored.
        """
        made = [
            make_payment(principal, debtor, request, PaymentState.OPEN, self._clock.today()) for request in requests
        ]
        known: dict[int, UUID] = {}
        for number, (payment, request) in enumerate(zip(made, requests, strict=True)):
            existing = await self.find_existing(principal, request, payment.request_digest)
            if existing is not None:
                known[number] = existing.id
        views: dict[int, PaymentView] = {}
        wanted = [number for number in range(len(made)) if number not in known]
        if wanted:
            try:
                new = [_New(await self._prepare(made[number], requests[number]), requests[number]) for number in wanted]
                views = dict(zip(wanted, await self._begin(principal, debtor, new), strict=True))
            except (_KeyTakenError, OrderError) as error:
                # The same order, sent at the same time, may have taken the key or the verification since we looked.
                if isinstance(error, OrderError) and not await self._is_any_known(principal, made, requests, wanted):
                    raise
                return await self.order(principal, debtor, requests)
        for number, payment_id in known.items():
            views[number] = await self._await_settled(user_of(principal), payment_id)
        return [views[number] for number in range(len(made))]

    async def find_existing(self, principal: Principal, request: PaymentRequest, digest: bytes) -> Payment | None:
        """The payment that was given under the same key. Raises ConflictError where that was another order."""
        found: list[Payment] = []
        async with self._database.connect(principal.user_id) as connection:
            if request.payment_id is not None:
                known = await payments.find_payment(connection, user_of(principal), request.payment_id)
                found += [] if known is None else [known[0]]
            if request.idempotency_key is not None:
                by_key = await payments.find_by_key(connection, user_of(principal), request.idempotency_key)
                found += [] if by_key is None else [by_key]
        if not found:
            return None
        if any(payment.request_digest != digest for payment in found) or len({payment.id for payment in found}) > 1:
            raise ConflictError("This paymentId or Idempotency-Key was used for another order.")
        return found[0]

    # Parts

    async def _is_any_known(
        self, principal: Principal, made: Sequence[Payment], requests: Sequence[PaymentRequest], wanted: Sequence[int]
    ) -> bool:
        for number in wanted:
            if await self.find_existing(principal, requests[number], made[number].request_digest) is not None:
                return True
        return False

    async def _prepare(self, payment: Payment, request: PaymentRequest) -> Payment:
        await self._standing_orders.check_active(payment)
        return await self._payees.warn(await self._verifications.accept(payment, request))

    async def _begin(self, principal: Principal, debtor: Debtor, new: Sequence[_New]) -> list[PaymentView]:
        """Raises _KeyTakenError. Of a payment with a warning the bank is not asked yet."""
        actor = auditing.name_actor(principal)
        async with self._leasing.hold(debtor.lease_key) as held:
            fault_points.reach("payment.lease-taken")
            fence = held.lease.fence
            ready = [
                replace(each, payment=replace(each.payment, fence=None if _is_stopped(each.payment) else fence))
                for each in new
            ]
            async with self._database.transaction(principal.user_id) as connection:
                await self._insert(connection, debtor, ready)
                for each in ready:
                    await record(connection, each.payment, actor, "payment.order")
                fault_points.reach("payment.insert")
            fault_points.reach("payment.inserted")
            return [
                PaymentView(each.payment, Secrets())
                if _is_stopped(each.payment)
                else await self._dialogues.begin(each.payment, held, actor)
                for each in ready
            ]

    async def _insert(self, connection: Connection, debtor: Debtor, new: Sequence[_New]) -> None:
        """All that keeps second ones away, in one transaction. Raises _KeyTakenError when a key is taken."""
        for each in new:
            sealed = None
            if debtor.credentials is not None:
                sealed = await self._dialogues.seal_credentials(connection, each.payment, debtor.credentials)
            if not await payments.insert_payment(connection, each.payment, sealed):
                raise _KeyTakenError
        # In one order: two files at once may contain the same orders.
        for fingerprint, each in sorted(((digest_order(each.payment), each) for each in new), key=lambda pair: pair[0]):
            payment, request = each.payment, each.request
            if request.payment_id is not None or request.idempotency_key is not None:
                await payments.note_order(connection, payment.user_id, fingerprint, payment.id)
            elif not await payments.claim_order(connection, payment.user_id, fingerprint, payment.id):
                raise DuplicateOrderError("The same order was given less than a minute ago.")
        await self._payees.check_all(connection, [(each.payment, each.request.fields) for each in new])
        for each in new:
            if each.request.verification_id is not None:
                await self._verifications.use(connection, each.payment.user_id, each.request.verification_id)


def _is_stopped(payment: Payment) -> bool:
    return payment.dialogue.is_warning_open
