"""Drafts: payments that a redirect tenant ordered, and that the user completes and confirms on our own pages.

The way of a draft: `read` it, `change` its orders where the tenant allows that, choose from where to pay
(`choose_product` or `choose_credentials`), `verify` the payees, then `start`. From then on it is a payment as any
other: `Payments.answer`, `accept_payees` and `read_payment`. Cancelling is `Payments.answer` with `CANCEL`.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from uuid import UUID

from kontor.domain.direct_debits import check_collection_date
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.order_checks import OrderError, OrderProblem, check_execution_date, check_orders, list_payees
from kontor.domain.payee_evidence import note_choice, note_results, note_warnings
from kontor.domain.payments import Order, PayeeChoice, PayeeResult, PayeeWarning, Payment, PaymentKind, PaymentState
from kontor.domain.principals import Principal, user_of
from kontor.domain.secrets import Secret
from kontor.services.accesses import Accesses, AccessView, UnconfirmedAccess
from kontor.services.banks import Providers
from kontor.services.payments.debtors import Debtor
from kontor.services.payments.dialogues import PaymentView, record
from kontor.services.payments.payments import PaymentNotOpenError, Payments
from kontor.services.payments.requests import attach_debtor
from kontor.services.runtime import Clock
from kontor.services.security import auditing
from kontor.storage import payments
from kontor.storage.database import Connection, Database


class PaymentDrafts:
    def __init__(
        self,
        database: Database,
        paying: Payments,
        providers: Providers,
        added: Accesses,
        clock: Clock,
    ) -> None:
        self._database = database
        self._payments = paying
        self._dialogues = paying.dialogues
        self._debtors = paying.debtors
        self._providers = providers
        self._accesses = added
        self._clock = clock

    async def read(self, principal: Principal, payment_id: UUID) -> PaymentView:
        """The draft, or what has become of it. Raises NotFoundError."""
        return await self._payments.read_payment(principal, payment_id)

    async def list_products(self, principal: Principal, payment_id: UUID) -> list[AccessView]:
        """The user's accesses with the products from which this draft can be paid with stored credentials."""
        draft = (await self.read(principal, payment_id)).payment
        is_bulk = draft.kind is PaymentKind.BULK
        found = []
        for view in await self._accesses.list_accesses(principal):
            if isinstance(view, UnconfirmedAccess):
                continue
            fitting = tuple(
                product
                for product in view.products
                if product.product.can_transfer and (product.product.can_bulk_transfer or not is_bulk)
            )
            if view.has_credentials and fitting:
                found.append(replace(view, products=fitting))
        return found

    async def change(
        self,
        principal: Principal,
        payment_id: UUID,
        given: Sequence[Order],
        *,
        is_instant: bool,
        execution_date: date | None,
    ) -> PaymentView:
        """Other orders. Raises InvalidError where the tenant did not allow it, OrderError for what no bank is to see.

        What was said about the payees before is forgotten.
        """
        async with self._database.transaction(principal.user_id) as connection:
            draft, credentials = await self._lock(connection, principal, payment_id)
            if not draft.is_editable:
                raise InvalidError("the details of this payment cannot be changed", "editableDetails")
            orders = check_orders(given, is_bulk=draft.kind is PaymentKind.BULK)
            if len(orders) != len(draft.orders):
                raise OrderError(OrderProblem.DATA, "the number of transfers cannot be changed", "transferDetails")
            check_execution_date(execution_date, self._clock.today(), is_instant=is_instant)
            is_same_payee = list_payees(orders) == list_payees(draft.orders)
            changed = replace(
                draft,
                orders=orders,
                given=tuple(given),
                is_instant=is_instant,
                execution_date=execution_date,
                is_payee_accepted=draft.is_payee_accepted and is_same_payee,
                evidence=draft.evidence if is_same_payee else None,
            )
            return await self._save(connection, principal, _forget_payees(changed), credentials, "payment.change")

    async def choose_product(
        self, principal: Principal, payment_id: UUID, access_id: str, product_id: UUID
    ) -> PaymentView:
        """Pay from a stored product. Raises NotFoundError, or OrderError where it cannot pay."""
        draft = (await self.read(principal, payment_id)).payment
        debtor = await self._debtors.find_stored(principal, access_id, product_id, draft.kind)
        return await self._choose(principal, payment_id, debtor)

    async def choose_credentials(
        self, principal: Principal, payment_id: UUID, provider_id: UUID, credentials: dict[str, Secret], product: str
    ) -> PaymentView:
        """Pay from an account (id of an own product, IBAN or the bank's key) with credentials from our own form.

        They are sealed with the payment, and forgotten with its end. Raises OrderError for what is incomplete.
        """
        draft = (await self.read(principal, payment_id)).payment
        provider = self._providers.find(provider_id)
        if provider is None or not self._providers.can_connect(provider):
            raise InvalidError("this bank cannot be connected", "provider")
        debtor = await self._debtors.find_opened(principal, provider, credentials, product, draft.kind)
        return await self._choose(principal, payment_id, debtor)

    async def verify(self, principal: Principal, payment_id: UUID, customer_ip: str | None) -> tuple[PayeeResult, ...]:
        """Ask the bank about the payees, and keep the results with the draft (`dialogue.payees`) for the page.

        Raises OrderError where no account was chosen yet, LoginRefusedError where the bank did not let us in.
        """
        view = await self.read(principal, payment_id)
        debtor = await self._find_debtor(principal, view.payment)
        results = await self._payments.verifications.ask_bank(principal, debtor, view.payment.orders, customer_ip)
        async with self._database.transaction(principal.user_id) as connection:
            draft, credentials = await self._lock(connection, principal, payment_id)
            if draft.orders == view.payment.orders:
                known = replace(
                    draft,
                    dialogue=replace(draft.dialogue, payees=results),
                    evidence=note_results(draft.evidence, results, datetime.now(UTC), is_asked=True),
                )
                await self._save(connection, principal, known, credentials, "payment.verify")
        return results

    async def warn(self, principal: Principal, payment_id: UUID) -> tuple[PayeeWarning, ...]:
        """What differs from earlier orders, kept with the draft (`dialogue.warnings`) for the page."""
        draft = (await self.read(principal, payment_id)).payment
        warnings = await self._payments.payees.find_warnings(draft)
        async with self._database.transaction(principal.user_id) as connection:
            current, credentials = await self._lock(connection, principal, payment_id)
            if current.orders != draft.orders or current.dialogue.warnings == warnings:
                return warnings
            told = replace(
                current,
                dialogue=replace(current.dialogue, warnings=warnings),
                evidence=note_warnings(current.evidence, warnings, datetime.now(UTC)),
            )
            await self._save(connection, principal, told, credentials, "payment.warn")
        return warnings

    async def start(
        self,
        principal: Principal,
        payment_id: UUID,
        *,
        customer_ip: str | None,
        callback_url: str | None,
        accepted_payees: tuple[PayeeResult, ...] = (),
    ) -> PaymentView:
        """Order it at the bank. Started before, its status is answered: a page sent twice pays once.

        Raises DraftChangedError where somebody changes it meanwhile.

        `accepted_payees` are the results of `verify` that the user has seen and accepted. Any other result that does
        not match stops the payment with `is_payee_open`. `callback_url` is where the bank's own page sends the user
        back to.
        """
        draft = (await self.read(principal, payment_id)).payment
        if draft.state is not PaymentState.DRAFT:
            return await self._payments.await_settled(draft.user_id, draft.id)
        if draft.lease_key is None:
            raise OrderError(OrderProblem.DATA, "choose the account to pay from first", "product")
        if draft.debit is not None:
            check_collection_date(draft.execution_date, self._clock.today())
        else:
            check_execution_date(draft.execution_date, self._clock.today(), is_instant=draft.is_instant)
        evidence = draft.evidence
        if accepted_payees:
            evidence = note_choice(evidence, PayeeChoice.CONFIRMED, datetime.now(UTC))
        ready = replace(
            _forget_payees(draft),
            evidence=evidence,
            customer_ip=customer_ip or draft.customer_ip,
            callback_url=callback_url,
        )
        return await self._payments.begin_stored(ready, principal, accepted_payees)

    # Parts

    async def _choose(self, principal: Principal, payment_id: UUID, debtor: Debtor) -> PaymentView:
        async with self._database.transaction(principal.user_id) as connection:
            draft, _ = await self._lock(connection, principal, payment_id)
            chosen = attach_debtor(draft, debtor)
            sealed = None
            if debtor.credentials is not None:
                sealed = await self._dialogues.seal_credentials(connection, chosen, debtor.credentials)
            return await self._save(connection, principal, _forget_payees(chosen), sealed, "payment.choose")

    async def _find_debtor(self, principal: Principal, draft: Payment) -> Debtor:
        if draft.lease_key is None or draft.provider_id is None or draft.product_key is None:
            raise OrderError(OrderProblem.DATA, "choose the account to pay from first", "product")
        credentials = await self._dialogues.open_credentials(draft)
        if credentials is None and draft.access_id is not None and draft.product_id is not None:
            return await self._debtors.find_stored(principal, draft.access_id, draft.product_id, draft.kind)
        product = draft.product or draft.product_key
        return Debtor(
            draft.provider_id, product, draft.product_key, draft.lease_key, None, draft.product_id, credentials
        )

    async def _lock(
        self, connection: Connection, principal: Principal, payment_id: UUID
    ) -> tuple[Payment, bytes | None]:
        """Raises PaymentNotOpenError where it is a draft no more."""
        found = await payments.lock_payment(connection, user_of(principal), payment_id)
        if found is None:
            raise NotFoundError
        if found[0].state is not PaymentState.DRAFT or found[0].is_over(datetime.now(UTC)):
            raise PaymentNotOpenError(await self._dialogues.open_view(connection, found))
        return found[0], found[2]

    async def _save(
        self, connection: Connection, principal: Principal, draft: Payment, sealed: bytes | None, action: str
    ) -> PaymentView:
        await payments.save_payment(connection, draft, None, sealed)
        await record(connection, draft, auditing.name_actor(principal), action)
        return await self._dialogues.open_view(connection, (draft, None, sealed))


def _forget_payees(draft: Payment) -> Payment:
    return replace(draft, dialogue=replace(draft.dialogue, payees=()))
