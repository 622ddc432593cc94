"""Plots of an evaluation as SVG: small, without a library, readable in light and dark."""

from collections.abc import Sequence

from kontor.analysis.scoring.calibration import Bin

SIZE, MARGIN = 320, 44


def draw_reliability(bins: Sequence[Bin]) -> str:
    """How often answers of a confidence are right; on the diagonal, the confidence is honest. Area tells how many."""
    span = SIZE - 2 * MARGIN
    most = max((one.count for one in bins), default=1)

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
    for one in bins:
        x, y = place(one.confidence, one.accuracy)
        radius = 3 + 9 * (one.count / most) ** 0.5
        label = f"confidence {one.confidence:.2f}, right {one.accuracy:.2f}, {one.count} rows"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{label}</title></circle>')
    parts.append(f'<text x="{SIZE / 2}" y="{SIZE - 8}" text-anchor="middle">confidence</text>')
    parts.append(
        f'<text x="12" y="{SIZE / 2}" text-anchor="middle" transform="rotate(-90 12 {SIZE / 2})">share right</text>'
    )
    return _wrap(SIZE, SIZE, parts, "Reliability of the confidence")


def draw_bars(rows: Sequence[tuple[str, float, int]], title: str) -> str:
    """One bar per (name, value between 0 and 1, rows)."""
    height, left, width = 20 * len(rows) + 12, 250, 640
    parts = []
    for number, (name, value, count) in enumerate(rows):
        y = 8 + number * 20
        length = value * (width - left - 90)
        parts.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{name}</text>')
        parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="14" rx="2"/>')
        parts.append(f'<text x="{left + length + 6:.1f}" y="{y + 11}">{value:.2f} ({count})</text>')
    return _wrap(width, height, parts, title)


def _wrap(width: int, height: int, parts: Sequence[str], title: str) -> str:
    style = (
        "text{font:12px sans-serif;fill:#555}.axis{stroke:#888}.grid{stroke:#bbb;stroke-dasharray:4}"
        "circle,rect{fill:#2166ac;fill-opacity:.8}"
        "@media(prefers-color-scheme:dark){text{fill:#bbb}.grid{stroke:#555}circle,rect{fill:#67a9cf}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{title}"><title>{title}</title><style>{style}</style>{"".join(parts)}</svg>'
    )
