"""All tag trees as data: what can be said about bookings and people, with German names.

The files in `data/trees` hold the items with fixed numbers. Two trees grow by rule: partners come from the partner
files, spans of time (`2020_M01`) from the calendar.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from kontor.analysis.tagging.partners import UNKNOWN_ID, Partner, list_files, list_lines
from kontor.analysis.tagging.prepared_knowledge import find_partner, list_partners
from kontor.domain.own_categories import OwnCategory

CATEGORIES, INSURANCE_TYPES, BUSINESS_PARTNERS = "CATEGORIES", "INSURANCE_TYPES", "BUSINESS_PARTNERS"
PERIODS, SALES_TRIGGERS, CASHFLOW, AFFORDABILITY = "PERIODS", "SALES_TRIGGERS", "CASHFLOW", "AFFORDABILITY"
DISPOSABLE_MONEY, LIFE_EVENTS, LIFE_STAGES = "DISPOSABLE_MONEY", "LIFE_EVENTS", "LIFE_STAGES"
FREELANCER_CATEGORIES = "FREELANCER_CATEGORIES"
CUSTOM_CATEGORIES, CUSTOM_ID = "CUSTOM_CATEGORIES", 20  # made by users and tenants: not among `TREES`
# Life events are asked for by this number too.
OTHER_IDS = {11: LIFE_EVENTS}
FIRST_YEAR, LAST_YEAR = 2000, 2049
_SPAN = re.compile(r"(\d{4})(?:_(Y|Q[1-4]|M(?:0[1-9]|1[0-2])|W(?:0[1-9]|[1-4]\d|5[0-3])))?")
# Within a year's thousand: the year itself 0, `_Y` 1, quarters from 10, months from 20, weeks from 40 on.
_OFFSETS = {"Q": 10, "M": 20, "W": 40}
_MONTHS = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
]


@dataclass(frozen=True, slots=True)
class Item:
    """One item. `partner` is there for items of the partner tree (but for `UNKNOWN`)."""

    system_id: int
    system_name: str
    parent: str | None
    name: str
    description: str
    partner: Partner | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree; `items` are those with fixed numbers, see `list_items` for all."""

    system_id: int
    system_name: str
    name: str
    description: str
    version: int
    items: Mapping[str, Item] = field(repr=False)
    by_id: Mapping[int, Item] = field(repr=False)


def _read_tree(lines: list[str]) -> Tree:
    head = [part.strip() for part in lines[0].removeprefix("@").split("|")]
    items: dict[str, Item] = {}
    for line in lines[1:]:
        number, name, parent, shown, description = (part.strip() for part in line.split("|"))
        items[name] = Item(int(number), name, parent or None, shown, description)
    by_id = {item.system_id: item for item in items.values()}
    assert len(by_id) == len(items), f"{head[1]}: a number is given twice"
    return Tree(int(head[0]), head[1], head[2], head[3], int(head[4]), items, by_id)


def _read_trees() -> dict[str, Tree]:
    folder = files("kontor.analysis") / "data" / "trees"
    trees = [_read_tree(list(list_lines(file))) for file in list_files(folder)]
    return {tree.system_name: tree for tree in sorted(trees, key=lambda tree: tree.system_id)}


TREES: Mapping[str, Tree] = _read_trees()
_BY_ID = {tree.system_id: tree for tree in TREES.values()} | {number: TREES[name] for number, name in OTHER_IDS.items()}


def find_tree(key: int | str) -> Tree | None:
    """The tree with that number or system name; a number may come as text."""
    if isinstance(key, str):
        return TREES.get(key) if not key.isdecimal() else _BY_ID.get(int(key[:9]))
    return _BY_ID.get(key)


def find_item(tree: Tree, key: int | str) -> Item | None:
    """The tree's item with that system name or number; a number may come as text, except for years of the cash flow."""
    if isinstance(key, str):
        item = tree.items.get(key)
        if item is None and tree.system_name == BUSINESS_PARTNERS:
            partner = find_partner(key)
            item = None if partner is None else _show_partner(partner)
        if item is None and tree.system_name == CASHFLOW:
            item = _make_span(key)
        if item is not None or not key.isdecimal():
            return item
        key = int(key[:18])
    if key in tree.by_id:
        return tree.by_id[key]
    if tree.system_name in (BUSINESS_PARTNERS, CASHFLOW):
        return _number_items(tree.system_name).get(key)
    return None


def list_items(tree: Tree) -> tuple[Item, ...]:
    """All items, those with fixed numbers first."""
    return (*tree.items.values(), *_list_ruled_items(tree.system_name))


@lru_cache(maxsize=2)
def _list_ruled_items(name: str) -> tuple[Item, ...]:
    if name == BUSINESS_PARTNERS:
        return tuple(map(_show_partner, list_partners()))
    if name == CASHFLOW:
        spans = ["", "_Y", *(f"_Q{number}" for number in range(1, 5))]
        spans += [f"_M{number:02d}" for number in range(1, 13)] + [f"_W{number:02d}" for number in range(1, 54)]
        items = (_make_span(f"{year}{span}") for year in range(FIRST_YEAR, LAST_YEAR + 1) for span in spans)
        return tuple(item for item in items if item is not None)
    return ()


@lru_cache(maxsize=2)
def _number_items(name: str) -> Mapping[int, Item]:
    return {item.system_id: item for item in _list_ruled_items(name)}


def make_own_tree(categories: Iterable[OwnCategory]) -> Tree:
    """The tree of these own categories."""
    items = {
        category.system_name: Item(
            category.system_id, category.system_name, category.basis, category.name, category.description
        )
        for category in categories
    }
    by_id = {item.system_id: item for item in items.values()}
    return Tree(CUSTOM_ID, CUSTOM_CATEGORIES, "Eigene Kategorien", "Selbst angelegte Kategorien", 1, items, by_id)


def _show_partner(partner: Partner) -> Item:
    assert partner.system_id != UNKNOWN_ID
    return Item(partner.system_id, partner.system_name, None, partner.name, partner.group, partner)


def _make_span(name: str) -> Item | None:
    """The item of a year, quarter, month or week."""
    match = _SPAN.fullmatch(name)
    if match is None or not FIRST_YEAR <= int(match[1]) <= LAST_YEAR:
        return None
    year, span = match[1], match[2]
    if span is None:
        return Item(int(year) * 1000, name, None, year, f"Das Jahr {year} und seine Teile")
    if span == "Y":
        return Item(int(year) * 1000 + 1, name, year, year, f"Das ganze Jahr {year}")
    number = int(span[1:])
    if span[0] == "M":
        words = f"{_MONTHS[number - 1]} {year}"
    else:
        words = f"{number}. Quartal {year}" if span[0] == "Q" else f"Kalenderwoche {number}/{year}"
    return Item(int(year) * 1000 + _OFFSETS[span[0]] + number, name, year, words, words)
