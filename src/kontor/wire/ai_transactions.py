"""AiConnectTransaction: transactions of callers who keep their own data."""

from datetime import UTC
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.domain.cleaning import clean_amount
from kontor.domain.errors import InvalidError
from kontor.domain.transactions import Transaction, clean_transaction
from kontor.wire.transactions import parse_time

Text = Annotated[str, Meta(max_length=4000)]
Id = Annotated[str, Meta(max_length=256)]


class AiConnectTransaction(msgspec.Struct, omit_defaults=True):
    betrag: Annotated[Decimal, Meta(description="in euros")]
    buchungsdatum: Annotated[str, Meta(examples=["2026-11-13T00:00:00+01:00"])]
    verwendungszweck: Text
    user: Id
    provider: Id
    product: Id
    tenant: Id
    buchungstext: Text | None = None
    gegenkontoBic: Text | None = None  # noqa: N815
    gegenkontoIban: Text | None = None  # noqa: N815
    gegenkontoInhaber: Text | None = None  # noqa: N815
    gegenkontoInhaberAbweichend: Text | None = None  # noqa: N815 (the ultimate counterparty)
    gvCode: Text | None = None  # noqa: N815
    hash: Text | None = None
    id: Id | None = None
    primanotaNummer: Text | None = None  # noqa: N815
    waehrung: Annotated[str, Meta(pattern="^[A-Z]{3}$")] | None = None
    wertstellungsdatum: str | None = None
    tags: list[Any] | None = None


def read_ai_transaction(ai_transaction: AiConnectTransaction, number: int, field: str = "") -> Transaction:
    """Into our own words; the error names the entry of the list `field`, and its field."""
    place = f"{field}[{number}]"
    amount = clean_amount(ai_transaction.betrag)
    if amount is None or amount != ai_transaction.betrag:
        raise InvalidError("is no amount with at most two decimals", f"{place}.betrag")
    booked_at = parse_time(ai_transaction.buchungsdatum, f"{place}.buchungsdatum")
    value_at = None
    if ai_transaction.wertstellungsdatum is not None:
        value_at = parse_time(ai_transaction.wertstellungsdatum, f"{place}.wertstellungsdatum")
    transaction = clean_transaction(
        Transaction(
            amount=amount,
            currency=ai_transaction.waehrung or "EUR",
            booked_at=booked_at.astimezone(UTC),
            value_at=value_at,
            purpose=ai_transaction.verwendungszweck,
            booking_text=ai_transaction.buchungstext,
            gv_code=ai_transaction.gvCode,
            prima_nota=ai_transaction.primanotaNummer,
            counterparty_name=ai_transaction.gegenkontoInhaber,
            counterparty_iban=ai_transaction.gegenkontoIban,
            counterparty_bic=ai_transaction.gegenkontoBic,
            ultimate_counterparty=ai_transaction.gegenkontoInhaberAbweichend,
        )
    )
    if transaction is None:
        raise InvalidError("cannot be read", place)
    return transaction
