"""What changed in somebody's life, and how they live now."""

from kontor.console.finding_reasons import Partners, Reasons
from kontor.console.findings import read_finding
from kontor.console.gateway import together
from kontor.console.timelines import make_timeline
from kontor.console.visits import Facts, View, Visit

STAGE_GROUPS = ("LABOURMARKET", "HOUSING", "PARENTHOOD", "SAVINGS")


async def show(visit: Visit) -> Facts:
    api = visit.api
    events, stages, contracts = await together(
        api.get("/customer/v2/ai/life-events", explain=True),
        api.get("/customer/v2/ai/life-stages", explain=True),
        api.get("/customer/v2/ai/contracts"),  # knows the full names of those who pay and are paid
    )
    reasons = Reasons(visit.texts, Partners.of_contracts(contracts))
    now = {finding.group: finding for finding in (read_finding(stage, reasons) for stage in stages)}
    return {
        "stages": [now[group] for group in STAGE_GROUPS if group in now],
        "timeline": make_timeline([read_finding(event, reasons) for event in events], visit.today),
    }


VIEWS = [View("life", "/life", show, group="meaning")]
