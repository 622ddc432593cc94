"""Freigaben of customers, and customers as their advisers see them."""

from datetime import date
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.disclosures import DisclosingCustomer, Disclosure, DisclosureRead, DisclosureScope
from kontor.wire.encoding import format_timestamp
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

Umfang = Annotated[
    list[DisclosureScope],
    Meta(min_length=1, max_length=5, description="which analyses; with `credit-bookings`, bookings of credit files"),
]
GueltigBis = Annotated[date, Meta(description="last day; at most twelve months from now")]
Berater = Annotated[UUID, Meta(description="reference of the adviser; without it, every adviser of the tenant")]


class NewFreigabe(msgspec.Struct):
    umfang: Umfang
    gueltigBis: GueltigBis  # noqa: N815
    berater: Berater | None = None


class Freigabe(msgspec.Struct):
    id: UUID
    umfang: Umfang
    gueltigBis: GueltigBis  # noqa: N815
    text: Annotated[str, Meta(description="what the customer agreed to, as in the audit trail")]
    relations: list[Relation]
    berater: Berater | UnsetType = UNSET


class Zugriff(msgspec.Struct):
    """A read by an adviser. `berater` is absent where that user was erased."""

    zeitpunkt: Timestamp
    umfang: DisclosureScope
    berater: UUID | UnsetType = UNSET


class Kunde(msgspec.Struct):
    userReference: UUID  # noqa: N815
    umfang: Umfang
    gueltigBis: GueltigBis  # noqa: N815
    relations: list[Relation]


def show_freigabe(disclosure: Disclosure, urls: Urls) -> Freigabe:
    return Freigabe(
        id=disclosure.id,
        umfang=list(disclosure.scopes),
        gueltigBis=disclosure.valid_until,
        text=disclosure.text,
        relations=urls.disclosure_relations(disclosure.id),
        berater=disclosure.adviser_id or UNSET,
    )


def show_zugriff(read: DisclosureRead) -> Zugriff:
    return Zugriff(format_timestamp(read.at), read.scope, read.adviser_id or UNSET)


def show_kunde(customer: DisclosingCustomer, urls: Urls, *, can_check_credit: bool) -> Kunde:
    """Relations lead to what this token can read."""
    offered = [
        str(scope) for scope in customer.scopes if scope.is_analysis and (can_check_credit or not scope.is_credit)
    ]
    relations = urls.adviser_relations(customer.user_id, offered)
    return Kunde(customer.user_id, list(customer.scopes), customer.valid_until, relations)
