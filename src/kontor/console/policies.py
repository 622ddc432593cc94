"""Insurance contracts by division, what they cost in a year, and which kinds of insurance there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from kontor.console.gateway import segment
from kontor.console.visits import BASE

CENT = Decimal("0.01")
# How often a year brings a payment, by the system name of the period.
TIMES_A_YEAR = {
    "WEEK_ONE": Decimal(52), "WEEK_TWO": Decimal(26), "WEEK_FOUR": Decimal(13), "MONTH_ONE": Decimal(12),
    "MONTH_TWO": Decimal(6), "MONTH_THREE": Decimal(4), "MONTH_SIX": Decimal(2), "YEAR_ONE": Decimal(1),
    "YEAR_TWO": Decimal("0.5"),
}  # fmt: skip
NO_INSURANCE = "UNRELATED"
HOME_SAVINGS = "SAVINGS"
# Which kind of insurance a trigger finds missing.
MISSING = {
    "MISSINGINSURANCE_PRIVATELIABILITY": "LIABILITY_PRIVATE",
    "MISSINGINSURANCE_OCCUPATIONALDISABILITY": "INCAPACITY_OCCUPATIONAL",
    "MISSINGINSURANCE_PRIVATEHEALTH": "HEALTH_PRIVATE",
}


@dataclass(frozen=True, slots=True)
class Policy:
    """`premium` is what one payment costs, as a positive number."""

    division: str
    type: str
    product: str
    insurer: str
    premium: Decimal
    period: str
    yearly: Decimal
    since: str
    next_day: str | None
    number: str | None
    is_active: bool
    is_provisional: bool
    last_day: str
    url: str  # of its contract


@dataclass(frozen=True, slots=True)
class Division:
    system_name: str
    name: str
    policies: list[Policy]

    @property
    def yearly(self) -> Decimal:
        return sum((policy.yearly for policy in self.policies), Decimal(0))

    @property
    def is_insurance(self) -> bool:
        return self.system_name != HOME_SAVINGS


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of insurance; `state` is `held`, `missing` or `none`."""

    name: str
    state: str
    count: int


def read_policy(contract: Mapping[str, Any], today: date) -> Policy:
    details, kind = contract["details"], contract["tagTreeItemInsuranceType"]
    category, period = contract["tagTreeItemCategory"], contract["tagTreeItemPeriod"]
    is_insurance = kind.get("systemNameParent") != NO_INSURANCE
    numbers = details["contractNumbers"]
    return Policy(
        division=kind.get("systemNameParent") or kind["systemName"] if is_insurance else HOME_SAVINGS,
        type=kind["systemName"],
        product=kind["displayName"] if is_insurance else category["displayName"],
        insurer=details["counterpartyName"] or contract["tagTreeItemBusinessPartner"]["displayName"],
        premium=-Decimal(details["amountLatest"]),
        period=period["displayName"],
        yearly=cost_a_year(details, period["systemName"], today),
        since=details["dateStart"],
        next_day=details.get("dateNext"),
        number=numbers[0] if numbers else None,
        is_active=details["status"] != "INACTIVE",
        is_provisional=details["status"] == "PROVISIONAL",
        last_day=details["dateLatest"],
        url=f"{BASE}/contracts/{segment(contract['id'])}",
    )


def cost_a_year(details: Mapping[str, Any], period: str, today: date) -> Decimal:
    """At the latest price; without a period, what the last twelve months cost."""
    times = TIMES_A_YEAR.get(period)
    if times is not None:
        return (-Decimal(details["amountLatest"]) * times).quantize(CENT, ROUND_HALF_UP)
    begin = f"{today.year - 1}{today.isoformat()[4:]}"
    return -sum((Decimal(amount) for day, amount in details["costDevelopment"].items() if day > begin), Decimal(0))


def group_policies(policies: Sequence[Policy], items: Sequence[Mapping[str, Any]], savings_name: str) -> list[Division]:
    """By division, in the order of the tree of insurance types; home savings last."""
    names = {item["systemName"]: item["displayName"] for item in items if not item.get("systemNameParent")}
    names |= {HOME_SAVINGS: savings_name}
    order = {name: at for at, name in enumerate(names)}
    by_division: dict[str, list[Policy]] = {}
    for policy in sorted(
        policies, key=lambda policy: (order.get(policy.division, len(order)), -policy.yearly, policy.product)
    ):
        by_division.setdefault(policy.division, []).append(policy)
    return [Division(key, names.get(key, key), held) for key, held in by_division.items()]


def list_kinds(
    items: Sequence[Mapping[str, Any]], policies: Sequence[Policy], missing: Sequence[str]
) -> list[tuple[str, list[Kind]]]:
    """The tree of insurance types, and what of it there is: each division with its kinds."""
    lacking = {MISSING.get(name) for name in missing}
    tree: dict[str, list[Kind]] = {}
    names = {}
    for item in items:
        parent = item.get("systemNameParent")
        if not parent:
            names[item["systemName"]] = item["displayName"]
            continue
        count = sum(policy.type == item["systemName"] for policy in policies)
        state = "held" if count else "missing" if item["systemName"] in lacking else "none"
        if count or not item["systemName"].endswith("_OTHER"):
            tree.setdefault(parent, []).append(Kind(item["displayName"], state, count))
    return [(names[key], kinds) for key, kinds in tree.items() if key != NO_INSURANCE and key in names]
