"""Writes docs/evaluation/layouts.md: how good the tags are where the same rows are written in other layouts.

    python scripts/publish_layouts.py

The rows are the judging ones of `evaluation/transactions` and the published ones. None of them is shown.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from kontor.analysis.scoring.tag_scores import Labelled, Share, TagScores, score_tags
from kontor.analysis.tagging import Tagger, load_tagger
from kontor.cli.data_sets import load_manifest
from kontor.cli.layout_rows import render_layouts
from kontor.cli.tag_evaluation import judge, read_files

ROOT = Path(__file__).parents[1]
LABELLED = ROOT / "evaluation/transactions"
TARGET = ROOT / "docs/evaluation/layouts.md"
# Its rows name their layout.
BY_LAYOUT = "held_out_2026_11_d.jsonl"
HEADINGS = ("layout", "rows", "main category", "category", "partner", "wrong partner", "calibration error")
INTRODUCTION = """# How good the tags are in each layout

Written by `./dev evaluate`; do not edit. Tagger {version}.

Banks write the same purchase in many ways. Here the rows of `published.jsonl` and of the held-out files that name a
counterparty are written in each layout of `src/kontor/analysis/data/layouts/`, by the template of its file, and judged
by their labels. The rows are made up; figures on real rows are in [real-rows.md](real-rows.md). The layouts and their
templates have the same authors, so that these figures show what the reader does with layouts that it knows.

The first table is about the rows in each layout, with intervals of 95 %. The second is about the same rows as their
files have them: the difference is what a layout costs. The third is about the rows of `held_out_2026_11_d.jsonl`, which
four authors wrote in these layouts without sight of the tagger; `plain` rows are in none of them.
"""


def show_share(share: Share) -> str:
    low, high = share.interval
    return f"{share.value:.3f} ({low:.3f}–{high:.3f})" if share.count else "–"


def list_figures(title: str, scores: TagScores) -> tuple[str, ...]:
    shares = (scores.main, scores.category, scores.partner, scores.wrong_partner)
    return (title, f"{scores.rows:,}", *map(show_share, shares), f"{scores.calibration_error:.3f}")


def write_table(rows: list[tuple[str, ...]]) -> str:
    lines = [HEADINGS, ("---", *["---:"] * (len(HEADINGS) - 1)), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def group_by_layout(file: Path) -> dict[str, list[Labelled]]:
    """The rows of a labelled file by the layout that each of them names."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    groups: dict[str, list[Labelled]] = {}
    for line, row in zip(lines, read_files([file]), strict=True):
        groups.setdefault(json.loads(line)["layout"], []).append(row)
    return dict(sorted(groups.items()))


def write_page(rows: Sequence[Labelled], groups: Mapping[str, Sequence[Labelled]], tagger: Tagger) -> str:
    """`groups` are rows that authors wrote in a layout, by that layout."""
    rendered, plain = [], []
    for key, title, chosen, written in render_layouts(rows):
        if chosen:
            rendered.append(list_figures(f"{title} (`{key}`)", score_tags(judge(written, tagger))))
            plain.append(list_figures(f"rows of `{key}`", score_tags(judge(chosen, tagger))))
    groups = {**{f"`{layout}`": group for layout, group in groups.items()}, "all": list(chain(*groups.values()))}
    by_authors = [list_figures(title, score_tags(judge(group, tagger))) for title, group in groups.items()]
    sections = {"In each layout": rendered, "As written": plain, "Written in a layout by other authors": by_authors}
    tables = [f"\n## {title}\n\n{write_table(figures)}" for title, figures in sections.items()]
    return INTRODUCTION.format(version=tagger.version) + "".join(tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, default=TARGET, help="the page to write")
    options = parser.parse_args()
    judges = [LABELLED / data_set.path for data_set in load_manifest(LABELLED).list_sets("evaluation")]
    rows = read_files([LABELLED / "published.jsonl", *judges])
    page = write_page(rows, group_by_layout(LABELLED / BY_LAYOUT), load_tagger())
    options.target.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
