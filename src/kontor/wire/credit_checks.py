"""Credit check: one tag instance of a customer. Facts with their transactions, no score."""

from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.credit_checks import CreditCheck as FoundCheck
from kontor.analysis.trees import AFFORDABILITY
from kontor.services.analyses import Facts
from kontor.wire.affordability import Nothing
from kontor.wire.contracts import Day, Reason, make_user_entity, show_reasons
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tags import Entity, TagTreeItem, name_item, show_instance
from kontor.wire.urls import Urls

INFORMATION = "CREDITCHECK_INFORMATION"
Count = Annotated[int, Meta(ge=0, description="in twelve months")]
Stability = Annotated[Decimal, Meta(description="0 to 1; 1 where regular income is the same every month")]


class Finding(msgspec.Struct):
    type: Annotated[str, Meta(examples=["RETURNED_DEBITS", "LOANS"])]
    text: str
    amount: Amount
    transactionIds: list[str]  # noqa: N815


class CreditCheckDetails(msgspec.Struct):
    """Means over the last twelve complete months with data; counts of the last twelve months."""

    incomeMonthly: Amount  # noqa: N815
    incomeStability: Stability  # noqa: N815
    expensesMonthly: Amount  # noqa: N815
    fixedCostsMonthly: Annotated[Decimal, Meta(description="expenses that belong to contracts")]  # noqa: N815
    freeIncomeMonthly: Annotated[Decimal, Meta(description="income less all expenses")]  # noqa: N815
    rentMonthly: Amount  # noqa: N815
    loanInstallmentsMonthly: Amount  # noqa: N815
    returnDebitsCount: Count  # noqa: N815
    reminderChargesCount: Count  # noqa: N815
    debtCollectionsCount: Count  # noqa: N815
    seizuresCount: Count  # noqa: N815
    gamblingMonthly: Amount  # noqa: N815
    overdraftDays: Count  # noqa: N815
    dataFrom: Day  # noqa: N815
    dataTo: Day  # noqa: N815
    findings: list[Finding]
    excludedCurrencies: Annotated[list[str], Meta(description="what no sum contains")] | UnsetType = UNSET  # noqa: N815
    evidence: list[Reason] | UnsetType = UNSET


class CreditCheck(msgspec.Struct):
    id: str
    entity: Entity
    relations: list[Relation]
    tagTreeItem: TagTreeItem  # noqa: N815
    details: CreditCheckDetails


def show_credit_check(check: FoundCheck | None, facts: Facts, urls: Urls, *, explain: bool) -> dict[str, Any] | Nothing:
    if check is None:
        return Nothing()
    details = _show_details(check, explain=explain)
    return show_instance(make_user_entity(facts), *name_item(AFFORDABILITY, INFORMATION), details, urls)


def _show_details(check: FoundCheck, *, explain: bool) -> CreditCheckDetails:
    affordability = check.affordability
    budget, signals = affordability.budget, affordability.distress_signals
    return CreditCheckDetails(
        incomeMonthly=budget.income.amount,
        incomeStability=check.income_stability,
        expensesMonthly=budget.expenses,
        fixedCostsMonthly=check.fixed_costs_monthly,
        freeIncomeMonthly=check.free_income_monthly,
        rentMonthly=check.rent_monthly,
        loanInstallmentsMonthly=check.loan_installments_monthly,
        returnDebitsCount=signals.returned_count,
        reminderChargesCount=len(signals.reminders),
        debtCollectionsCount=len(signals.collections),
        seizuresCount=len(signals.seizures),
        gamblingMonthly=affordability.gambling,
        overdraftDays=check.overdraft_days,
        dataFrom=check.data_from.isoformat(),
        dataTo=check.data_to.isoformat(),
        findings=[
            Finding(finding.name, finding.text, finding.amount, list(finding.transaction_ids))
            for finding in check.findings
        ],
        excludedCurrencies=list(budget.excluded_currencies) or UNSET,
        evidence=show_reasons(check.reasons, explain=explain),
    )
