"""Organisations that exist once per city are named by their city, and never by another."""

import csv
import runpy
from pathlib import Path

import pytest
from tagging_rows import book, tag

from kontor.analysis.tagging import find_partner, list_partners
from kontor.analysis.tagging.organisations import read_table

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("Finanzamt Gera Finanzkasse", "FINANZAMT_GERA"),
        ("FINANZKASSE SOEST", "FINANZAMT_SOEST"),
        ("Amtsgericht Wetzlar", "AMTSGERICHT_WETZLAR"),
        ("LANDGERICHT LANDSHUT", "LANDGERICHT_LANDSHUT"),
        ("Gerichtskasse München", "GERICHTSKASSE_MUENCHEN"),
        ("Jobcenter Gera", "JOBCENTER_GERA"),
        ("Stadtsparkasse Remscheid", "STADTSPARKASSE_REMSCHEID"),
        ("VB KASSEL EG", "VOLKSBANK_KASSEL"),
        ("VHS Fulda & Umgebung e.V.", "VOLKSHOCHSCHULE_FULDA"),
        ("Amtsgericht Wetzlar - Gerichtszahlstelle", "AMTSGERICHT_WETZLAR"),
        ("HAUPTZOLLAMT KASSEL ZAHLSTELLE", "HAUPTZOLLAMT_KASSEL"),
        ("FINANZKASSE EUTIN", "FINANZAMT_EUTIN"),
        ("Amtsgericht Sankt Wendel", "AMTSGERICHT_SANKT_WENDEL"),
        ("Amtsgericht St. Wendel - Zahlstelle", "AMTSGERICHT_SANKT_WENDEL"),
        ("VHS Bad Vilbel e.V.", "VOLKSHOCHSCHULE_BAD_VILBEL"),
    ],
)
def test_an_organisation_is_named_by_its_city(name: str, partner: str):
    assert tag(book(-52, name, "Kassenzeichen 112233", "Überweisung")).partner == partner


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("Finanzamt Köln-Mitte", "FINANZAMT"),
        ("FA Gera", "FINANZAMT_GERA"),
        ("FA Bonn-Innenstadt", "FINANZAMT"),
        ("Fa. Wacholder Gera", "UNKNOWN"),
        ("Finanzamt Niederwiesenau", "FINANZAMT"),
        ("Volksbank Bochum Wiesenau eG", "VOLKSBANK"),
        ("Volksbank Niederwiesenau eG", "VOLKSBANK"),
        ("Volkshochschule Niederwiesenau", "VOLKSHOCHSCHULE"),
        ("Gerichtskasse Niederwiesenau", "GERICHTSKASSE"),
        ("Landgericht Niederwiesenau", "LANDGERICHT"),
        ("Stadtwerke Niederwiesenau GmbH", "UNKNOWN"),
        ("Universität Niederwiesenau", "UNKNOWN"),
    ],
)
def test_an_organisation_of_an_unknown_place_is_never_named_by_another(name: str, partner: str):
    assert tag(book(-52, name, "Kassenzeichen 112233", "Überweisung")).partner == partner


def test_a_cut_name_that_several_cities_begin_with_names_none():
    assert tag(book(-52, "Amtsgericht Rot- und Schwa", "Kassenzeichen 112233")).partner == "AMTSGERICHT"
    assert "SCHW" not in tag(book(-52, "Stadtwerke Zentralkasse Sch", "Abschlag Strom")).partner


def test_an_organisation_goes_by_the_name_of_its_kind():
    partner = find_partner("KREISSPARKASSE_HEILBRONN")
    assert partner is not None
    assert partner.own_names == ("Kreissparkasse Heilbronn", "KSK Heilbronn", "Kreissparkasse", "Sparkasse")
    assert (partner.city, partner.country) == ("Heilbronn", "DE")


def test_organisations_do_not_replace_partners_with_lines_of_their_own():
    names = [partner.system_name for partner in list_partners()]
    assert len(names) == len(set(names))
    munich = find_partner("STADTSPARKASSE_MUENCHEN")
    assert munich is not None
    assert not munich.kinds


def test_the_table_lists_each_city_once():
    kinds, cities, towns = read_table()
    names = [city.lstrip("*").partition(";")[0] for city in [*cities, *towns]]
    assert len(names) == len(set(names)) > 900
    assert not any(town.startswith("*") for town in towns)
    assert all("{city}" in kind and "kinds=" in kind for kind in kinds)


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("Volksbank Bochum Witten eG", "VOLKSBANK_BOCHUM_WITTEN"),
        ("Volksbank Lüneburger Heide eG", "VOLKSBANK_LUENEBURGER_HEIDE"),
        ("KSK SAARPFALZ HOMBURG", "KREISSPARKASSE_SAARPFALZ"),
        ("Volksbank Münsterland eG", "VOLKSBANK_IM_MUENSTERLAND"),
        ("Volksbank Münsterland Nord eG", "VOLKSBANK"),
    ],
)
def test_a_local_bank_of_the_catalogue_is_named_unless_a_direction_tells_another(name: str, partner: str):
    assert tag(book(-52, name, "Kontoabschluss", "Überweisung")).partner == partner


def test_the_file_of_local_banks_is_as_its_script_writes_it():
    script = runpy.run_path(str(ROOT / "scripts/build_local_banks.py"))
    with script["SOURCE"].open(encoding="utf-8") as source:
        written = script["write_file"](csv.DictReader(source, delimiter="\t"), script["list_taken"]())
    assert written == script["TARGET"].read_text(encoding="utf-8")


def test_former_banks_branches_and_numbers_of_machines_are_no_partners():
    rows = [
        {"name": "Volksbank Wiesenau -alt-", "group": "Volksbanken Raiffeisenbanken"},
        {"name": "Volksbank Wiesenau (Gf GAA)", "group": "Volksbanken Raiffeisenbanken"},
        {"name": "Volksbank", "group": "Volksbanken Raiffeisenbanken"},
        {"name": "Commerzbank Wiesenau", "group": "Commerzbank"},
        {"name": "Kreissparkasse Wiesenau", "group": "Sparkasse"},
        {"name": "Kreissparkasse Wiesenau", "group": "Sparkasse"},
    ]
    script = runpy.run_path(str(ROOT / "scripts/build_local_banks.py"))
    lines = script["write_file"](rows, set()).splitlines()[1:]
    kinds = "kinds=Sparkasse; group=Sparkassen-Finanzgruppe"
    assert lines == [f"Kreissparkasse Wiesenau | KSK Wiesenau | BANKFINANCE_OTHER | {kinds}"]
