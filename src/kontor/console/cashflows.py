"""The cashflow of the API, read for pages: sums by category or partner and span of time, and what is expected."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.console.rendering import name_month

AGGREGATE = "AGGREGATE"
NET, INCOME, EXPENSES = "NET", "INCOME", "EXPENSES"
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a whole month will be; `low` and `high` hold 80 % of outcomes."""

    amount: Decimal
    low: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True)
class Flow:
    """A category, a partner, or one of the three sums. Amounts are signed as booked, by the name of a span of time."""

    name: str
    shown_name: str
    parent: str | None
    booked: Mapping[str, Decimal]
    expected: Mapping[str, Expectation]
    excluded_currencies: Sequence[str] = ()

    @property
    def is_aggregate(self) -> bool:
        return self.parent == AGGREGATE

    @property
    def main_category(self) -> str:
        return self.parent or self.name

    def amount(self, span: "Span") -> Decimal:
        return self.booked.get(span.name, _NOTHING)

    def amounts(self, spans: Sequence["Span"]) -> list[Decimal]:
        return [self.amount(span) for span in spans]

    def total(self, spans: Sequence["Span"]) -> Decimal:
        return sum(self.amounts(spans), _NOTHING)


@dataclass(frozen=True, slots=True)
class Span:
    """A month, quarter or year. `name` is what the API calls it: `2026_M11`, `2026_Q4`, `2026_Y`."""

    name: str
    label: str
    is_current: bool = False
    is_future: bool = False


@dataclass(frozen=True, slots=True)
class Aggregates:
    net: Flow
    income: Flow
    expenses: Flow


def read_flows(answer: Iterable[Mapping[str, Any]] | None) -> list[Flow]:
    return [_read_flow(flow) for flow in answer or ()]


def _read_flow(flow: Mapping[str, Any]) -> Flow:
    item, details = flow["tagTreeItem"], flow["details"]
    booked = {
        statistic["tagTreeItem"]["systemName"]: Decimal(statistic["cashflow"]) for statistic in details["statistics"]
    }
    expected = {
        prediction["tagTreeItem"]["systemName"]: Expectation(
            Decimal(prediction["cashflow"]), Decimal(prediction["lower"]), Decimal(prediction["upper"])
        )
        for prediction in details["predictions"]
    }
    excluded = tuple(details.get("excludedCurrencies", ()))
    return Flow(item["systemName"], item["displayName"], item.get("systemNameParent"), booked, expected, excluded)


def find_aggregates(flows: Sequence[Flow]) -> Aggregates | None:
    """Nothing where nothing was booked yet."""
    aggregates = {flow.name: flow for flow in flows if flow.is_aggregate}
    if NET not in aggregates:
        return None
    empty = Flow(NET, "", AGGREGATE, {}, {})
    return Aggregates(aggregates[NET], aggregates.get(INCOME, empty), aggregates.get(EXPENSES, empty))


def list_spans(by: str, count: int, today: date, language: str) -> list[Span]:
    """So many spans of time up to the current one, the oldest first."""
    if by == "year":
        return [
            Span(f"{year}_Y", str(year), year == today.year) for year in range(today.year - count + 1, today.year + 1)
        ]
    if by == "quarter":
        last = today.year * 4 + (today.month - 1) // 3
        return [
            Span(f"{number // 4}_Q{number % 4 + 1}", f"Q{number % 4 + 1} {number // 4}", number == last)
            for number in range(last - count + 1, last + 1)
        ]
    last = today.year * 12 + today.month - 1
    return [_make_month(number, last, language) for number in range(last - count + 1, last + 1)]


def add_coming_month(spans: Sequence[Span], today: date, language: str) -> list[Span]:
    """Months, and the one for which something is expected already."""
    last = today.year * 12 + today.month - 1
    return [*spans, _make_month(last + 1, last, language)]


def _make_month(number: int, current: int, language: str) -> Span:
    year, month = number // 12, number % 12 + 1
    label = name_month(date(year, month, 1), language)
    return Span(f"{year}_M{month:02}", label, number == current, number > current)


def find_month(first: date, today: date, language: str) -> Span:
    return _make_month(first.year * 12 + first.month - 1, today.year * 12 + today.month - 1, language)


def drop_empty_start(spans: Sequence[Span], flow: Flow) -> list[Span]:
    """Without spans before the first booking, of which there is nothing to say."""
    first = next((at for at, span in enumerate(spans) if span.name in flow.booked), max(len(spans) - 1, 0))
    return list(spans[first:])
