"""The picture of how analyses grow."""

import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks.plot import COLOURS, DOTS, OURS, plt, save
from benchmarks.understanding.analysing import USUAL, Point


def draw_curve(curve: Sequence[Point], path: Path) -> None:
    """Both axes by powers, so that n log n is nearly a straight line; dots are rounds."""
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    counts, medians = [point.count for point in curve], [point.median * 1000 for point in curve]
    usual = next(point for point in curve if point.count == USUAL)
    scale = usual.median * 1000 / (USUAL * math.log(USUAL))
    expected = [scale * count * math.log(count) for count in counts]
    axes.plot(counts, expected, color="#9aa7b0", linestyle="--", linewidth=1.2, zorder=2,
              label=f"n log n through {USUAL:,}")  # fmt: skip
    axes.plot(counts, medians, color=COLOURS[OURS], linewidth=2, label="median of all analyses", zorder=3)
    for point in curve:
        axes.scatter([point.count] * len(point.totals), [total * 1000 for total in point.totals], **DOTS)
        text = f"{point.median * 1000:,.0f} ms"
        axes.annotate(text, (point.count, point.median * 1000), (-8, 8), textcoords="offset points", ha="right")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    axes.set_xlim(counts[0] * 0.6, counts[-1] * 1.3)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("transactions of the user")
    axes.set_ylabel("ms of processor time")
    axes.set_title("All analyses of one user", loc="left", fontweight="bold")
    axes.grid(color="#e3e8eb", zorder=0)
    axes.tick_params(length=0)
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    save(figure, path)
