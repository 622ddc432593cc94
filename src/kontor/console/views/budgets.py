"""Budgets: what is planned for categories, what is spent of it, and what is to be expected."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.console.budgets import (
    BUDGETS,
    OWN_CATEGORIES,
    PAGE,
    Proposal,
    choose_budgeted,
    name_overlaps,
    propose_budgets,
    read_budget,
    write_amount,
)
from kontor.console.cashflows import Span, read_flows
from kontor.console.categories import list_categories, name_categories
from kontor.console.due_dates import find_month
from kontor.console.gateway import segment, together
from kontor.console.payments import read_amount
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

CASHFLOW = "/customer/v2/ai/cashflow"
NEW = "new"
EARLIEST = date(2001, 1, 1)
MAX_NAME_LENGTH = 100
# Months to begin with: so many back, up to the next one.
BEGINS_BACK = 12


@dataclass(frozen=True, slots=True)
class Entered:
    """What is in the form."""

    name: str = ""
    categories: tuple[str, ...] = ()
    amount: str = ""
    begin: str = ""
    carries_over: bool = False


async def show(visit: Visit) -> Facts:
    month = read_month(visit)
    api = visit.api
    listed, mains, own = await together(
        api.get(BUDGETS, monat=f"{month:%Y-%m}"), list_categories(api), api.get(OWN_CATEGORIES)
    )
    current = visit.today.replace(day=1)
    facts: Facts = {
        "month": month, "is_current": month == current, "is_over": month < current,
        "previous": find_month(month, -1) if month > EARLIEST else None,
        "following": find_month(month, 1) if month <= current else None,
        "current": current, "budgets": [],
    }  # fmt: skip
    if not listed:
        months, proposals = await propose(visit)
        return facts | {"months": months, "proposals": proposals}
    calls = [api.get(CASHFLOW, catLevel="sub")]
    if own:
        calls.append(api.get(CASHFLOW, tag="CUSTOM_CATEGORIES"))
    flows = [flow for answer in await together(*calls) for flow in read_flows(answer)]
    names = name_categories(mains) | {item["systemName"]: item["displayName"] for item in own}
    budgets = [read_budget(budget, names, flows, month) for budget in listed]
    return facts | {
        "budgets": budgets,
        "spent": sum((budget.spent for budget in budgets), Decimal(0)),
        "left": sum((budget.left for budget in budgets), Decimal(0)),
        "available": sum((budget.available for budget in budgets), Decimal(0)),
    }


def read_month(visit: Visit) -> date:
    """The API predicts nothing beyond the next month."""
    current = visit.today.replace(day=1)
    asked = visit.query.get("month")
    if not asked:
        return current
    try:
        month = date.fromisoformat(f"{asked}-01")
    except ValueError:
        raise BadRequestError from None
    if not EARLIEST <= month <= find_month(current, 1):
        raise BadRequestError
    return month


async def propose(visit: Visit) -> tuple[list[Span], list[Proposal]]:
    flows = read_flows(await visit.api.get(CASHFLOW, catLevel="main"))
    return propose_budgets(flows, visit.today, visit.language)


async def accept_proposals(visit: Visit, form: Form) -> Facts | None:
    """A budget for each chosen category. What has one already, since the form was sent twice, is left as it is."""
    chosen = form.get("category", [])
    _, proposals = await propose(visit)
    for proposal in proposals:
        if proposal.category not in chosen:
            continue
        entered = Entered(proposal.name, (proposal.category,), "", f"{visit.today:%Y-%m}")
        try:
            await visit.api.send("POST", BUDGETS, json=write_body(entered, proposal.amount))
        except ApiError as error:
            if error.status != 400:
                raise
    raise RedirectTo(PAGE, notice="budgets_added" if chosen else None)


# One of them


async def show_budget(visit: Visit) -> Facts:
    budget_id = visit.path("budget")
    if budget_id == NEW:
        category = visit.query.get("category")
        entered = Entered(categories=(category,) if category else (), begin=f"{visit.today:%Y-%m}")
        return await describe(visit, entered)
    budget = await visit.api.get(f"{BUDGETS}/{segment(budget_id)}")
    entered = Entered(
        budget["name"], tuple(budget["kategorien"]), write_amount(Decimal(budget["betrag"]), visit.language),
        budget["beginn"], budget["uebertrag"],
    )  # fmt: skip
    return await describe(visit, entered)


async def describe(visit: Visit, entered: Entered, *, problem: str | None = None, field: str = "") -> Facts:
    mains, own, listed = await together(
        list_categories(visit.api), visit.api.get(OWN_CATEGORIES), visit.api.get(BUDGETS)
    )
    budget_id = visit.path("budget")
    current = visit.today.replace(day=1)
    begins = [f"{find_month(current, ahead):%Y-%m}" for ahead in range(1, -BEGINS_BACK, -1)]
    taken = {
        category: budget["name"] for budget in listed if budget["id"] != budget_id for category in budget["kategorien"]
    }
    return {
        "budget_id": budget_id,
        "is_new": budget_id == NEW,
        "is_deleting": visit.query.get("delete") == "yes",
        "entered": entered,
        "mains": choose_budgeted(mains),
        "own": own,
        "taken": taken,
        "begins": begins if entered.begin in begins else [*begins, entered.begin],
        "problem": problem,
        "wrong_field": field,
    }


async def save(visit: Visit, form: Form) -> Facts | None:
    entered = Entered(
        " ".join(field_of(form, "name").split()),
        tuple(dict.fromkeys(form.get("category", []))),
        field_of(form, "amount").strip(),
        field_of(form, "begin"),
        carries_over=field_of(form, "carries_over") == "yes",
    )
    amount = read_amount(entered.amount, visit.language)
    wrong = find_wrong_field(entered, amount)
    if wrong or amount is None:
        return await describe(visit, entered, problem=visit.texts(f"budget.problem.{wrong}"), field=wrong or "")
    budget_id = visit.path("budget")
    method, path = ("POST", BUDGETS) if budget_id == NEW else ("PUT", f"{BUDGETS}/{segment(budget_id)}")
    try:
        await visit.api.send(method, path, json=write_body(entered, amount))
    except ApiError as error:
        if error.status != 400:
            raise
        return await explain_refusal(visit, entered)
    raise RedirectTo(PAGE, notice="budget_saved")


def find_wrong_field(entered: Entered, amount: Decimal | None) -> str | None:
    """The first that cannot be right; the API looks at all of them once more."""
    if not entered.name or len(entered.name) > MAX_NAME_LENGTH:
        return "name"
    if not entered.categories:
        return "categories"
    return "amount" if amount is None or amount <= 0 else None


async def explain_refusal(visit: Visit, entered: Entered) -> Facts:
    """A category is in one budget at most; anything else that is refused has no form field that could say it."""
    facts = await describe(visit, entered, problem=visit.texts("budget.problem.refused"))
    listed = await visit.api.get(BUDGETS)
    names = name_categories(facts["mains"]) | {item["systemName"]: item["displayName"] for item in facts["own"]}
    overlaps = name_overlaps(entered.categories, listed, visit.path("budget"))
    if overlaps:
        told = [
            visit.texts("budget.problem.taken", category=names.get(category, category), budget=budget)
            for category, budget in overlaps
        ]
        facts |= {"problem": " ".join(told), "wrong_field": "categories"}
    return facts


def write_body(entered: Entered, amount: Decimal) -> dict[str, Any]:
    """As the API takes it."""
    return {
        "name": entered.name,
        "kategorien": list(entered.categories),
        "betrag": float(amount),
        "beginn": entered.begin,
        "uebertrag": entered.carries_over,
    }


async def delete(visit: Visit, form: Form) -> Facts | None:
    try:
        await visit.api.send("DELETE", f"{BUDGETS}/{segment(visit.path('budget'))}")
    except ApiError as error:
        if error.status != 404:  # another tab was faster
            raise
    raise RedirectTo(PAGE, notice="budget_deleted")


VIEWS = [
    View("budgets", "/budgets", show, group="money", actions={"accept": accept_proposals}, repeatable=("category",)),
    View(
        "budget", "/budgets/{budget:str}", show_budget, parent="budgets", actions={"save": save, "delete": delete},
        repeatable=("category",),
    ),
]  # fmt: skip
