"""Layouts of bank texts: each example of each file is read as the file says."""

from decimal import Decimal
from functools import cache

import pytest
from tagging_rows import book

from kontor.analysis.tagging.intermediaries import mend_twice
from kontor.analysis.tagging.layout_files import Example, LayoutFile, read_layout_files
from kontor.analysis.tagging.layouts import load_layouts
from kontor.analysis.tagging.lexicons import load_rules
from kontor.analysis.tagging.prepared_knowledge import load_knowledge
from kontor.analysis.tagging.readings import Reader
from kontor.domain.transactions import Transaction

FILES = read_layout_files()
EXAMPLES = [(key, file, example) for key, file in FILES.items() for example in file.examples]
CHANNELS = {"", "card", "debit", "transfer", "credit", "salary"}


@cache
def make_reader() -> Reader:
    return Reader(load_rules(), load_knowledge().names)


def make_row(example: Example) -> Transaction:
    return book(example.amount, example.name or None, example.purpose, example.booking_text or None)


@pytest.mark.parametrize(
    ("key", "file", "example"), EXAMPLES, ids=[f"{key}: {example.reads}" for key, _, example in EXAMPLES]
)
def test_each_example_is_read_as_its_layout_says(key: str, file: LayoutFile, example: Example):
    reading = make_reader().read(make_row(example))
    assert reading.name == example.reads
    assert reading.channel == example.channel
    assert example.keeps in reading.purpose


@pytest.mark.parametrize(("key", "file", "example"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_each_example_is_recognised_as_its_own_layout(key: str, file: LayoutFile, example: Example):
    found = load_layouts().read(example.name, example.purpose, example.booking_text, Decimal(example.amount))
    assert (found.layout if found is not None else "") == (key if file.pattern else "")


def test_layouts_name_known_channels_and_have_examples():
    for key, file in FILES.items():
        assert file.examples, key
        assert {file.channel, *(example.channel for example in file.examples)} <= CHANNELS, key
        assert bool(file.signs) == bool(file.pattern), key


@pytest.mark.parametrize("amount", ["100.00", "-100.01", "-98.00"])
def test_only_amounts_of_whole_notes_are_cash_by_bank_and_place(amount: str):
    assert load_layouts().read("", "VB KASSEL GOETTINGEN EG, KS-MITTE", "", Decimal(amount)) is None


def test_a_place_that_is_part_of_a_brand_stays_with_it():
    row = book(-19, None, "Zoo Leipzig/Leipzig/DE 03.02.2026 um 09:14:55 Uhr 1/2/CICC/FPIN 3/4/5/6", "Basislastschrift")
    assert make_reader().read(row).name == "zoo leipzig"


@pytest.mark.parametrize(
    ("purpose", "left"),
    [
        ("Spende AWV-MELDEPFLICHT BEACHTEN HOTLINE BUNDESBANK: (0800) 1234-111", "Spende"),
        ("Sparplan AufstockungDATUM 03.02.2026, 18.12 UHR1.TAN 123456", "Sparplan Aufstockung"),
        ("Monatsabo Mand-ID M-1 RCUR Wiederholungslastschrift", "Monatsabo"),
        ("Abendkurs TANGO 2.TAN", "Abendkurs TANGO 2.TAN"),
    ],
)
def test_what_banks_add_to_a_purpose_is_taken_out(purpose: str, left: str):
    assert load_layouts().cut_noise(purpose) == left


def test_a_layout_is_not_read_from_rows_of_another_kind():
    layouts = load_layouts()
    assert layouts.read("Stadtcafe", "Danke GmbH & Co. KG 17 Rechnung", "Lastschrift", Decimal(-5)) is None
    assert layouts.read("", "Rechnung 1122 Danke GmbH 17", "Lastschrift", Decimal(-5)) is None


def test_who_thanks_is_the_brand_whoever_collects():
    row = book(-15, "Telefonica Germany GmbH", "Aufladung Prepaid 4711 FONIC SAGT DANKE", "Lastschrift")
    assert make_reader().read(row).name == "fonic"


def test_a_word_that_is_no_brand_thanks_for_nobody():
    row = book(-15, "Telefonica Germany GmbH", "Aufladung Prepaid 4711 MANNSCHAFT SAGT DANKE", "Lastschrift")
    assert make_reader().read(row).name == "telefonica germany gmbh"


def test_blanks_that_a_statement_lost_are_read_too():
    row = book("-11.88", None, "RechnungCOMMERZBANK AGEntgelt 20260203", "sonstige Entgelte")
    assert "rechnung commerzbank ag entgelt" in make_reader().read(row).purpose


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ("GARTEN HAUS Lind ner", "GART EN HAUS Lindner", "GARTEN HAUS Lindner"),
        ("garten-markt-e u", "garten-markt-eu", "garten-markt-eu"),
        ("Garten Haus", "Haus Garten", "Garten Haus"),
        ("Garten Haus", "Garten Haus", "Garten Haus"),
    ],
)
def test_a_merchant_that_is_written_twice_is_mended(first: str, second: str, whole: str):
    assert mend_twice(first, second) == whole
