"""The tree of categories, as a person chooses from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from kontor.console.gateway import Gateway

PATH = "/tags/v1/tag-trees/CATEGORIES/tag-tree-items"
TREE = "CATEGORIES"
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
