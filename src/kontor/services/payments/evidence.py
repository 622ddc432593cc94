"""Evidence of verifications of payees: what the bank said, what the user was shown and chose."""

from dataclasses import replace
from uuid import UUID

from kontor.domain.errors import NotFoundError
from kontor.domain.payee_evidence import needs_noting
from kontor.domain.payments import PayeeEvidence, Payment
from kontor.domain.principals import Principal, user_of
from kontor.services.runtime import fault_points
from kontor.storage import payments
from kontor.storage.database import Database


class PaymentEvidence:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, principal: Principal, payment_id: UUID) -> PayeeEvidence:
        """Raises NotFoundError where there is no such payment, or nobody has verified its payees."""
        async with self._database.connect(principal.user_id) as connection:
            found = await payments.find_payment(connection, user_of(principal), payment_id)
        if found is None or found[0].evidence is None:
            raise NotFoundError
        return found[0].evidence

    async def note_shown(self, principal: Principal, payment: Payment, text: str, language: str) -> None:
        """Keep what the user is about to read about the payees, before it is sent. Not once the user has chosen."""
        if payment.evidence is None or not needs_noting(payment.evidence, text, language):
            return
        async with self._database.transaction(principal.user_id) as connection:
            found = await payments.lock_payment(connection, payment.user_id, payment.id)
            current = None if found is None else found[0]
            if current is not None and current.evidence is not None and needs_noting(current.evidence, text, language):
                shown = replace(current.evidence, shown_text=text, language=language)
                await payments.save_evidence(connection, replace(current, evidence=shown))
            fault_points.reach("payment.show")
        fault_points.reach("payment.shown")
