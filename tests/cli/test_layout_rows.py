"""Labelled rows that are written in other layouts."""

import json
import runpy
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from kontor.analysis.scoring.tag_scores import Gold, Labelled
from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.analysis.tagging.layout_files import read_layout_files
from kontor.analysis.tagging.layouts import load_layouts
from kontor.cli.layout_rows import list_renderable, render, render_layouts
from kontor.domain.transactions import Transaction

ROOT = Path(__file__).parents[2]
PURCHASE = Transaction(
    Decimal("-12.30"),
    "EUR",
    datetime(2026, 2, 3, tzinfo=UTC),
    purpose="SVWZ+Einkauf Februar",
    booking_text="Kartenzahlung",
    counterparty_name="REWE Markt Kunze",
)
GOLD = Gold(("LIVING_GROCERIES",), partner=("REWE",))
TEMPLATES = {key: file for key, file in read_layout_files().items() if file.template is not None}


@pytest.mark.parametrize("key", TEMPLATES)
def test_a_row_that_is_written_in_a_layout_is_recognised_and_keeps_its_partner(key: str):
    template = TEMPLATES[key].template
    assert template is not None
    row = render(PURCHASE, template, "a")
    found = load_layouts().read(row.counterparty_name or "", row.purpose or "", row.booking_text or "", row.amount)
    assert (found.layout if found is not None else "") == (key if TEMPLATES[key].pattern else "")
    assert load_tagger().decide(row, NOBODY).partner == "REWE"


def test_the_same_row_is_always_written_alike():
    template = TEMPLATES["atruvia_card"].template
    assert template is not None
    assert render(PURCHASE, template, "a") == render(PURCHASE, template, "a") != render(PURCHASE, template, "b")


def test_a_row_is_written_only_in_layouts_of_its_channel_and_keeps_its_labels():
    layouts = {key: (chosen, written) for key, _, chosen, written in render_layouts([Labelled("a", PURCHASE, GOLD)])}
    assert [len(rows) for rows in layouts["girocard"]] == [1, 1]
    assert layouts["girocard"][1][0].gold == GOLD
    assert layouts["tags_35"] == ([], [])


def test_rows_without_a_name_of_their_own_are_not_written_anew():
    unnamed = replace(PURCHASE, counterparty_name=None)
    collected = replace(PURCHASE, counterparty_name="PayPal Europe", purpose="PP.1.PP . Rewe, Ihr Einkauf bei Rewe")
    assert list(list_renderable([Labelled("a", unnamed, GOLD), Labelled("b", collected, GOLD)])) == []


def test_the_page_of_layouts_has_figures_with_intervals_and_no_row():
    script = runpy.run_path(str(ROOT / "scripts/publish_layouts.py"))
    row = Labelled("a", PURCHASE, GOLD)
    page = script["write_page"]([row], {"girocard": [row], "plain": [row]}, load_tagger())
    assert "| 1 | 1.000 (0.207–1.000) |" in page
    assert "| `girocard` | 1 | 1.000" in page
    assert "| all | 2 | 1.000" in page
    assert "Kunze" not in page


def test_rows_of_a_labelled_file_are_grouped_by_the_layout_that_they_name(tmp_path):
    row = {"betrag": -9.5, "buchungsdatum": "2026-02-03 00:00:00", "gold": {"category": ["LIVING_GROCERIES"]}}
    lines = [json.dumps(row | {"id": str(place), "layout": layout}) for place, layout in enumerate("bab")]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    groups = runpy.run_path(str(ROOT / "scripts/publish_layouts.py"))["group_by_layout"](tmp_path / "rows.jsonl")
    assert {layout: [labelled.id for labelled in group] for layout, group in groups.items()} == {
        "a": ["1"],
        "b": ["0", "2"],
    }
