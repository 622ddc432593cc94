"""What somebody can afford, as a household's account, and the facts a lender asks for.

For advisers; customers reach the page from what they share with them.
"""

from decimal import Decimal
from typing import Any

from kontor.console.gateway import together
from kontor.console.households import list_categories, list_lines, list_signs
from kontor.console.visits import Facts, View, Visit


async def show(visit: Visit) -> Facts:
    affordability, check = await together(
        visit.api.get("/customer/v2/ai/affordability"), visit.api.get("/customer/v2/ai/credit-check")
    )
    return describe_household(affordability, check)


def describe_household(affordability: dict[str, Any], check: dict[str, Any]) -> Facts:
    """`check` is empty where it cannot be read."""
    if not affordability:  # no complete month has data
        return {"details": None}
    details, facts = affordability["details"], check.get("details", {})
    return {
        "details": details,
        "check": facts,
        "lines": list_lines(details),
        "necessities": list_categories(details["expenses"]["necessities"]),
        "luxuries": list_categories(details["expenses"]["luxuries"]),
        "signs": list_signs(details, facts),
        "ratios": _list_ratios(details, facts),
        "findings": facts.get("findings", []),
    }


def _list_ratios(details: dict[str, Any], check: dict[str, Any]) -> list[tuple[str, Decimal]]:
    income = Decimal(details["income"]["amount"])
    ratios = [
        ("expenses", Decimal(details["ratioExpensesToIncome"])),
        ("necessities", Decimal(details["ratioNecessitiesToIncome"])),
        ("luxuries", Decimal(details["ratioLuxuriesToIncome"])),
    ]
    if check and income > 0:
        ratios.append(("fixed", check["fixedCostsMonthly"] / income))
        ratios.append(("loans", check["loanInstallmentsMonthly"] / income))
        ratios.append(("rent", check["rentMonthly"] / income))
    return ratios


VIEWS = [View("affordability", "/affordability", show, parent="disclosures", is_advisers_sight=True)]
