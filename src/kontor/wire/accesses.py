"""Customer and BankAccess (Bankzugang), and the body that adds accesses."""

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.accesses import AccessStatus, Notice, NoticeKind
from kontor.domain.cleaning import require_text
from kontor.domain.sca import MediumClass
from kontor.domain.sca import ScaMedium as DomainMedium
from kontor.domain.sca import ScaMethod as DomainMethod
from kontor.services.accesses import AccessRequest, AccessView, UnconfirmedAccess
from kontor.wire.encoding import format_timestamp
from kontor.wire.errors import Message
from kontor.wire.messages import show_notice
from kontor.wire.products import STATUSES, BankProduct, Status, present_time, show_product
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

MediumWord = Annotated[Literal["LISTE", "GENERATOR", "MOBIL", "SECODER", "PUSHTAN"], Meta(title="TanMediumClass")]
MEDIUM_CLASSES: dict[MediumClass, MediumWord] = {
    MediumClass.LIST: "LISTE",
    MediumClass.GENERATOR: "GENERATOR",
    MediumClass.MOBILE: "MOBIL",
    MediumClass.SECODER: "SECODER",
    MediumClass.PUSH: "PUSHTAN",
}


Zweck = Annotated[str, Meta(min_length=1, max_length=200, description="what the data is used for")]

# All that is said about an access before the user has chosen accounts in the redirect frontend.
UNFINISHED = Notice(NoticeKind.SCA_NEEDED)


class SecurityMethod(msgspec.Struct):
    kodierung: Annotated[str, Meta(description="the bank's key of the method", examples=["923"])]
    name: str
    hinweis: str | UnsetType = UNSET


class TanMedium(msgspec.Struct):
    name: str
    medienklasse: MediumWord
    gueltigVon: Timestamp | UnsetType = UNSET  # noqa: N815
    gueltigBis: Timestamp | UnsetType = UNSET  # noqa: N815


class BankAccess(msgspec.Struct):
    """Until the user has chosen accounts in the redirect frontend, no bank and no accounts are named."""

    id: str
    providerId: UUID | UnsetType  # noqa: N815 (always there once accounts are chosen, as the interface has it)
    status: Status
    aktualisierungszeitpunkt: Timestamp
    sync: bool
    relations: list[Relation]
    tanMedien: list[TanMedium] | UnsetType = UNSET  # noqa: N815
    sicherheitsverfahren: list[SecurityMethod] | UnsetType = UNSET
    aktivesSicherheitsverfahren: SecurityMethod | UnsetType = UNSET  # noqa: N815
    timeout: Timestamp | UnsetType = UNSET
    messages: list[Message] | UnsetType = UNSET
    bankprodukte: list[BankProduct] | UnsetType = UNSET
    kontoauszuege: bool | UnsetType = UNSET


class AccessIssues(msgspec.Struct):
    """The tentative state: what the last attempt had to say."""

    id: str
    providerId: UUID | UnsetType  # noqa: N815 (as in the access)
    aktualisierungszeitpunkt: Timestamp
    messages: list[Message]
    relations: list[Relation]
    tanMedien: list[TanMedium] | UnsetType = UNSET  # noqa: N815
    sicherheitsverfahren: list[SecurityMethod] | UnsetType = UNSET


class Customer(msgspec.Struct):
    relations: list[Relation]
    messages: list[Message] | UnsetType = UNSET
    bankzugaenge: dict[str, BankAccess] | UnsetType = UNSET


