"""BankProduct (Bankprodukt) in its German-named form."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal, TypeVar
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.accesses import AccessStatus
from kontor.domain.products import BalanceSource, ProductCategory
from kontor.domain.stored_products import StoredProduct
from kontor.wire.encoding import format_timestamp
from kontor.wire.errors import Message
from kontor.wire.messages import show_gap, show_notice
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

T = TypeVar("T")

Category = Annotated[
    Literal[
        "GIROKONTO",
        "SPARKONTO",
        "FESTGELDKONTO",
        "KREDITKONTO",
        "TAGESGELDKONTO",
        "BAUSPARKONTO",
        "SONSTIGESKONTO",
        "KREDITKARTE",
        "SONSTIGEKARTE",
        "DEPOT",
        "SONSTIGESPRODUKT",
    ],
    Meta(title="ProductCategory"),
]
CATEGORIES: dict[ProductCategory, Category] = {
    ProductCategory.CHECKING: "GIROKONTO",
    ProductCategory.SAVINGS: "SPARKONTO",
    ProductCategory.FIXED_TERM: "FESTGELDKONTO",
    ProductCategory.LOAN: "KREDITKONTO",
    ProductCategory.CALL_MONEY: "TAGESGELDKONTO",
    ProductCategory.HOME_SAVINGS: "BAUSPARKONTO",
    ProductCategory.OTHER_ACCOUNT: "SONSTIGESKONTO",
    ProductCategory.CREDIT_CARD: "KREDITKARTE",
    ProductCategory.OTHER_CARD: "SONSTIGEKARTE",
    ProductCategory.DEPOT: "DEPOT",
    ProductCategory.OTHER_PRODUCT: "SONSTIGESPRODUKT",
}
Status = Annotated[Literal["GESTARTET", "KOPFDATEN", "VOLLSTAENDIG"], Meta(title="BankAccessStatus")]
STATUSES: dict[AccessStatus, Status] = {
    AccessStatus.STARTED: "GESTARTET",
    AccessStatus.HEADERS: "KOPFDATEN",
    AccessStatus.COMPLETE: "VOLLSTAENDIG",
}
SourceWord = Annotated[Literal["SWIFTMSG", "SONSTIGES"], Meta(title="BalanceSource")]
SOURCES: dict[BalanceSource, SourceWord] = {
    BalanceSource.STATEMENT: "SWIFTMSG",
    BalanceSource.OTHER: "SONSTIGES",
}
Amount = Annotated[Decimal, Meta(title="Amount", description="two decimals", examples=[1234.5])]


class BankProduct(msgspec.Struct):
    id: UUID
    status: Status
    bezeichnung: str
    kategorie: Category
    aktualisierungszeitpunkt: Timestamp
    inhaber: str
    transferSupport: bool  # noqa: N815
    relations: list[Relation]
    saldo: Amount | UnsetType = UNSET
    saldoDatum: Timestamp | UnsetType = UNSET  # noqa: N815
    waehrung: str | UnsetType = UNSET
    kontonummer: str | UnsetType = UNSET
    iban: str | UnsetType = UNSET
    bic: str | UnsetType = UNSET
    blz: str | UnsetType = UNSET
    kreditinstitut: str | UnsetType = UNSET
    messages: list[Message] | UnsetType = UNSET
    saldoDatenquelle: SourceWord | UnsetType = UNSET  # noqa: N815
    ueberziehungslimit: Amount | UnsetType = UNSET
    verfuegungsrahmen: Amount | UnsetType = UNSET
    verfuegterBetrag: Amount | UnsetType = UNSET  # noqa: N815
    vertragsnummer: str | UnsetType = UNSET
    vertragstyp: str | UnsetType = UNSET
    vertragsstatus: str | UnsetType = UNSET
    rating: Decimal | UnsetType = UNSET
    vertragssumme: Amount | UnsetType = UNSET
    sparzinssatz: Decimal | UnsetType = UNSET
    schuldzinssatz: Decimal | UnsetType = UNSET
    sparfortschritt: Decimal | UnsetType = UNSET
    sparzustand: bool | UnsetType = UNSET
    vertragsDatum: Timestamp | UnsetType = UNSET  # noqa: N815


def present(value: T | None) -> T | UnsetType:
    """What is not there is left out, never null."""
    return UNSET if value is None else value


def present_time(at: datetime | None) -> str | UnsetType:
    return UNSET if at is None else format_timestamp(at)


def list_relations(stored: StoredProduct, provider_id: UUID, urls: Urls, *, has_credentials: bool) -> list[Relation]:
    return urls.product_relations(
        stored.access_id,
        stored.id,
        provider_id,
        is_depot=stored.product.category.is_depot,
        has_credentials=has_credentials,
        can_transfer=stored.product.can_transfer,
        can_bulk_transfer=stored.product.can_bulk_transfer,
        standing_order_actions=stored.product.standing_order_actions,
        can_collect=bool(stored.product.debit_forms),
    )


def list_messages(stored: StoredProduct) -> list[Message]:
    """What the last fetch could not read of it, and whether its bookings add up."""
    problems = [show_notice(replace(notice, product_name=None)) for notice in stored.notices]
    return problems if stored.gap is None else [*problems, show_gap(stored.gap)]


def show_product(stored: StoredProduct, provider_id: UUID, urls: Urls, *, has_credentials: bool) -> BankProduct:
    product, contract = stored.product, stored.product.home_savings
    shown = BankProduct(
        id=stored.id,
        status=STATUSES[stored.status],
        bezeichnung=product.name,
        kategorie=CATEGORIES[product.category],
        saldo=present(product.balance),
        aktualisierungszeitpunkt=format_timestamp(stored.updated_at),
        saldoDatum=present_time(product.balance_at),
        waehrung=present(product.currency),
        kontonummer=present(product.account_number),
        iban=present(product.iban),
        bic=present(product.bic),
        blz=present(product.bank_code),
        kreditinstitut=present(product.institution),
        inhaber=product.holder,
        relations=list_relations(stored, provider_id, urls, has_credentials=has_credentials),
        transferSupport=stored.product.can_transfer,
    )
    shown.messages = list_messages(stored) or UNSET
    if product.category.is_depot:
        shown.saldoDatenquelle = SOURCES[product.balance_source or BalanceSource.OTHER]
    else:
        shown.ueberziehungslimit = present(product.overdraft_limit)
        shown.verfuegungsrahmen = present(product.credit_limit)
        shown.verfuegterBetrag = present(product.credit_drawn)
    if contract is not None:
        shown.vertragsnummer = contract.contract_number
        shown.vertragstyp = contract.contract_type
        shown.vertragsstatus = contract.contract_status
        shown.rating = contract.rating
        shown.vertragssumme = contract.contract_amount
        shown.sparzinssatz = contract.savings_interest_rate
        shown.schuldzinssatz = contract.debit_interest_rate
        shown.sparfortschritt = contract.savings_progress
        shown.sparzustand = contract.is_saving
        shown.vertragsDatum = format_timestamp(contract.contract_at)
    return shown
