"""A waterfall: how one amount becomes another, step by step, drawn as bars below each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

WIDTH = 100
_MIN_WIDTH = Decimal("0.6")  # a small step must still be seen
Kind = Literal["start", "step", "sum", "end"]


@dataclass(frozen=True, slots=True)
class Step:
    """`key` names its texts. A step changes the level by `amount`; any other kind shows the level that is reached."""

    key: str
    amount: Decimal
    kind: Kind = "step"


@dataclass(frozen=True, slots=True)
class Bar:
    """`x` and `width` are in hundredths of the picture's width."""

    key: str
    amount: Decimal
    kind: Kind
    x: Decimal
    width: Decimal
    colour: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    bars: Sequence[Bar]
    zero: Decimal  # where nothing is left


def draw_waterfall(steps: Sequence[Step]) -> Waterfall:
    levels, level = [], Decimal(0)
    for step in steps:
        before, level = (level, level + step.amount) if step.kind == "step" else (Decimal(0), step.amount)
        levels.append((before, level))
    ends = [Decimal(0), *(end for pair in levels for end in pair)]
    lowest, highest = min(ends), max(ends)
    scale = WIDTH / (highest - lowest) if highest > lowest else Decimal(0)
    bars = []
    for step, (before, after) in zip(steps, levels, strict=True):
        width = max(abs(after - before) * scale, _MIN_WIDTH)
        x = min((min(before, after) - lowest) * scale, WIDTH - width)
        bars.append(Bar(step.key, step.amount, step.kind, round(x, 2), round(width, 2), _find_colour(step)))
    return Waterfall(bars, round(-lowest * scale, 2))


def _find_colour(step: Step) -> str:
    if step.kind == "sum":
        return "balance"
    if step.kind == "end":
        return "balance" if step.amount >= 0 else "expense"
    return "income" if step.amount > 0 else "expense"
