"""Contract: a tag instance for an agreement that the bookings show."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.contracts import Contract as FoundContract
from kontor.analysis.contracts import Loan as FoundLoan
from kontor.analysis.contracts import estimate_confidence, find_notice_date
from kontor.analysis.reasons import Reason as FoundReason
from kontor.analysis.trees import BUSINESS_PARTNERS, CATEGORIES, INSURANCE_TYPES, PERIODS
from kontor.services.analyses import Facts
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tags import Confidence, Entity, TagTreeItem, name_item, show_item
from kontor.wire.urls import Urls

HOME_SAVINGS = "SAVINGS_LIFEBUILDING"

Day = Annotated[str, Meta(title="Day", examples=["2026-11-15"], extra_json_schema={"format": "date"})]
Period = Annotated[str, Meta(title="Period", examples=["P3M"], description="ISO 8601, in years, months, weeks, days")]
ContractStatus = Annotated[Literal["ACTIVE", "INACTIVE", "PROVISIONAL"], Meta(title="ContractStatus")]
Development = Annotated[dict[str, Amount], Meta(description="amounts by date")]


class Reason(msgspec.Struct):
    """One step of what led to a finding."""

    text: str
    transactionIds: list[str] | UnsetType = UNSET  # noqa: N815


class LoanDetails(msgspec.Struct):
    """What the transactions do not tell is null."""

    installment: Amount
    principalEstimate: Amount | None  # noqa: N815
    outstandingEstimate: Amount | None  # noqa: N815
    interestRateEstimate: Annotated[Decimal, Meta(description="nominal, percent per year")] | None  # noqa: N815
    termMonthsEstimate: int | None  # noqa: N815
    lastInstallmentEstimate: Day | None  # noqa: N815
    confidenceLevel: Confidence  # noqa: N815


class ContractDetails(msgspec.Struct):
    amountFirst: Amount  # noqa: N815
    amountLatest: Amount  # noqa: N815
    amountMaximum: Amount  # noqa: N815
    amountMean: Amount  # noqa: N815
    amountMedian: Amount  # noqa: N815
    amountMinimum: Amount  # noqa: N815
    amountTotal: Amount  # noqa: N815
    amountTotalNonRegular: Amount  # noqa: N815
    amountTotalRegular: Amount  # noqa: N815
    contractNumbers: list[str]  # noqa: N815
    customerNumbers: list[str]  # noqa: N815
    costDevelopment: Development  # noqa: N815
    costDevelopmentNonRegular: Development  # noqa: N815
    costDevelopmentRegular: Development  # noqa: N815
    counterpartyBic: str  # noqa: N815
    counterpartyIban: str  # noqa: N815
    counterpartyName: str  # noqa: N815
    counterpartyNameUltimate: str  # noqa: N815
    dateFirst: Day  # noqa: N815
    dateLatest: Day  # noqa: N815
    dateStart: Day  # noqa: N815
    daysAge: int  # noqa: N815
    growthRate: Annotated[Decimal, Meta(description="latest against first; 0.05 is five percent more")]  # noqa: N815
    standardDeviation: Amount  # noqa: N815
    status: ContractStatus
    transactionIds: list[str]  # noqa: N815
    transactionIdsNonRegular: list[str]  # noqa: N815
    transactionIdsRegular: list[str]  # noqa: N815
    confidenceLevel: Confidence  # noqa: N815
    amountNext: Amount | UnsetType = UNSET  # noqa: N815
    dateNext: Day | UnsetType = UNSET  # noqa: N815
    periodConfidenceLevel: Confidence | UnsetType = UNSET  # noqa: N815
    loan: LoanDetails | UnsetType = UNSET
    name: Annotated[str, Meta(description="as the customer calls it")] | UnsetType = UNSET
    noticePeriod: Period | UnsetType = UNSET  # noqa: N815
    noticeDate: Annotated[Day, Meta(description="last day of notice")] | UnsetType = UNSET  # noqa: N815
    minimumTermEnd: Day | UnsetType = UNSET  # noqa: N815
    evidence: list[Reason] | UnsetType = UNSET


class ContractUpdate(msgspec.Struct):
    """Fields that are left out stay as they are; null resets one."""

    name: Annotated[str, Meta(max_length=100)] | UnsetType | None = UNSET
    isContract: Annotated[bool, Meta(description="false: hidden in all analyses")] | UnsetType | None = UNSET  # noqa: N815
    noticePeriod: Period | UnsetType | None = UNSET  # noqa: N815
    minimumTermEnd: date | UnsetType | None = UNSET  # noqa: N815


class Contract(msgspec.Struct):
    id: str
    entity: Entity
    relations: list[Relation]
    tagTreeItem: TagTreeItem  # noqa: N815
    tagTreeItemBusinessPartner: TagTreeItem  # noqa: N815
    tagTreeItemCategory: TagTreeItem  # noqa: N815
    tagTreeItemInsuranceType: TagTreeItem  # noqa: N815
    tagTreeItemPeriod: TagTreeItem  # noqa: N815
    details: ContractDetails


def show_reasons(reasons: Sequence[FoundReason], *, explain: bool) -> list[Reason] | UnsetType:
    """The evidence, where it was asked for."""
    if not explain:
        return UNSET
    return [
        Reason(reason.text, list(reason.transaction_ids) if reason.transaction_ids else UNSET) for reason in reasons
    ]


def make_user_entity(facts: Facts) -> Entity:
    return Entity("Kunde", "USER", facts.user)


def show_contracts(contracts: Sequence[FoundContract], facts: Facts, urls: Urls, *, explain: bool) -> list[Contract]:
    return [show_contract(contract, facts, urls, explain=explain) for contract in contracts]


def show_contract(contract: FoundContract, facts: Facts, urls: Urls, *, explain: bool) -> Contract:
    trees = {
        "_category": name_item(CATEGORIES, contract.category),
        "_insurance_type": name_item(INSURANCE_TYPES, contract.insurance_type),
        "_period": name_item(PERIODS, contract.period),
        "_business_partner": name_item(BUSINESS_PARTNERS, contract.partner),
    }
    tree, item = trees["_category"]
    relations = urls.instance_relations(tree.system_id, item.system_id)
    for suffix, (tree, item) in trees.items():
        relations += urls.instance_relations(tree.system_id, item.system_id, suffix)
    partner = show_item(*trees["_business_partner"])
    partner.categories = [contract.category]
    return Contract(
        id=contract.id,
        entity=make_user_entity(facts),
        relations=relations,
        tagTreeItem=show_item(*trees["_category"]),
        tagTreeItemBusinessPartner=partner,
        tagTreeItemCategory=show_item(*trees["_category"]),
        tagTreeItemInsuranceType=show_item(*trees["_insurance_type"]),
        tagTreeItemPeriod=show_item(*trees["_period"]),
        details=_show_details(contract, facts, explain=explain),
    )


def _show_details(contract: FoundContract, facts: Facts, *, explain: bool) -> ContractDetails:
    settings = facts.find_settings(contract.id)
    return ContractDetails(
        amountFirst=contract.amount_first,
        amountLatest=contract.amount_latest,
        amountMaximum=contract.amount_maximum,
        amountMean=contract.amount_mean,
        amountMedian=contract.amount_median,
        amountMinimum=contract.amount_minimum,
        amountTotal=contract.amount_total,
        amountTotalNonRegular=contract.amount_total_non_regular,
        amountTotalRegular=contract.amount_total_regular,
        contractNumbers=list(contract.contract_numbers),
        customerNumbers=list(contract.customer_numbers),
        costDevelopment=_show_development(contract.cost_development),
        costDevelopmentNonRegular=_show_development(contract.cost_development_non_regular),
        costDevelopmentRegular=_show_development(contract.cost_development_regular),
        counterpartyBic=contract.counterparty_bic,
        counterpartyIban=contract.counterparty_iban,
        counterpartyName=contract.counterparty_name,
        counterpartyNameUltimate=contract.counterparty_name_ultimate,
        dateFirst=contract.date_first.isoformat(),
        dateLatest=contract.date_latest.isoformat(),
        dateStart=contract.date_start.isoformat(),
        daysAge=contract.days_age,
        growthRate=contract.growth_rate,
        standardDeviation=contract.standard_deviation,
        status=contract.status.value,
        transactionIds=list(contract.transaction_ids),
        transactionIdsNonRegular=list(contract.transaction_ids_non_regular),
        transactionIdsRegular=list(contract.transaction_ids_regular),
        confidenceLevel=estimate_confidence(contract),
        amountNext=UNSET if contract.amount_next is None else contract.amount_next,
        dateNext=_show_day(contract.date_next),
        periodConfidenceLevel=UNSET if contract.period_confidence is None else round(contract.period_confidence, 2),
        loan=UNSET if contract.loan is None else _show_loan(contract.loan),
        name=UNSET if settings.name is None else settings.name,
        noticePeriod=UNSET if settings.notice_period is None else settings.notice_period,
        noticeDate=_show_day(find_notice_date(contract, settings, facts.today)),
        minimumTermEnd=_show_day(settings.minimum_term_end),
        evidence=[Reason(text) for text in contract.reasons] if explain else UNSET,
    )


def _show_day(day: date | None) -> str | UnsetType:
    return UNSET if day is None else day.isoformat()


def _show_development(development: Any) -> dict[str, Decimal]:
    days: dict[date, Decimal] = dict(development)
    return {day.isoformat(): amount for day, amount in sorted(days.items())}


def _show_loan(loan: FoundLoan) -> LoanDetails:
    return LoanDetails(
        loan.installment,
        loan.principal_estimate,
        loan.outstanding_estimate,
        loan.interest_rate_estimate,
        loan.term_months_estimate,
        None if loan.last_installment_estimate is None else loan.last_installment_estimate.isoformat(),
        round(loan.confidence, 2),
    )


def select_contracts(
    contracts: Sequence[FoundContract], *, insurance_only: bool, insurance_only_extended: bool
) -> list[FoundContract]:
    """All, insurance only, or insurance and home savings."""
    if not insurance_only and not insurance_only_extended:
        return list(contracts)
    return [
        contract
        for contract in contracts
        if contract.category.startswith("INSURANCE_") or (insurance_only_extended and contract.category == HOME_SAVINGS)
    ]
