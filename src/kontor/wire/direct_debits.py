"""Direct debits as they are ordered."""

from datetime import date
from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.domain.direct_debits import make_instruction
from kontor.domain.mandates import DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.payments import Order
from kontor.wire.payments import SCHEMES, SEQUENCES, JsonNumber, Text, read_amount


class NewDebit(msgspec.Struct):
    debtor: Text
    iban: Annotated[Text, Meta(description="the debtor's account")]
    amount: JsonNumber
    currency: Annotated[Text, Meta(description="EUR", examples=["EUR"])]
    purpose: Text
    mandateId: Annotated[Text, Meta(description="the mandate's reference, at most 35 characters")]  # noqa: N815
    mandateDate: Annotated[date, Meta(description="when the debtor signed the mandate")]  # noqa: N815
    sequenceType: SEQUENCES  # noqa: N815
    bic: Text | None = None
    endToEndId: Text | None = None  # noqa: N815

    def to_order(self, place: str) -> Order:
        return Order(
            recipient=self.debtor,
            iban=self.iban,
            amount=read_amount(self.amount, f"{place}.amount"),
            currency=self.currency,
            purpose=self.purpose,
            bic=self.bic,
            end_to_end_id=self.endToEndId,
        )


class NewDirectDebit(msgspec.Struct):
    """One entry of `debits` is a single direct debit, more are a bulk. All of them have the same `sequenceType`."""

    scheme: SCHEMES
    creditorId: Annotated[Text, Meta(description="SEPA creditor identifier", examples=["DE98ZZZ09999999999"])]  # noqa: N815
    requestedCollectionDate: Annotated[date, Meta(description="in the future")]  # noqa: N815
    debits: Annotated[list[NewDebit], Meta(min_length=1, max_length=1000)]

    def list_orders(self) -> tuple[Order, ...]:
        return tuple(debit.to_order(f"debits[{place}]") for place, debit in enumerate(self.debits))

    def to_instruction(self) -> DebitInstruction:
        """Raises OrderError where sequence types differ."""
        mandates = [
            (Mandate(debit.mandateId, debit.mandateDate), SequenceType(debit.sequenceType)) for debit in self.debits
        ]
        return make_instruction(DebitScheme(self.scheme), self.creditorId, mandates)
