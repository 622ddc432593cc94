"""Plots of an evaluation as SVG: small, without a library, readable in light and dark."""

from collections.abc import Sequence
from html import escape
from math import ceil

from kontor.analysis.scoring.calibration import Bin

SIZE, MARGIN = 320, 44


def draw_reliability(bins: Sequence[Bin], title: str = "Reliability of the confidence") -> str:
    """How often answers of a confidence are right; on the diagonal, the confidence is honest. Area tells how many."""
    span = SIZE - 2 * MARGIN
    most = max((bucket.count for bucket in bins), default=1)

    def place(confidence: float, accuracy: float) -> tuple[float, float]:
        return MARGIN + confidence * span, SIZE - MARGIN - accuracy * span

    (left, bottom), (right, top) = place(0, 0), place(1, 1)
    parts = [
        f'<line class="grid" x1="{left}" y1="{bottom}" x2="{right}" y2="{top}"/>',
        f'<line class="axis" x1="{left}" y1="{bottom}" x2="{right}" y2="{bottom}"/>',
        f'<line class="axis" x1="{left}" y1="{bottom}" x2="{left}" y2="{top}"/>',
    ]
    for tenth in range(0, 11, 2):
        x, y = place(tenth / 10, tenth / 10)
        parts.append(f'<text x="{x:.0f}" y="{bottom + 16:.0f}" text-anchor="middle">{tenth / 10:.1f}</text>')
        parts.append(f'<text x="{left - 8:.0f}" y="{y + 4:.0f}" text-anchor="end">{tenth / 10:.1f}</text>')
    for bucket in bins:
        x, y = place(bucket.confidence, bucket.accuracy)
        radius = 3 + 9 * (bucket.count / most) ** 0.5
        label = f"confidence {bucket.confidence:.2f}, right {bucket.accuracy:.2f}, {bucket.count} rows"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{label}</title></circle>')
    parts.append(f'<text x="{SIZE / 2}" y="{SIZE - 8}" text-anchor="middle">confidence</text>')
    parts.append(
        f'<text x="12" y="{SIZE / 2}" text-anchor="middle" transform="rotate(-90 12 {SIZE / 2})">share right</text>'
    )
    return _wrap(SIZE, SIZE, parts, title)


def draw_bars(rows: Sequence[tuple[str, float, int]], title: str) -> str:
    """One bar per (name, value between 0 and 1, rows)."""
    height, left, width = 20 * len(rows) + 12, 250, 640
    parts = []
    for number, (name, value, count) in enumerate(rows):
        y = 8 + number * 20
        length = value * (width - left - 90)
        parts.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="14" rx="2"/>')
        parts.append(f'<text x="{left + length + 6:.1f}" y="{y + 11}">{value:.2f} ({count})</text>')
    return _wrap(width, height, parts, title)


def draw_coverage(rows: Sequence[tuple[str, float, int]], aim: tuple[float, float], title: str) -> str:
    """A dot per (name, share of outcomes within the interval, forecasts); the band is what an honest one reaches."""
    left, width, top = 230, 640, 12
    span, bottom = width - left - 110, top + 26 * len(rows)
    low = min(0.5, *(value for _, value, _ in rows)) if rows else 0.5

    def place(value: float) -> float:
        return left + (value - low) / (1 - low) * span

    start, end = (place(value) for value in aim)
    parts = [f'<rect class="band" x="{start:.1f}" y="{top}" width="{end - start:.1f}" height="{bottom - top}"/>']
    for number, (name, value, count) in enumerate(rows):
        y = top + 13 + number * 26
        parts += [
            f'<line class="grid" x1="{left}" y1="{y}" x2="{left + span}" y2="{y}"/>',
            f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(name)}</text>',
            f'<circle cx="{place(value):.1f}" cy="{y}" r="6"/>',
            f'<text x="{left + span + 10}" y="{y + 4}">{value:.1%} of {count:,}</text>',
        ]
    for tenth in range(ceil(low * 10), 11):
        x = place(tenth / 10)
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tenth * 10} %</text>')
    label = f"outcomes within the interval; band: {aim[0]:.0%} to {aim[1]:.0%}"
    parts.append(f'<text x="{left + span / 2:.0f}" y="{bottom + 36}" text-anchor="middle">{label}</text>')
    return _wrap(width, bottom + 46, parts, title)


def draw_groups(
    rows: Sequence[tuple[str, Sequence[float]]],
    series: Sequence[str],
    title: str,
    unit: str = "",
    *,
    is_share: bool = False,
) -> str:
    """Bars side by side: per (name, a value for each of the series).

    Shares are drawn up to 1. Of other values, the longest bar of each group has the same length, so that groups of
    different size can be compared; `unit` is written behind the values.
    """
    left, width, top = 230, 640, 30
    step = 16 * len(series) + 14
    parts, x = [], left
    for place, name in enumerate(series):
        parts.append(f'<rect class="s{place}" x="{x}" y="6" width="11" height="11" rx="2"/>')
        parts.append(f'<text x="{x + 16}" y="16">{escape(name)}</text>')
        x += 34 + 6 * len(name)
    for number, (name, values) in enumerate(rows):
        y, most = top + number * step, 1.0 if is_share else max([*values, 1e-9])
        parts.append(f'<text x="{left - 8}" y="{y + step / 2 - 2:.0f}" text-anchor="end">{escape(name)}</text>')
        for place, value in enumerate(values):
            length = value / most * (width - left - 90)
            line = y + place * 16
            parts.append(f'<rect class="s{place}" x="{left}" y="{line}" width="{length:.1f}" height="13" rx="2"/>')
            shown = f"{value:,.2f}{unit}"
            parts.append(f'<text x="{left + length + 6:.1f}" y="{line + 11}">{shown}</text>')
    return _wrap(width, top + step * len(rows), parts, title)


def _wrap(width: int, height: int, parts: Sequence[str], title: str) -> str:
    style = (
        "text{font:12px sans-serif;fill:#555}.axis{stroke:#888}.grid{stroke:#bbb;stroke-dasharray:4}"
        "circle,rect{fill:#2166ac;fill-opacity:.8}.band{fill:#2a9d5c;fill-opacity:.18}"
        ".s1{fill:#d9a06b}.s2{fill:#9aa7b0}"
        "@media(prefers-color-scheme:dark){text{fill:#bbb}.grid{stroke:#555}circle,rect{fill:#67a9cf}"
        ".band{fill:#5fc98b}.s1{fill:#d9a06b}.s2{fill:#8b98a1}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{escape(title)}"><title>{escape(title)}</title><style>{style}</style>'
        f"{''.join(parts)}</svg>"
    )
