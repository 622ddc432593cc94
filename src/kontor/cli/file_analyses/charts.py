"""Charts of the report as SVG: no script, readable in light and dark."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 860, 250, 58, 10, 26


class Bar(NamedTuple):
    """A month. `earned` and `spent` are both positive; texts are shown when pointed at. A forecast is drawn lighter."""

    label: str
    earned: float
    spent: float
    earned_text: str
    spent_text: str
    is_forecast: bool = False


def draw_months(bars: Sequence[Bar], title: str, show_axis: "AxisText") -> str:
    """Two bars per month, side by side."""
    top = _round_up(max((max(bar.earned, bar.spent) for bar in bars), default=1.0))
    span, floor = HEIGHT - TOP - BOTTOM, HEIGHT - BOTTOM
    parts = []
    for quarter in range(5):
        y = floor - span * quarter / 4
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH}" y2="{y:.1f}"/>')
        label = escape(show_axis(top * quarter / 4))
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    step = (WIDTH - LEFT) / max(1, len(bars))
    width = min(22.0, step * 0.34)
    for number, bar in enumerate(bars):
        middle = LEFT + step * (number + 0.5)
        extra = " forecast" if bar.is_forecast else ""
        earned = ("earned", bar.earned, bar.earned_text, middle - width - 1)
        spent = ("spent", bar.spent, bar.spent_text, middle + 1)
        for name, value, text, x in (earned, spent):
            height = span * value / top
            parts.append(
                f'<rect class="{name}{extra}" x="{x:.1f}" y="{floor - height:.1f}" width="{width:.1f}"'
                f' height="{height:.1f}" rx="2"><title>{escape(text)}</title></rect>'
            )
        parts.append(f'<text x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(bar.label)}</text>')
    picture = "".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">{picture}</svg>'


class AxisText:
    """How an amount is written at the axis."""

    def __init__(self, language: str) -> None:
        self._separator = "." if language == "de" else ","

    def __call__(self, value: float) -> str:
        return f"{value:,.0f}".replace(",", self._separator)


def _round_up(value: float) -> float:
    """Four round steps that reach the value."""
    step = 1.0
    while step * 4 < value:
        step *= 2.5 if f"{step:e}".startswith("2.0") else 2
    return step * 4
