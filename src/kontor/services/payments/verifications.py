"""Verification of payees before paying: does the name fit the IBAN?

What comes of it is kept under an id that one payment to the very same payees may use, once, until it expires.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from kontor.connectors.base import (
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
    Verified,
    VerifyPayees,
)
from kontor.domain.order_checks import OrderError, OrderProblem, check_orders, list_payees
from kontor.domain.payee_evidence import note_choice
from kontor.domain.payees import find_warnings
from kontor.domain.payments import (
    Order,
    PayeeChoice,
    PayeeEvidence,
    PayeeMatch,
    PayeeResult,
    Payment,
    PaymentKind,
    PaymentState,
    Verification,
)
from kontor.domain.principals import Principal, user_of
from kontor.services.banks import REFUSALS, BankDialogue, BankGateway, HeldLease, Leasing
from kontor.services.payments.debtors import Debtor
from kontor.services.payments.requests import PaymentRequest
from kontor.services.runtime import Clock
from kontor.services.security import UserEncryption, auditing
from kontor.storage import payees, verifications
from kontor.storage.database import Connection, Database

LIFETIME = timedelta(minutes=15)
FIELD = "vopId"
_NEEDS = (NeedMethod, NeedMedium, NeedTan, NeedConfirmation, NeedRedirect)


class LoginRefusedError(Exception):
    """The bank did not let us in, so nothing was verified."""

    def __init__(self, failure: FailureKind) -> None:
        super().__init__(str(failure))
        self.failure = failure


class PaymentVerifications:
    def __init__(
        self, database: Database, gateway: BankGateway, user_encryption: UserEncryption, clock: Clock, leasing: Leasing
    ) -> None:
        self._database = database
        self._gateway = gateway
        self._user_encryption = user_encryption
        self._clock = clock
        self._leasing = leasing

    async def verify(
        self,
        principal: Principal,
        debtor: Debtor,
        given: Sequence[Order],
        kind: PaymentKind,
        payment_id: UUID | None,
        customer_ip: str | None = None,
    ) -> Verification:
        """Ask the bank. Without a payment's id a fresh one is made, to be used with the transfer."""
        orders = check_orders(given, is_bulk=kind is PaymentKind.BULK)
        results = await self.ask_bank(principal, debtor, orders, customer_ip)
        now = datetime.now(UTC)
        async with self._database.connect(principal.user_id) as connection:
            warnings = find_warnings(orders, await payees.list_uses(connection, user_of(principal)))
        verification = Verification(
            id=uuid4(),
            user_id=user_of(principal),
            payment_id=payment_id or uuid4(),
            payees=list_payees(orders),
            results=results,
            expires_at=now + LIFETIME,
            verified_at=now,
            warnings=warnings,
        )
        async with self._database.transaction(principal.user_id) as connection:
            await verifications.insert_verification(connection, verification)
            subject = f"user {principal.user_pseudonym} payment {verification.payment_id} vop {verification.id}"
            actor = auditing.name_actor(principal)
            await auditing.record(connection, principal.tenant_id, actor, "payment.verify", subject)
        return verification

    async def note_shown(self, verification: Verification, text: str) -> None:
        """Keep what the caller gets to read about `warnings`, before it is sent."""
        async with self._database.transaction(verification.user_id) as connection:
            await verifications.save_shown_text(connection, verification.user_id, verification.id, text)

    async def ask_bank(
        self, principal: Principal, debtor: Debtor, orders: tuple[Order, ...], customer_ip: str | None
    ) -> tuple[PayeeResult, ...]:
        """One result per order. A bank that cannot tell has not verified."""
        unverified = tuple(PayeeResult(PayeeMatch.NOT_POSSIBLE) for _ in orders)
        async with self._leasing.hold(debtor.lease_key) as held:
            bank = await self._open_bank(held, principal, debtor, customer_ip)
            if bank is None:
                return unverified
            step = await bank.begin(VerifyPayees(debtor.product_key, orders))
            if isinstance(step, NeedPayeeDecision):
                await bank.resume(step.state, Cancel())
                return step.results if len(step.results) == len(orders) else unverified
            if isinstance(step, _NEEDS):
                await bank.resume(step.state, Cancel())
        if isinstance(step, Failed) and step.kind in REFUSALS:
            raise LoginRefusedError(step.kind)
        if isinstance(step, Done) and isinstance(step.result, Verified) and len(step.result.results) == len(orders):
            return step.result.results
        return unverified

    async def accept(self, payment: Payment, request: PaymentRequest) -> Payment:
        """The payment with the verification that the caller has made before. Raises as `check`."""
        if request.verification_id is None:
            return payment
        wanted = payment.id if request.payment_id is not None else None
        is_draft = payment.state is PaymentState.DRAFT  # whose id is ours, and not known to who asked before
        found = await self.check(payment, request.verification_id, wanted, is_any_payment=is_draft)
        # Whoever orders with a verification has shown it to the user, the verdict in words of their own.
        evidence = PayeeEvidence(
            found.results, found.verified_at, found.shown_text, request.language, warnings=found.warnings
        )
        chosen = note_choice(evidence, PayeeChoice.CONFIRMED, payment.created_at)
        return replace(payment, is_payee_accepted=True, evidence=chosen)

    async def check(
        self, payment: Payment, verification_id: UUID, wanted: UUID | None, *, is_any_payment: bool
    ) -> Verification:
        """Raises OrderError unless it was made for the wanted payment and these payees, and can still be used."""
        async with self._database.connect(payment.user_id) as connection:
            found = await verifications.find_verification(connection, payment.user_id, verification_id)
        if found is None:
            raise OrderError(OrderProblem.DATA, "is unknown, expired or used", FIELD)
        if not is_any_payment and found.payment_id != wanted:
            raise OrderError(OrderProblem.DATA, "was made for another paymentId", FIELD)
        if found.payees != list_payees(payment.orders):
            raise OrderError(OrderProblem.DATA, "was made for other payees", FIELD)
        return found

    @staticmethod
    async def use(connection: Connection, user_id: UUID, verification_id: UUID) -> None:
        """In the transaction that stores the payment: of two that come at once, one gets it."""
        if not await verifications.use_verification(connection, user_id, verification_id):
            raise OrderError(OrderProblem.DATA, "is unknown, expired or used", FIELD)

    async def _open_bank(
        self, held: HeldLease, principal: Principal, debtor: Debtor, customer_ip: str | None
    ) -> BankDialogue | None:
        user_id = user_of(principal)
        customer = self._user_encryption.name_customer(user_id)
        context = Context(self._clock.today(), customer, customer_ip, may_send=lambda: False)
        if debtor.credentials is not None:
            provider_id, credentials = debtor.provider_id, debtor.credentials
            return await self._gateway.open_unstored(held, user_id, provider_id, credentials, context)
        assert debtor.access is not None
        return await self._gateway.open_attended(held, user_id, debtor.access.id, context)
