"""A picture of one result."""

import statistics
from pathlib import Path

import matplotlib as mpl

from benchmarks.measure import ORDER, Result
from benchmarks.servers import CONVENTIONAL, LIMIT, OURS

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "kontor", "svg.fonttype": "path", "font.family": "DejaVu Sans", "font.size": 11})

from matplotlib import pyplot as plt  # noqa: E402

COLOURS = {OURS: "#1f6f8b", LIMIT: "#b8c4cc", CONVENTIONAL: "#d9a06b"}
LABELS = {
    OURS: "Kontor",
    LIMIT: "Limit\nbare ASGI, ready JSON",
    CONVENTIONAL: "Conventional\nFastAPI, SQLAlchemy",
}


def draw(result: Result, path: Path) -> None:
    """Bars are medians, dots are rounds."""
    shown = (LIMIT, OURS, CONVENTIONAL)
    assert set(shown) == set(ORDER)
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    most = max(max(result.rates(name)) for name in shown)
    for position, name in enumerate(reversed(shown)):
        rates = result.rates(name)
        median = statistics.median(rates)
        axes.barh(position, median, height=0.56, color=COLOURS[name], zorder=2)
        axes.scatter(
            rates, [position] * len(rates), s=20, color="white", edgecolors="#22303a", linewidths=0.9, zorder=3
        )
        axes.text(max(rates) + most * 0.02, position + 0.01, describe(result, name, median), va="center")
    axes.set_yticks(range(len(shown)), [LABELS[name] for name in reversed(shown)])
    axes.set_xlim(0, most * 1.55)
    axes.set_xlabel("requests per second, one process; bar: median, dots: rounds")
    axes.set_title(result.endpoint.title, loc="left", fontweight="bold")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(axis="x", color="#e3e8eb", zorder=0)
    axes.tick_params(length=0)
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=120)
    plt.close(figure)


def describe(result: Result, name: str, median: float) -> str:
    if name == OURS:
        return f"{median:,.0f}"
    ratio = statistics.median(result.ratios(name))
    return f"{median:,.0f}   Kontor is {ratio:.2f} × as fast"