class NewAccess(msgspec.Struct):
    """One access to add; an empty object uses what is stored, or the redirect frontend."""

    providerId: UUID | None = None  # noqa: N815
    credentials: Annotated[dict[str, str], Meta(description="by fieldkey; RSA-OAEP, Base64")] | None = None
    sync: Annotated[bool, Meta(description="default true")] | None = None
    selectedBankProducts: (  # noqa: N815
        Annotated[list[UUID], Meta(description="the only products that are kept; null: all of them again")]
        | UnsetType
        | None
    ) = UNSET
    kontoauszuege: Annotated[bool, Meta(description="fetch account statements too; default false")] | None = None
    zweck: Zweck | None = None
    nutzungBis: Annotated[date, Meta(description="last day; then all data is erased")] | None = None  # noqa: N815

    def to_request(self, access_id: str) -> AccessRequest:
        """Raises InvalidError for a purpose without a word."""
        selected = tuple(self.selectedBankProducts) if isinstance(self.selectedBankProducts, list) else None
        return AccessRequest(
            self.providerId,
            self.credentials,
            self.sync,
            selected,
            lifts_selection=self.selectedBankProducts is None,
            wants_statements=self.kontoauszuege,
            purpose=None if self.zweck is None else require_text(self.zweck, f"{access_id}.zweck"),
            usable_until=self.nutzungBis,
        )


def show_method(method: DomainMethod) -> SecurityMethod:
    return SecurityMethod(method.code, method.name, method.hint or UNSET)


def show_medium(medium: DomainMedium) -> TanMedium:
    return TanMedium(
        medium.name,
        MEDIUM_CLASSES[medium.medium_class],
        present_time(medium.valid_from),
        present_time(medium.valid_until),
    )


def show_access(view: AccessView | UnconfirmedAccess, urls: Urls) -> BankAccess:
    if isinstance(view, UnconfirmedAccess):
        return BankAccess(
            id=view.id,
            providerId=UNSET,
            status=STATUSES[AccessStatus.STARTED],
            aktualisierungszeitpunkt=format_timestamp(view.created_at),
            messages=[show_notice(UNFINISHED)],
            relations=urls.access_relations(view.id, needs_sca=True),
            sync=view.is_synced,
        )
    access = view.access
    shown_products = [
        show_product(product, access.provider_id, urls, has_credentials=view.has_credentials)
        for product in view.products
    ]
    return BankAccess(
        id=access.id,
        providerId=access.provider_id,
        status=STATUSES[access.status],
        tanMedien=[show_medium(medium) for medium in access.media] or UNSET,
        sicherheitsverfahren=[show_method(method) for method in access.methods] or UNSET,
        aktivesSicherheitsverfahren=UNSET if access.active_method is None else show_method(access.active_method),
        aktualisierungszeitpunkt=format_timestamp(access.updated_at),
        timeout=present_time(access.expires_at),
        messages=[show_notice(message) for message in access.messages] or UNSET,
        bankprodukte=shown_products or UNSET,
        relations=urls.access_relations(access.id, needs_sca=view.needs_sca),
        sync=access.is_synced,
        kontoauszuege=access.wants_statements or UNSET,
    )


def show_issues(view: AccessView | UnconfirmedAccess, urls: Urls) -> AccessIssues:
    if isinstance(view, UnconfirmedAccess):
        return AccessIssues(
            id=view.id,
            providerId=UNSET,
            aktualisierungszeitpunkt=format_timestamp(view.created_at),
            messages=[show_notice(UNFINISHED)],
            relations=urls.access_relations(view.id, needs_sca=True),
        )
    access = view.access
    return AccessIssues(
        id=access.id,
        providerId=access.provider_id,
        tanMedien=[show_medium(medium) for medium in access.media] or UNSET,
        sicherheitsverfahren=[show_method(method) for method in access.methods] or UNSET,
        aktualisierungszeitpunkt=format_timestamp(access.issues_at or access.updated_at),
        messages=[show_notice(issue) for issue in access.issues],
        relations=urls.access_relations(access.id, needs_sca=view.needs_sca),
    )


def show_accesses(views: list[AccessView | UnconfirmedAccess], urls: Urls) -> dict[str, BankAccess]:
    return {access.id: access for access in (show_access(view, urls) for view in views)}


def show_customer(
    views: list[AccessView | UnconfirmedAccess], urls: Urls, *, can_check_credit: bool, can_modify: bool
) -> Customer:
    shown = show_accesses(views, urls)
    relations = urls.customer_relations(can_check_credit=can_check_credit, can_modify=can_modify)
    return Customer(bankzugaenge=shown or UNSET, relations=relations)
