"""Payees that the user has paid (Zahlungsempfaenger), and what the user sets for them."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.cleaning import clean_amount
from kontor.domain.order_checks import MAX_AMOUNT
from kontor.domain.payees import MAX_HOLD_HOURS, Payee
from kontor.wire.encoding import format_timestamp
from kontor.wire.payments import MATCHES
from kontor.wire.products import Amount, present
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

# How fields of the body are called inside.
FIELDS = {"limit": "max_amount", "sperrfristStunden": "hold_hours"}
Limit = Annotated[Decimal, Meta(description="for all orders of a day; more than 0, at most two decimals; null: none")]
HoldHours = Annotated[int, Meta(ge=0, le=MAX_HOLD_HOURS, description="0 or null: none")]


class PayeeUpdate(msgspec.Struct):
    """At least one field."""

    limit: Limit | UnsetType | None = UNSET
    sperrfristStunden: HoldHours | UnsetType | None = UNSET  # noqa: N815


class PayeeVerification(msgspec.Struct):
    result: MATCHES
    at: Timestamp


class Zahlungsempfaenger(msgspec.Struct):
    id: UUID
    name: Annotated[str, Meta(description="as in the latest order")]
    iban: str
    firstUsed: Timestamp  # noqa: N815
    lastUsed: Timestamp  # noqa: N815
    relations: list[Relation]
    verification: Annotated[PayeeVerification, Meta(description="the latest")] | UnsetType = UNSET
    limit: Annotated[Amount, Meta(description="for all orders of a day")] | UnsetType = UNSET
    sperrfristStunden: int | UnsetType = UNSET  # noqa: N815


def read_update(body: PayeeUpdate) -> tuple[dict[str, object], list[tuple[str, str]]]:
    """By the names that the fields have inside; and what is wrong with them."""
    given = {name: getattr(body, name) for name in FIELDS if getattr(body, name) is not UNSET}
    problems = []
    if isinstance(body.limit, Decimal):
        cleaned = clean_amount(body.limit)
        if cleaned is None or cleaned != body.limit or not 0 < cleaned <= MAX_AMOUNT:
            problems.append(("limit", f"expected more than 0, at most {MAX_AMOUNT}, with at most two decimals"))
    return {FIELDS[name]: value for name, value in given.items()}, problems


def show_payee(payee: Payee, urls: Urls) -> Zahlungsempfaenger:
    verification: PayeeVerification | UnsetType = UNSET
    if payee.result is not None and payee.verified_at is not None:
        verification = PayeeVerification(payee.result.match.value, format_timestamp(payee.verified_at))
    limit = payee.settings.max_amount
    return Zahlungsempfaenger(
        id=payee.id,
        name=payee.name,
        iban=payee.iban,
        firstUsed=format_timestamp(payee.first_at),
        lastUsed=format_timestamp(payee.last_at),
        relations=urls.payee_relations(payee.id),
        verification=verification,
        limit=present(limit),
        sperrfristStunden=present(payee.settings.hold_hours or None),
    )
