"""Disposable money: one tag instance, or an empty object where no salary is active."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.contracts import estimate_confidence
from kontor.analysis.disposable_money import DisposableMoney as FoundMoney
from kontor.analysis.trees import DISPOSABLE_MONEY
from kontor.services.analyses import Facts
from kontor.wire.contracts import Day, Reason, make_user_entity, show_reasons
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tags import Confidence, Entity, TagTreeItem, name_item, show_item
from kontor.wire.urls import Urls

INFORMATION = "DISPOSABLEMONEY_INFORMATION"


class DisposableMoneyDetails(msgspec.Struct):
    amountCashflow: Annotated[Amount, Meta(description="the cycle so far, without its salary")]  # noqa: N815
    amountCurrentlyLeft: Amount  # noqa: N815
    amountDisposableMoney: Amount  # noqa: N815
    amountExpectedFixedCashflow: Annotated[Amount, Meta(description="payments of contracts to come")]  # noqa: N815
    amountExpectedFlexCashflow: Annotated[Amount, Meta(description="all else that is to be expected")]  # noqa: N815
    amountExpectedLeft: Amount  # noqa: N815
    amountExpectedLeftDaily: Amount  # noqa: N815
    amountSalaryLatest: Amount  # noqa: N815
    amountSalaryNext: Amount  # noqa: N815
    dateSalaryLatest: Day  # noqa: N815
    dateSalaryNext: Day  # noqa: N815
    daysUntilSalary: int  # noqa: N815
    confidenceLevel: Confidence  # noqa: N815
    excludedCurrencies: list[str] | UnsetType = UNSET  # noqa: N815
    evidence: list[Reason] | UnsetType = UNSET


class DisposableMoney(msgspec.Struct):
    """All members are missing where no salary is active."""

    id: str | UnsetType = UNSET
    entity: Entity | UnsetType = UNSET
    relations: list[Relation] | UnsetType = UNSET
    tagTreeItem: TagTreeItem | UnsetType = UNSET  # noqa: N815
    details: DisposableMoneyDetails | UnsetType = UNSET


def show_disposable_money(money: FoundMoney | None, facts: Facts, urls: Urls, *, explain: bool) -> DisposableMoney:
    if money is None:
        return DisposableMoney()
    tree, item = name_item(DISPOSABLE_MONEY, INFORMATION)
    entity = make_user_entity(facts)
    return DisposableMoney(
        id=f"{entity.id}-{tree.system_id}-{item.system_id}",
        entity=entity,
        relations=urls.instance_relations(tree.system_id, item.system_id),
        tagTreeItem=show_item(tree, item),
        details=_show_details(money, explain=explain),
    )


def _show_details(money: FoundMoney, *, explain: bool) -> DisposableMoneyDetails:
    return DisposableMoneyDetails(
        amountCashflow=money.amount_cashflow,
        amountCurrentlyLeft=money.amount_currently_left,
        amountDisposableMoney=money.amount_disposable,
        amountExpectedFixedCashflow=money.amount_expected_fixed,
        amountExpectedFlexCashflow=money.amount_expected_flex,
        amountExpectedLeft=money.amount_expected_left,
        amountExpectedLeftDaily=money.amount_expected_left_daily,
        amountSalaryLatest=money.amount_salary_latest,
        amountSalaryNext=money.amount_salary_next,
        dateSalaryLatest=money.date_salary_latest.isoformat(),
        dateSalaryNext=money.date_salary_next.isoformat(),
        daysUntilSalary=money.days_until_salary,
        confidenceLevel=estimate_confidence(money.salary),
        excludedCurrencies=list(money.excluded_currencies) or UNSET,
        evidence=show_reasons(money.reasons, explain=explain),
    )
