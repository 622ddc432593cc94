"""The curve of an outlook as a picture: plain SVG, made here, so that it is there without scripts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from kontor.console.outlooks import Outlook, Point

TOP, BOTTOM, LEFT, RIGHT = 34.0, 30.0, 62.0, 16.0
_STEPS = (1, 2, 5)
_MAX_TICKS = 6
_LABEL_HALF = 62.0  # of a label's width


@dataclass(frozen=True, slots=True)
class Tick:
    """Where a value of an axis stands."""

    place: float
    value: Decimal


@dataclass(frozen=True, slots=True)
class DayTick:
    place: float
    day: date


@dataclass(frozen=True, slots=True)
class Marker:
    x: float
    y: float
    point: Point
    is_income: bool


@dataclass(frozen=True, slots=True)
class Label:
    """`anchor` is `start`, `middle` or `end`: so that the text stays inside."""

    x: float
    y: float
    anchor: str


@dataclass(frozen=True, slots=True)
class Curve:
    """All places are in units of `width` and `height`."""

    name: str
    width: int
    height: int
    left: float
    right: float
    bottom: float
    line: str
    area: str
    zero: float
    ticks: Sequence[Tick]
    days: Sequence[DayTick]
    markers: Sequence[Marker]
    lowest: Marker
    lowest_label: Label
    payday: Label | None


def draw_curve(outlook: Outlook, name: str, width: int, height: int, days_between: int) -> Curve:
    points = outlook.points
    ticks = list_ticks(min(point.balance for point in points), max(point.balance for point in points))
    right, bottom = width - RIGHT, height - BOTTOM
    across, up = (right - LEFT) / max(len(points) - 1, 1), (bottom - TOP) / float(ticks[-1] - ticks[0])

    def x_of(day: date) -> float:
        return round(LEFT + (day - points[0].day).days * across, 1)

    def y_of(value: Decimal) -> float:
        return round(bottom - float(value - ticks[0]) * up, 1)

    line = " ".join(f"{x_of(point.day)},{y_of(point.balance)}" for point in points)
    zero = y_of(Decimal(0))
    markers = [
        Marker(x_of(point.day), y_of(point.balance), point, sum(row.amount for row in point.rows) > 0)
        for point in points
        if point.rows
    ]
    low = outlook.lowest
    lowest = Marker(x_of(low.day), y_of(low.balance), low, is_income=False)
    below = lowest.y + 20 if lowest.y + 24 < bottom else lowest.y - 14
    return Curve(
        name, width, height, LEFT, right, bottom,
        line, f"{x_of(points[0].day)},{zero} {line} {x_of(points[-1].day)},{zero}", zero,
        [Tick(y_of(value), value) for value in ticks],
        [DayTick(x_of(point.day), point.day) for point in points[::days_between]],
        markers, lowest, _place_label(lowest.x, below, width),
        None if outlook.payday is None else _place_label(x_of(outlook.payday), TOP - 16, width),
    )  # fmt: skip


def list_ticks(low: Decimal, high: Decimal) -> list[Decimal]:
    """Round values around all balances and nothing, a few of them."""
    low, high = min(low, Decimal(0)), max(high, Decimal(0))
    for step in _list_steps():
        first, last = low // step - (low % step < 0), high // step + (high % step > 0)
        if last - first < _MAX_TICKS:
            return [step * number for number in range(int(first), max(int(last), int(first) + 1) + 1)]
    raise AssertionError("steps grow without end")


def _list_steps() -> Iterator[Decimal]:
    size = Decimal(1)
    while True:
        for step in _STEPS:
            yield step * size
        size *= 10


def _place_label(x: float, y: float, width: int) -> Label:
    anchor = "start" if x < LEFT + _LABEL_HALF else "end" if x > width - _LABEL_HALF else "middle"
    return Label(x, y, anchor)
