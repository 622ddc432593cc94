"""The tree of categories, as a person chooses from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from kontor.console.gateway import Gateway

PATH = "/tags/v1/tag-trees/CATEGORIES/tag-tree-items"
TREE = "CATEGORIES"
OWN_PATH = "/customer/v2/ai/categories"
OWN_TREE = "CUSTOM_CATEGORIES"
# Sums over other categories, which no transaction has.
SUMS = {"NET", "EXPENSES"}


@dataclass(frozen=True, slots=True)
class Category:
    system_name: str
    name: str


@dataclass(frozen=True, slots=True)
class MainCategory:
    """A main category with those below it."""

    system_name: str
    name: str
    below: list[Category] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class OwnCategory:
    """One that the user or the tenant has made. `basis` is what analyses see."""

    system_id: int
    system_name: str
    name: str
    basis: str
    description: str = ""


async def list_own_categories(api: Gateway) -> list[OwnCategory]:
    """By name."""
    own = [
        OwnCategory(
            item["systemId"], item["systemName"], item["displayName"], item["systemNameParent"],
            item.get("description") or "",
        )
        for item in await api.get(OWN_PATH)
    ]  # fmt: skip
    return sorted(own, key=lambda category: category.name.casefold())


def add_own(mains: Sequence[MainCategory], own: Sequence[OwnCategory], heading: str) -> list[MainCategory]:
    """Choices with the own categories below a heading of their own, which comes first."""
    below = [Category(category.system_name, category.name) for category in own]
    return [MainCategory("", heading, below), *mains] if below else list(mains)


def choose_own_fitting(own: Sequence[OwnCategory], amount: Decimal | None) -> list[OwnCategory]:
    return [category for category in own if fits_sign(f"{category.basis}_", amount)]


def list_assignable(mains: Sequence[MainCategory]) -> list[MainCategory]:
    """What transactions can have, of either sign: subcategories, and mains that have none."""
    return choose_fitting(mains, None)


def write_tag(system_name: str) -> dict[str, str]:
    """As a body of the API names a category of either tree."""
    return {"systemName": system_name}


async def list_categories(api: Gateway) -> list[MainCategory]:
    return read_categories(await api.get(PATH))


def read_categories(items: Sequence[Mapping[str, Any]]) -> list[MainCategory]:
    """In the order of the tree, without the sums."""
    mains = {
        item["systemName"]: MainCategory(item["systemName"], item["displayName"])
        for item in items
        if "systemNameParent" not in item and item["systemName"] not in SUMS
    }
    for item in items:
        main = mains.get(item.get("systemNameParent", ""))
        if main is not None:
            main.below.append(Category(item["systemName"], item["displayName"]))
    return list(mains.values())


def choose_fitting(mains: Sequence[MainCategory], amount: Decimal | None) -> list[MainCategory]:
    """What a transaction of this amount can be corrected to: subcategories, and mains that have none."""
    fitting = []
    for main in mains:
        choices = main.below or [Category(main.system_name, main.name)]
        below = [category for category in choices if fits_sign(category.system_name, amount)]
        if below:
            fitting.append(MainCategory(main.system_name, main.name, below))
    return fitting


def fits_sign(system_name: str, amount: Decimal | None) -> bool:
    """The interface's rule: income comes in, transfers do either, all the rest goes out."""
    if system_name.startswith("TRANSFER_") or amount is None:
        return True
    return amount > 0 if system_name.startswith("INCOME_") else amount < 0


def name_categories(mains: Sequence[MainCategory]) -> dict[str, str]:
    """Display names by system names."""
    names = {main.system_name: main.name for main in mains}
    return names | {category.system_name: category.name for main in mains for category in main.below}
