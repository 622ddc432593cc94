"""Pictures of the results."""

import statistics
from pathlib import Path

import matplotlib as mpl

from benchmarks.fetching import Fetches
from benchmarks.measure import ORDER, Result
from benchmarks.servers import CONVENTIONAL, LIMIT, OURS

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "kontor", "svg.fonttype": "path", "font.family": "DejaVu Sans", "font.size": 11})

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

COLOURS = {OURS: "#1f6f8b", LIMIT: "#b8c4cc", CONVENTIONAL: "#d9a06b"}
DOTS = {"s": 20, "color": "white", "edgecolors": "#22303a", "linewidths": 0.9, "zorder": 5}
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
        axes.scatter(rates, [position] * len(rates), **DOTS)
        axes.text(max(rates) + most * 0.02, position + 0.01, describe(result, name, median), va="center")
    axes.set_yticks(range(len(shown)), [LABELS[name] for name in reversed(shown)])
    axes.set_xlim(0, most * 1.55)
    axes.set_xlabel("requests per second, one process; bar: median, dots: rounds")
    axes.set_title(result.endpoint.title, loc="left", fontweight="bold")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(axis="x", color="#e3e8eb", zorder=0)
    axes.tick_params(length=0)
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    save(figure, path)


def draw_fetches(fetches: Fetches, path: Path) -> None:
    """The line runs through the medians, dots are fetches; the dashed line is what linear growth would look like."""
    figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
    counts, medians = [fetch.count for fetch in fetches.curve], [fetch.median for fetch in fetches.curve]
    last = counts[-1]
    axes.plot([0, last], [0, medians[-1]], color="#9aa7b0", linestyle="--", linewidth=1.2, label="linear", zorder=2)
    axes.plot(counts, medians, color=COLOURS[OURS], linewidth=2, label="median", zorder=3)
    for fetch in fetches.curve:
        axes.scatter([fetch.count] * len(fetch.seconds), fetch.seconds, **DOTS)
        axes.annotate(
            f"{fetch.median:.2f} s", (fetch.count, fetch.median), (-8, 9), textcoords="offset points", ha="right"
        )
    persona = fetches.persona
    axes.scatter([persona.count], [persona.median], s=46, marker="D", color=COLOURS[CONVENTIONAL], zorder=4,
                 label=f"{persona.login}: {persona.count:,} in {persona.median:.2f} s")  # fmt: skip
    axes.set_xlim(0, last * 1.05)
    axes.set_ylim(0, max(max(fetch.seconds) for fetch in fetches.curve) * 1.18)
    axes.set_xlabel("transactions of the access")
    axes.set_ylabel("seconds")
    axes.set_title("First fetch: from POST to VOLLSTAENDIG", loc="left", fontweight="bold")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(color="#e3e8eb", zorder=0)
    axes.tick_params(length=0)
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=120)
    plt.close(figure)


def describe(result: Result, name: str, median: float) -> str:
    if name == OURS:
        return f"{median:,.0f}"
    ratio = statistics.median(result.ratios(name))
    return f"{median:,.0f}   Kontor is {ratio:.2f} × as fast"
