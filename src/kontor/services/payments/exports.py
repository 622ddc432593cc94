"""Payments as pain.001: for a bank's upload page, or a program that sends orders itself."""

from uuid import UUID

from kontor.connectors.pain001 import Batch, write_pain001
from kontor.connectors.pain001 import Debtor as PainDebtor
from kontor.domain.errors import ConflictError, NotFoundError
from kontor.domain.payments import Payment, PaymentKind
from kontor.domain.principals import Principal, user_of
from kontor.services.runtime import Clock
from kontor.storage import payments, products
from kontor.storage.database import Database


class PaymentExports:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def write(self, principal: Principal, payment_id: UUID) -> bytes:
        """The order, whatever became of it. Raises ConflictError where the account is not known here."""
        user_id = user_of(principal)
        async with self._database.connect() as connection:
            found = await payments.find_payment(connection, user_id, payment_id)
            if found is None:
                raise NotFoundError
            payment: Payment = found[0]
            stored = None
            if payment.access_id is not None and payment.product_id is not None:
                stored = await products.find_product(connection, user_id, payment.access_id, payment.product_id)
        if stored is None or not stored.product.iban:
            raise ConflictError("The debtor's account is not stored here.")
        debtor = PainDebtor(stored.product.holder, stored.product.iban, stored.product.bic)
        day = payment.execution_date or self._clock.today()
        is_bulk = payment.kind is PaymentKind.BULK
        batch = Batch(payment.bank_id.hex, payment.orders, day, is_bulk, payment.is_instant)
        return write_pain001(debtor, batch, payment.created_at)
