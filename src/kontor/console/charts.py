"""A chart is data: the page's script draws it, and the same values stand in a table beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import msgspec
from markupsafe import Markup

Value = Decimal | int | float | None


@dataclass(frozen=True, slots=True)
class Series:
    """A row of values, one for each label of its chart.

    `colour` is a name that `console.css` gives a value as `--chart-<colour>`: `income`, `expense`, `balance`, `muted`,
    or a category's system name in lower case. `low` and `high` draw an interval around the values.
    """

    name: str
    values: Sequence[Value]
    colour: str
    kind: Literal["bar", "line"] | None = None
    is_dashed: bool = False
    stack: str | None = None
    low: Sequence[Value] | None = None
    high: Sequence[Value] | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """`kind` is what a series is drawn as unless it says otherwise. Values are money in `currency`."""

    name: str
    caption: str
    labels: Sequence[str]
    series: Sequence[Series]
    kind: Literal["bar", "line"] = "bar"
    is_stacked: bool = False
    is_stepped: bool = False
    currency: str = "EUR"
    label_heading: str = ""

    def for_script(self, language: str) -> Markup:
        """What `charts.js` reads from the page."""
        series = [
            {
                "name": series.name, "values": _numbers(series.values), "colour": series.colour,
                "kind": series.kind or self.kind, "isDashed": series.is_dashed, "stack": series.stack,
                "low": None if series.low is None else _numbers(series.low),
                "high": None if series.high is None else _numbers(series.high),
            }
            for series in self.series
        ]  # fmt: skip
        facts: dict[str, Any] = {
            "labels": list(self.labels), "series": series, "isStacked": self.is_stacked, "isStepped": self.is_stepped,
            "currency": self.currency, "language": language, "caption": self.caption,
        }  # fmt: skip
        # Inside a script element nothing is unescaped, so what could end it is written as JSON writes it.
        text = msgspec.json.encode(facts).decode()
        return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704 (just made safe)

    def rows(self) -> list[tuple[str, list[tuple[Value, Value, Value]]]]:
        """For the table: each label with value, low and high of every series."""
        rows = []
        for at, label in enumerate(self.labels):
            cells = [
                (series.values[at], series.low[at] if series.low else None, series.high[at] if series.high else None)
                for series in self.series
            ]
            rows.append((label, cells))
        return rows


def _numbers(values: Sequence[Value]) -> list[float | None]:
    return [None if value is None else float(value) for value in values]
