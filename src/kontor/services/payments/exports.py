"""Payments as pain.001 or pain.008: for a bank's upload page, or a program that sends orders itself."""

from uuid import UUID

from kontor.connectors.pain001 import Batch, write_pain001
from kontor.connectors.pain008 import DebitBatch, write_pain008
from kontor.connectors.pain_messages import Party
from kontor.domain.errors import ConflictError, NotFoundError
from kontor.domain.payments import Payment
from kontor.domain.principals import Principal, user_of
from kontor.domain.products import Product
from kontor.services.runtime import Clock
from kontor.storage import payments, products
from kontor.storage.database import Database


class PaymentExports:
    """Both raise NotFoundError for payments of the other kind, ConflictError where the account is not known here."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def write_transfers(self, principal: Principal, payment_id: UUID) -> bytes:
        """The order as pain.001, whatever became of it."""
        payment = await self._find_payment(principal, payment_id)
        if payment.debit is not None:
            raise NotFoundError
        product, iban = await self._find_account(payment)
        debtor = Party(product.holder, iban, product.bic)
        day = payment.execution_date or self._clock.today()
        batch = Batch(payment.bank_id.hex, payment.orders, day, payment.is_bulk, payment.is_instant)
        return write_pain001(debtor, batch, payment.created_at)

    async def write_debits(self, principal: Principal, payment_id: UUID) -> bytes:
        """Direct debits as pain.008, whatever became of them."""
        payment = await self._find_payment(principal, payment_id)
        if payment.debit is None or payment.execution_date is None:
            raise NotFoundError
        product, iban = await self._find_account(payment)
        creditor = Party(product.holder, iban, product.bic)
        batch = DebitBatch(payment.bank_id.hex, payment.orders, payment.debit, payment.execution_date)
        return write_pain008(creditor, batch, payment.created_at)

    async def _find_payment(self, principal: Principal, payment_id: UUID) -> Payment:
        async with self._database.connect(principal.user_id) as connection:
            found = await payments.find_payment(connection, user_of(principal), payment_id)
        if found is None:
            raise NotFoundError
        return found[0]

    async def _find_account(self, payment: Payment) -> tuple[Product, str]:
        """The user's own account, with its IBAN."""
        stored = None
        if payment.access_id is not None and payment.product_id is not None:
            async with self._database.connect(payment.user_id) as connection:
                stored = await products.find_product(connection, payment.user_id, payment.access_id, payment.product_id)
        if stored is None or not stored.product.iban:
            raise ConflictError("The payment's own account is not stored here.")
        return stored.product, stored.product.iban
