"""Which insurances somebody has, what they cost, and which common ones are not to be seen."""

from typing import Any

from kontor.console.finding_reasons import Reasons
from kontor.console.findings import read_finding
from kontor.console.gateway import Gateway, together
from kontor.console.policies import group_policies, list_kinds, read_policy
from kontor.console.visits import Facts, View, Visit

TREE = "INSURANCE_TYPES"
MISSING_GROUP = "MISSINGINSURANCE"


async def show(visit: Visit) -> Facts:
    api = visit.api
    contracts, triggers, items = await together(
        api.get("/customer/v2/ai/contracts", insuranceOnlyExtended=True),
        api.get("/customer/v2/ai/sales-triggers", explain=True),
        get_tree(api, TREE),
    )
    policies = [read_policy(contract, visit.today) for contract in contracts]
    active = [policy for policy in policies if policy.is_active]
    reasons = Reasons(visit.texts)
    findings = [read_finding(trigger, reasons) for trigger in triggers]
    missing = [finding for finding in findings if finding.group == MISSING_GROUP]
    divisions = group_policies(active, items, visit.texts("insurances.home_savings"))
    return {
        "divisions": divisions,
        "yearly": sum(division.yearly for division in divisions if division.is_insurance),
        "count": sum(len(division.policies) for division in divisions if division.is_insurance),
        "ended": sorted(
            (policy for policy in policies if not policy.is_active), key=lambda policy: policy.last_day, reverse=True
        ),
        "missing": missing,
        "kinds": list_kinds(items, active, [finding.system_name for finding in missing]),
    }


async def get_tree(api: Gateway, system_name: str) -> list[dict[str, Any]]:
    """The items of a tree of tags, found by the tree's name."""
    trees = await api.get("/tags/v1/tag-trees")
    number = next(tree["systemId"] for tree in trees if tree["systemName"] == system_name)
    items: list[dict[str, Any]] = await api.get(f"/tags/v1/tag-trees/{number}/tag-tree-items")
    return items


VIEWS = [View("insurances", "/insurances", show, group="meaning")]
