"""Savings goals: how far they are, what they need a month, and when they will be reached."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from kontor.console.accesses import Product, list_accounts, list_products
from kontor.console.budgets import write_amount
from kontor.console.gateway import segment, together
from kontor.console.payments import read_amount
from kontor.console.savings_goals import GOALS, PAGE, choose_products, read_goal
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor_client import ApiError

ACCESSES = "/customer/v2/bankzugaenge"
NEW = "new"
MAX_NAME_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Entered:
    """What is in the form."""

    name: str = ""
    target: str = ""
    target_date: str = ""
    products: tuple[str, ...] = ()
    saved: str = ""


async def show(visit: Visit) -> Facts:
    listed, accesses = await together(visit.api.get(GOALS), visit.api.get(ACCESSES))
    products = list_products(accesses)
    return {"goals": [read_goal(goal, products) for goal in listed]}


# One of them


async def show_goal(visit: Visit) -> Facts:
    goal_id = visit.path("goal")
    if goal_id == NEW:
        return await describe(visit, Entered())
    goal = read_goal(await visit.api.get(f"{GOALS}/{segment(goal_id)}"), await list_choices(visit))
    entered = Entered(
        goal.name,
        write_amount(goal.target, visit.language),
        "" if goal.target_date is None else goal.target_date.isoformat(),
        tuple(product.id for product in goal.products),
        "" if goal.products else write_amount(goal.saved, visit.language),
    )
    return await describe(visit, entered)


async def list_choices(visit: Visit) -> list[Product]:
    return choose_products(list_accounts(list_products(await visit.api.get(ACCESSES))))


async def describe(visit: Visit, entered: Entered, *, problem: str | None = None) -> Facts:
    goal_id = visit.path("goal")
    return {
        "goal_id": goal_id,
        "is_new": goal_id == NEW,
        "is_deleting": visit.query.get("delete") == "yes",
        "entered": entered,
        "products": await list_choices(visit),
        "problem": None if problem is None else visit.texts(f"goal.problem.{problem}"),
        "wrong_field": problem or "",
    }


async def save(visit: Visit, form: Form) -> Facts | None:
    entered = Entered(
        " ".join(field_of(form, "name").split()),
        field_of(form, "target").strip(),
        field_of(form, "target_date").strip(),
        tuple(dict.fromkeys(form.get("product", []))),
        field_of(form, "saved").strip(),
    )
    wrong = find_wrong_field(entered, visit.language)
    if wrong is not None:
        return await describe(visit, entered, problem=wrong)
    try:
        await store(visit, entered)
    except ApiError as error:
        if error.status != 400:
            raise
        return await describe(visit, entered, problem="refused")
    raise RedirectTo(PAGE, notice="goal_saved")


def find_wrong_field(entered: Entered, language: str) -> str | None:
    """The first that cannot be right; the API looks at all of them once more."""
    target = read_amount(entered.target, language)
    if not entered.name or len(entered.name) > MAX_NAME_LENGTH:
        return "name"
    if target is None or target <= 0:
        return "target"
    if entered.target_date and not _is_day(entered.target_date):
        return "target_date"
    is_counted = bool(entered.products) or not entered.saved
    return None if is_counted or read_amount(entered.saved, language) is not None else "saved"


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


async def store(visit: Visit, entered: Entered) -> None:
    """A new goal takes no figure of the user's own: that is said by a change."""
    goal_id = visit.path("goal")
    body: dict[str, Any] = {"name": entered.name, "zielbetrag": float(_read(entered.target, visit))}
    if entered.target_date:
        body["zieldatum"] = entered.target_date
    if entered.products:
        body["produkte"] = list(entered.products)
    own = {} if entered.products else {"angespart": float(_read(entered.saved or "0", visit))}
    path = f"{GOALS}/{segment(goal_id)}"
    if goal_id == NEW:
        made = await visit.api.send("POST", GOALS, json=body)
        if not entered.saved or entered.products:
            return
        path = urlsplit(made.headers["location"]).path
    await visit.api.send("PUT", path, json=body | own)


def _read(text: str, visit: Visit) -> Decimal:
    amount = read_amount(text, visit.language)
    assert amount is not None, "wrong fields have been told"
    return amount


async def delete(visit: Visit, form: Form) -> Facts | None:
    try:
        await visit.api.send("DELETE", f"{GOALS}/{segment(visit.path('goal'))}")
    except ApiError as error:
        if error.status != 404:  # another tab was faster
            raise
    raise RedirectTo(PAGE, notice="goal_deleted")


VIEWS = [
    View("goals", "/goals", show, group="money"),
    View(
        "goal", "/goals/{goal:str}", show_goal, parent="goals", actions={"save": save, "delete": delete},
        repeatable=("product",),
    ),
]  # fmt: skip
