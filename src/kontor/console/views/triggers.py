"""Occasions for a talk, as an adviser prepares for it. Customers reach the page from what they share with advisers."""

from typing import Any

from kontor.console.finding_reasons import Partners, Reasons
from kontor.console.findings import Finding, read_finding
from kontor.console.gateway import together
from kontor.console.visits import Facts, View, Visit

GROUPS = ("FINANCIAL", "LIFEEVENT", "MISSINGINSURANCE")


async def show(visit: Visit) -> Facts:
    triggers, contracts = await together(
        visit.api.get("/customer/v2/ai/sales-triggers", explain=True),
        visit.api.get("/customer/v2/ai/contracts"),  # knows the full names of those who pay and are paid
    )
    return describe_triggers(visit, triggers, contracts)


def describe_triggers(visit: Visit, triggers: list[Any], contracts: list[Any]) -> Facts:
    reasons = Reasons(visit.texts, Partners.of_contracts(contracts))
    groups: dict[str, list[Finding]] = {key: [] for key in GROUPS}
    for trigger in triggers:
        finding = read_finding(trigger, reasons)
        groups.setdefault(finding.group, []).append(finding)
    return {"occasions": groups, "count": len(triggers)}


VIEWS = [View("triggers", "/triggers", show, parent="disclosures", is_advisers_sight=True)]
