"""Organisations that exist once per city are named by their city, and never by another."""

import pytest
from tagging_rows import book, tag

from kontor.analysis.tagging import find_partner, list_partners
from kontor.analysis.tagging.organisations import read_table


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
    ],
)
def test_an_organisation_is_named_by_its_city(name: str, partner: str):
    assert tag(book(-52, name, "Kassenzeichen 112233", "Überweisung")).partner == partner


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("Finanzamt Köln-Mitte", "FINANZAMT"),
        ("Finanzamt Niederwiesenau", "FINANZAMT"),
        ("Volksbank Bochum Witten eG", "VOLKSBANK"),
        ("Volksbank Lüneburger Heide eG", "VOLKSBANK"),
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
    assert partner.names == ("Kreissparkasse Heilbronn", "KSK Heilbronn", "Kreissparkasse", "Sparkasse")
    assert (partner.city, partner.country) == ("Heilbronn", "DE")


def test_organisations_do_not_replace_partners_with_lines_of_their_own():
    names = [partner.system_name for partner in list_partners()]
    assert len(names) == len(set(names))
    munich = find_partner("STADTSPARKASSE_MUENCHEN")
    assert munich is not None
    assert not munich.kinds


def test_the_table_lists_each_city_once():
    kinds, cities = read_table()
    names = [city.lstrip("*").partition(";")[0] for city in cities]
    assert len(names) == len(set(names)) > 300
    assert all("{city}" in kind and "kinds=" in kind for kind in kinds)
