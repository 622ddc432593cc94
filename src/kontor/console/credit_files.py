"""Credit files, as the pages of customers and advisers show them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.console.rendering import read_day

SELF = "SELBST"
COUNTS = frozenset({"ZURUECKGEGEBENE_LASTSCHRIFTEN", "MAHNGEBUEHREN", "INKASSO", "PFAENDUNGEN"})
RATIO = "EINNAHMEN_STETIGKEIT"


@dataclass(frozen=True, slots=True)
class Figure:
    """`explanation` is German, as it is signed."""

    name: str
    value: Decimal
    rows: tuple[str, ...]
    explanation: str

    @property
    def kind(self) -> str:
        if self.name in COUNTS:
            return "count"
        return "ratio" if self.name == RATIO else "money"


@dataclass(frozen=True, slots=True)
class Correction:
    """`before` and `after` are names of categories."""

    row: str
    before: str
    after: str
    adviser: str
    at: str


@dataclass(frozen=True, slots=True)
class Booking:
    """Behind a figure. `url` is its own page, where there is one for whoever looks."""

    id: str
    day: date | None
    name: str
    text: str
    amount: Decimal
    currency: str
    category: str | None = None
    is_corrected: bool = False
    url: str | None = None


@dataclass(frozen=True, slots=True)
class CreditFile:
    id: str
    version: int
    created_at: str
    as_of: str
    purpose: str
    disclosure: str
    consent: str | None
    data_from: str | None
    data_to: str | None
    figures: tuple[Figure, ...]
    corrections: tuple[Correction, ...]
    review: Mapping[str, Any] | None
    predecessor: str | None

    @property
    def is_own(self) -> bool:
        """For the customer alone."""
        return self.disclosure == SELF

    def find_figure(self, name: str | None) -> Figure | None:
        return next((figure for figure in self.figures if figure.name == name and figure.rows), None)


def read_file(told: Mapping[str, Any], names: Mapping[str, str]) -> CreditFile:
    """`names` are those of categories in the page's language."""
    figures = (
        Figure(value["name"], value["wert"], tuple(value["umsaetze"]), value["erklaerung"]) for value in told["werte"]
    )
    corrections = (
        Correction(
            each["umsatz"],
            names.get(each["vorher"], each["vorher"]),
            names.get(each["nachher"], each["nachher"]),
            each["berater"],
            each["korrigiertAm"],
        )
        for each in told.get("korrekturen", ())
    )
    return CreditFile(
        id=told["id"],
        version=told["version"],
        created_at=told["erstelltAm"],
        as_of=told["stichtag"],
        purpose=told["zweck"],
        disclosure=told["freigabe"],
        consent=told.get("einwilligung"),
        data_from=told.get("datenVon"),
        data_to=told.get("datenBis"),
        figures=tuple(figures),
        corrections=tuple(corrections),
        review=told.get("pruefung"),
        predecessor=told.get("vorgaenger"),
    )


def read_bookings(told: Iterable[Mapping[str, Any]], figure: Figure, names: Mapping[str, str]) -> list[Booking]:
    """Those of the figure, the newest first."""
    wanted = set(figure.rows)
    return [read_booking(row, names) for row in told if row["id"] in wanted]


def read_booking(row: Mapping[str, Any], names: Mapping[str, str], url: str | None = None) -> Booking:
    category = row.get("systemName")
    return Booking(
        id=row["id"],
        day=read_day(row.get("buchungsdatum")),
        name=row.get("gegenkontoInhaber", ""),
        text=row.get("verwendungszweck") or row.get("buchungstext", ""),
        amount=row["betrag"],
        currency=row["waehrung"],
        category=None if category is None else names.get(category, category),
        is_corrected=row.get("korrigiert", False),
        url=url,
    )


def find_successor(entries: Sequence[Mapping[str, Any]], file_id: str) -> str | None:
    """The newer version, among the customer's files."""
    return next((entry["id"] for entry in entries if entry.get("vorgaenger") == file_id), None)
