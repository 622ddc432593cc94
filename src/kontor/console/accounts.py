"""What there is to say about one account: facts, balances over time, positions of a depot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from kontor.console.accesses import Product
from kontor.console.banks import read_time
from kontor.console.charts import Chart, Series
from kontor.pages.formatting import conventions_of
from kontor.pages.texts import Texts

# Key of the API, name of the text, how it is written.
FACTS = (
    ("inhaber", "holder", "text"),
    ("kreditinstitut", "bank", "text"),
    ("iban", "iban", "iban"),
    ("kontonummer", "number", "text"),
    ("bic", "bic", "text"),
    ("ueberziehungslimit", "overdraft", "money"),
    ("verfuegungsrahmen", "credit_limit", "money"),
    ("verfuegterBetrag", "credit_drawn", "money"),
    ("vertragsnummer", "contract_number", "text"),
    ("vertragstyp", "contract_type", "text"),
    ("vertragsstatus", "contract_status", "text"),
    ("vertragsDatum", "contract_date", "day"),
    ("vertragssumme", "contract_amount", "money"),
    ("sparzinssatz", "savings_rate", "rate"),
    ("schuldzinssatz", "debit_rate", "rate"),
    ("sparzustand", "is_saving", "flag"),
    ("rating", "rating", "number"),
    ("saldoDatum", "balance_date", "day"),
    ("aktualisierungszeitpunkt", "updated", "moment"),
)


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    kind: str
    value: Any


@dataclass(frozen=True, slots=True)
class Position:
    """A security. `share` is its part of the depot, between 0 and 1; values are in euros, the price is not."""

    name: str
    isin: str | None
    wkn: str | None
    quantity: Decimal | None
    is_nominal: bool
    price: Decimal | None
    priced_at: datetime | None
    currency: str
    exchange_rate: Decimal | None
    exchange: str | None
    value: Decimal | None
    share: Decimal


@dataclass(frozen=True, slots=True)
class BalanceSummary:
    change: Decimal
    lowest: Decimal
    lowest_on: date
    highest: Decimal
    highest_on: date


def describe_product(product: Product) -> list[Fact]:
    """All that is known about it, in a fixed order; a card's or an account's free money is reckoned."""
    facts = [Fact(name, kind, _read(product.facts[key], kind)) for key, name, kind in FACTS if key in product.facts]
    free = count_free_money(product)
    if free is not None:
        place = next(at for at, fact in enumerate(facts) if fact.name in ("overdraft", "credit_limit"))
        facts.insert(place + 1, Fact("free", "money", free))
    return facts


def count_free_money(product: Product) -> Decimal | None:
    facts = product.facts
    if "verfuegungsrahmen" in facts and "verfuegterBetrag" in facts:
        return Decimal(facts["verfuegungsrahmen"]) - Decimal(facts["verfuegterBetrag"])
    if "ueberziehungslimit" in facts and product.balance is not None:
        return product.balance + Decimal(facts["ueberziehungslimit"])
    return None


def _read(value: Any, kind: str) -> Any:
    if kind in ("day", "moment"):
        return read_time(value)
    return Decimal(str(value)) / 100 if kind == "rate" else value


def draw_balances(balances: Sequence[Mapping[str, Any]], product: Product, texts: Texts) -> Chart:
    labels = [write_short_day(date.fromisoformat(balance["date"]), texts.language) for balance in balances]
    series = Series(texts("account.balance"), [Decimal(balance["balance"]) for balance in balances], "balance")
    return Chart(
        "balances",
        texts("account.balances_caption", name=product.name),
        labels,
        [series],
        kind="line",
        is_stepped=True,
        currency=product.currency,
        label_heading=texts("common.date"),
    )


def summarise_balances(balances: Sequence[Mapping[str, Any]]) -> BalanceSummary | None:
    if len(balances) < 2:
        return None
    read = [(Decimal(balance["balance"]), date.fromisoformat(balance["date"])) for balance in balances]
    lowest, highest = min(read), max(read)
    return BalanceSummary(read[-1][0] - read[0][0], *lowest, *highest)


def write_short_day(day: date, language: str) -> str:
    """For the axis of a chart: `15.11.26`, `15 Nov 26`."""
    return day.strftime(conventions_of(language).short_day)


def read_positions(listed: Sequence[Mapping[str, Any]]) -> list[Position]:
    """The most valuable first."""
    total = sum((Decimal(position["gesamtwert"]) for position in listed if "gesamtwert" in position), Decimal(0))
    read = [_read_position(position, total) for position in listed]
    return sorted(read, key=lambda position: (-(position.value or Decimal(0)), position.name))


def _read_position(position: Mapping[str, Any], total: Decimal) -> Position:
    value = None if "gesamtwert" not in position else Decimal(position["gesamtwert"])
    return Position(
        position.get("name") or position.get("isin") or "–",
        position.get("isin"),
        position.get("wkn"),
        position.get("menge"),
        position.get("handelseinheit") == "NOMINAL",
        position.get("kurs"),
        read_time(position.get("kursDatum")),
        position.get("waehrung") or "EUR",
        position.get("waehrungskurs"),
        position.get("handelsplatz"),
        value,
        value / total if value is not None and total > 0 else Decimal(0),
    )
