"""Personas and offers as their TOML descriptions say them.

`data/offers/*.toml` describe what one can agree on (a salary, a rent, a policy); a persona in `data/personas/*.toml`
names the offers it uses and changes what is special about it. The guide to writing one is `data/personas/README.md`.
"""

import tomllib
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeAlias

from kontor.connectors.demo.people.banking_days import parse_month
from kontor.connectors.demo.people.truth import NO_BUSINESS, NO_INSURANCE
from kontor.connectors.demo.people.words import read_text
from kontor.domain.products import ProductCategory

Table: TypeAlias = dict[str, Any]
RENAMED = {"from": "start", "until": "end"}


@dataclass(frozen=True, slots=True)
class Settlement:
    """Once a year the year's use is compared with what was paid. Shares are of one regular payment; negative ones are
    paid back."""

    month: int
    low: float
    high: float
    purpose: str
    day: int = 18


@dataclass(frozen=True, slots=True)
class Bonus:
    month: int
    share: float
    purpose: str


@dataclass(frozen=True, slots=True)
class Renewal:
    """So many months apart the partner changes something (`iban`, `mandate`, or `name`: its spelling); the agreement
    stays what it is."""

    every: int
    what: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Something that is paid again and again, or once (`at`). Months `start`, `end` and `at` count in the life course's
    cycle; without them the agreement has always been there. So many months apart a payment is booked twice by mistake
    and paid back (`doubled_every`), or not made at all (`missed_every`)."""

    key: str
    use: str
    category: str
    method: str
    amount: tuple[float, float]
    purpose: tuple[str, ...]
    pool: str = ""
    partner: str = ""
    same_as: str = ""
    period: str = "MONTH_ONE"
    day: int | str = 1
    shift: str = "next"
    month: int = 1
    start: int | None = None
    end: int | None = None
    at: int | None = None
    since_first: bool = False
    account: str = "main"
    to: str = ""
    contract: bool = True
    exact: bool = False
    step: int = 1
    varies: float = 0.0
    rise: tuple[float, float] = (0.0, 0.0)
    skip: float = 0.0
    insurance: str = NO_INSURANCE
    freelancer: str = NO_BUSINESS
    contract_number: str = "########"
    customer_number: str = "#########"
    ultimate: str = ""
    starts: str = ""
    ends: str = ""
    event: str = ""
    settlement: Settlement | None = None
    bonus: Bonus | None = None
    returned: float = 0.0
    renewal: Renewal | None = None
    doubled_every: int = 0
    missed_every: int = 0
    mandate_of: str = ""


@dataclass(frozen=True, slots=True)
class AccountPlan:
    """An account to be. `balance` is the corridor of its balance: of each month's end for accounts that are used every
    day (`close` says where the rest of a month goes), of the epoch for all others."""

    key: str
    kind: ProductCategory
    name: str
    balance: tuple[float, float] = (0.0, 0.0)
    close: str = ""
    overdraft: int | None = None
    limit: int | None = None
    currencies: tuple[str, ...] = ()
    holdings: int = 0
    joint: bool = False


@dataclass(frozen=True, slots=True)
class Habit:
    """Purchases that come and go: how many a month in a category."""

    category: str
    rate: float
    account: str = "main"
    freelancer: str = NO_BUSINESS
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Persona:
    key: str
    title: str
    months: int
    generation: str
    gender: str
    style: str
    cities: tuple[str, ...]
    level: float
    cycle_start: int
    cycle_months: int
    accounts: tuple[AccountPlan, ...]
    habits: tuple[Habit, ...]
    agreements: tuple[Agreement, ...]
    levels: tuple[tuple[int, int, float], ...] = ()
    events: tuple[tuple[int, int, str], ...] = ()
    second_city_from: int | None = None


def _read_range(value: float | list[float]) -> tuple[float, float]:
    return (value[0], value[1]) if isinstance(value, list) else (value, value)


@lru_cache(maxsize=1)
def load_offers() -> dict[str, Table]:
    offers: dict[str, Table] = {}
    folder = files("kontor.connectors.demo.people") / "data" / "offers"
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        offers |= tomllib.loads(file.read_text(encoding="utf-8"))
    return offers


AGREEMENT_FIELDS = frozenset(entry.name for entry in fields(Agreement))


def read_agreement(key: str, table: Table) -> Agreement:
    """The offer the table uses (by its own key, or by `use`), changed by what the table says."""
    use = table.get("use", key)
    merged: Table = {RENAMED.get(name, name): value for name, value in (load_offers()[use] | table).items()}
    unknown = merged.keys() - AGREEMENT_FIELDS
    if unknown:
        raise ValueError(f"agreement {key}: no such entries: {sorted(unknown)}")
    purpose = merged["purpose"]
    merged["purpose"] = (purpose,) if isinstance(purpose, str) else tuple(purpose)
    merged["amount"] = _read_range(merged["amount"])
    merged["rise"] = _read_range(merged.get("rise", 0.0))
    if "settlement" in merged:
        merged["settlement"] = Settlement(**merged["settlement"])
    if "bonus" in merged:
        merged["bonus"] = Bonus(**merged["bonus"])
    if "renewal" in merged:
        merged["renewal"] = Renewal(merged["renewal"]["every"], tuple(merged["renewal"]["what"]))
    return Agreement(**(merged | {"key": key, "use": use}))


def read_account(table: Table) -> AccountPlan:
    kind = ProductCategory(table["kind"])
    given = {name: value for name, value in table.items() if name not in ("kind", "balance", "currencies")}
    return AccountPlan(
        kind=kind,
        balance=_read_range(table.get("balance", 0.0)),
        currencies=tuple(table.get("currencies", ())),
        **given,
    )


def read_habits(table: Table) -> tuple[Habit, ...]:
    """`habits` names categories with their purchases a month; `more_habits` are those with something special."""
    plain = tuple(Habit(category, rate) for category, rate in table.get("habits", {}).items())
    more = ({RENAMED.get(name, name): value for name, value in entry.items()} for entry in table.get("more_habits", ()))
    return plain + tuple(Habit(**entry) for entry in more)


def _load_table(key: str) -> Table:
    """A persona's table, laid over the one it extends; an agreement set to `false` is left out."""
    table = tomllib.loads(read_text(f"personas/{key}.toml"))
    base = table.pop("extends", None)
    if base is None:
        return table
    merged = _load_table(base)
    for name, value in table.items():
        if isinstance(value, dict):
            merged[name] = merged.get(name, {}) | value
        elif name == "more_accounts":
            merged["accounts"] = [*merged["accounts"], *value]
        else:
            merged[name] = value
    return merged


@lru_cache(maxsize=64)
def load_persona(key: str) -> Persona:
    table = _load_table(key)
    cycle = table.get("cycle", {})
    agreements = table.get("agreements", {})
    return Persona(
        key=key,
        title=table["title"],
        months=table.get("months", 36),
        generation=table.get("generation", "middle"),
        gender=table.get("gender", ""),
        style=table.get("style", "tags"),
        cities=tuple(table.get("cities", ("Köln",))),
        level=table.get("level", 1.0),
        cycle_start=parse_month(cycle.get("start", "2024-01")),
        cycle_months=cycle.get("months", 1200),
        accounts=tuple(read_account(entry) for entry in table["accounts"]),
        habits=read_habits(table),
        agreements=tuple(read_agreement(name, entry) for name, entry in agreements.items() if entry is not False),
        levels=tuple((low, high, share) for low, high, share in table.get("levels", ())),
        events=tuple((month, day, name) for month, day, name in table.get("events", ())),
        second_city_from=table.get("second_city_from"),
    )
