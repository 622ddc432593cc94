"""Account statements of the API, as the page of them shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from kontor.console.accesses import Product
from kontor.console.gateway import segment

STORED = "VORHANDEN"


@dataclass(frozen=True, slots=True)
class Statement:
    """`state` is the API's; `url` is where the browser gets the file."""

    id: str
    state: str
    number: int | None
    year: int | None
    starts_on: date | None
    ends_on: date | None
    created_on: date | None
    format: str | None
    size: int | None
    url: str

    @property
    def is_stored(self) -> bool:
        return self.state == STORED


@dataclass(frozen=True, slots=True)
class Year:
    """Statements of one year; `year` is None for those without."""

    year: int | None
    statements: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class AccountOfStatements:
    product: Product
    years: Sequence[Year]


def read_years(product: Product, listed: Sequence[Mapping[str, Any]]) -> list[Year]:
    """In the API's order, which is the newest first."""
    years: dict[int | None, list[Statement]] = {}
    for entry in listed:
        statement = read_statement(product, entry)
        years.setdefault(statement.year, []).append(statement)
    return [Year(year, statements) for year, statements in years.items()]


def read_statement(product: Product, entry: Mapping[str, Any]) -> Statement:
    starts_on, ends_on, created_on = (_read_day(entry.get(name)) for name in ("von", "bis", "erstellt"))
    year = entry.get("jahr") or next((day.year for day in (starts_on, created_on) if day is not None), None)
    return Statement(
        entry["id"],
        entry["status"],
        entry.get("nummer"),
        year,
        starts_on,
        ends_on,
        created_on,
        entry.get("format"),
        entry.get("groesse"),
        f"/console/statements/{segment(product.access_id)}/{segment(product.id)}/{segment(entry['id'])}",
    )


def _read_day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
