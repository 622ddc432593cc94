"""Names that nobody wrote down, and names that mean something else than they seem to."""

import pytest
from tagging_rows import book, tag

from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.lexicons import load_rules
from kontor.analysis.tagging.persons import PersonClassifier
from kontor.analysis.tagging.stems import Stems
from kontor.analysis.trees import find_tree, list_items


@pytest.mark.parametrize(
    ("booking", "category"),
    [
        (book(-28, "WEINLAGER NORD", None, "Kartenzahlung"), "LIVING_GROCERIES"),
        (book(-21, "Kletterscheune Ost", None, "Kartenzahlung"), "RECREATION_SPORTS"),
        (book(-9, "PARKPLATZ STAATSTHEATER//Kassel/DE", None, "Kartenzahlung"), "MOBILITY_PARKING"),
    ],
)
def test_a_compound_is_read_by_its_parts_and_a_name_by_its_first_trade(booking, category):
    assert tag(booking).category == category


def test_a_known_ending_comes_before_a_known_beginning_and_longer_parts_before_shorter():
    stems = Stems({"wein*": "A", "*schule": "B", "*musikschule": "C", "*turn*": "D"})
    assert [stems.find(name) for name in ("weinschule nord", "musikschule", "kinderturnen", "egal 4711")] == [
        "B", "C", "D", "",
    ]  # fmt: skip


def test_stems_and_insured_words_name_what_the_trees_know():
    rules = load_rules()
    for name, used in (("CATEGORIES", rules.stems), ("INSURANCE_TYPES", rules.insured)):
        tree = find_tree(name)
        assert tree is not None
        assert set(used.values()) <= {item.system_name for item in list_items(tree)}


@pytest.mark.parametrize(
    ("purpose", "insurance_type"),
    [("AS-0112334/221 KFZ", "VEHICLE_OTHER"), ("Vertrag 4 Gebaeude", "HOME_BUILDING"), ("BU 4711", "INCAPACITY_OCC")],
)
def test_one_word_tells_what_an_insurer_insures(purpose, insurance_type):
    assert tag(book(-54, "Allianz Versicherungs-AG", purpose, "Lastschrift")).insurance_type.startswith(insurance_type)


def test_the_same_word_elsewhere_is_no_insurance():
    assert tag(book(-54, "Werkstatt Moll", "Kfz Inspektion", "Lastschrift")).insurance_type == "UNRELATED_OTHER"


@pytest.mark.parametrize(
    ("booking", "partner"),
    [
        (book(-40, "SATURN KOELN HANSARING", None, "Basislastschrift"), "SATURN"),
        (book(-65, "JUWELIER CHRIST", None, "Kartenzahlung"), "CHRIST"),
        (book(-18, "ZOO BERLIN//BERLIN/DE", None, "KARTENZAHLUNG"), "ZOO_BERLIN"),
        (book(563, "Jobcenter Essen", "Regelbedarf BG 34102//0012", "Eingang"), "JOBCENTER_ESSEN"),
        (book(-25, "SQ *Keramik Atelier Lotte", None, "Kartenzahlung"), "UNKNOWN"),
        (book(-990, None, "Kauf 30 St Allianz SE vink. NA", "WERTPAPIERKAUF"), "UNKNOWN"),
        (book(-23, "Stadthalle Gersthofen", None, "Kartenzahlung"), "UNKNOWN"),
        (book(-9, None, "GOOGLE *DUOLINGO SUPER G.CO/HELPPAY#", "Kartenzahlung"), "DUOLINGO"),
        (book(-9, None, "GOOGLE *Brawl Stars g.co/helppay#", "Kartenzahlung"), "GOOGLE_PLAY"),
        (book(-8, None, "HAIRLOUNGE STEFFI 16.11 11.10 SumUp NFC", "Kartenzahlung girocard"), "UNKNOWN"),
        (book(-13, "MUSEU.PICASSO/BARCELONA", "VISA Debitkartenumsatz vom 19.05.2024"), "UNKNOWN"),
        (book(41, "Mangopay S.A.", "Vinted Auszahlung Guthaben", "Gutschrift"), "VINTED"),
    ],
)
def test_a_brand_is_named_where_it_is_one(booking, partner):
    assert tag(booking).partner == partner


def test_who_is_called_by_kinship_alone_is_family():
    assert tag(book(-50, "Mama", "Einkauf", "Überweisung")).category == "FAMILY_SUPPORT"


def test_nothing_moved_is_a_transfer():
    assert tag(book(0, None, "Kontoabschluss Saldo 0,00", "Abschluss")).category == "TRANSFER_OTHER"


def test_a_name_that_is_whole_is_not_gone_on_with():
    """`Stadtwerke Neumünster`, as long as old systems allow, is not their fibre network."""
    found = tag(book(-94, "SWN STADTWERKE NEUMUENSTER", "Abschlag Strom 03/2025"))
    assert found.category == "BILLS_ELECTRICITY"


def test_a_merchants_name_torn_by_a_lines_end_is_mended():
    purpose = "1039448271884/. Spoti fy AB, Ihr Einkauf bei Spot ify AB"
    assert tag(book(-9.99, "PayPal Europe S.a.r.l. et C", purpose)).partner == "SPOTIFY"


@pytest.mark.parametrize(
    ("booking", "partner"),
    [
        (book(-34.97, "Klarna Bank AB (publ)", "Klarna H&M 88471204 Rechnung"), "H_UND_M"),
        (book(-88, "Klarna Bank AB", "Max Mustermann 88471204", "Überweisung"), "KLARNA"),
        (book(20, "Klarna Bank AB", "Erstattung 8844", "Gutschrift"), "KLARNA"),
        (book(90, "SumUp Limited", "SumUp Umsatz 03/2026", "Gutschrift"), "SUMUP"),
    ],
)
def test_of_a_collectors_bare_words_only_brands_are_merchants(booking, partner):
    assert tag(booking).partner == partner


def test_what_stands_before_the_kind_of_a_booking_is_read_where_the_counterparty_is_named():
    assert tag(book(-900, "Hausverwaltung Meier", "Miete Mai SEPA-Überweisung EREF+ 123")).category == "HOUSING_RENT"


def test_a_word_torn_in_a_short_text_behind_tags_is_mended():
    purpose = "EREF+99887766554433MREF+4711CRED+DE98ZZZ00000123456 SVWZ+Haftpflichtversicheru ng"
    assert tag(book(-30, "Muster GmbH", purpose)).category == "INSURANCE_LIABILITY"


@pytest.mark.parametrize(
    ("booking", "category"),
    [
        (book(-12.95, "Landdrogerie Apothekergasse 3", "", "EC-Zahlung"), "LIVING_DRUGSTORE"),
        (book(-890, "Evang. Kirchengemeinde Nordheim", "Miete Kindergartenweg 4 DG links"), "HOUSING_RENT"),
        (book(-58.9, "Gartencenter Kolb Apotheker Str. 5", "", "EC-Zahlung"), "RECREATION_GARDEN"),
    ],
)
def test_a_word_in_a_streets_name_tells_no_trade(booking, category):
    assert tag(booking).category == category


def test_a_word_before_a_street_that_is_an_address_keeps_its_meaning():
    assert tag(book(-640, "Peter Kolb", "Miete Straße des Friedens 12")).category == "HOUSING_RENT"


def test_owners_of_a_house_are_no_street():
    assert tag(book(-342, "WEG Am Stadtpark 3", "Hausgeld WEG Am Stadtpark WE 22")).category == "HOUSING_ANCILLARYCOSTS"


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("SCHUHHAUS APOTHEKER//WITTLICH/DE", "SHOPPING_CLOTHINGACCESSORIES"),
        ("KAUFHAUS SCHUHMACHER//WERTHEIM/DE", "SHOPPING_OTHER"),
        ("FLEISCHER HUBER//WERTHEIM/DE", "LIVING_GROCERIES"),
    ],
)
def test_a_trade_behind_another_word_of_a_name_is_a_surname(name, category):
    assert tag(book(-88, name, "2025-04-05T11:20 Debitk.0 2028-12", "KARTENZAHLUNG")).category == category


def test_a_trade_that_begins_a_purpose_is_no_surname():
    _, evidence = load_tagger().explain(book(-78, None, "Schornsteinfeger Kehrgebühr 2026", "Überweisung"), NOBODY)
    assert max(reason.weight for reason in evidence if reason.text == "schornsteinfeger") > 5


PERSONS = PersonClassifier(load_rules(), frozenset({"n ergie"}))


@pytest.mark.parametrize(
    "name",
    [
        "Anna Weber",
        "Weber Anna",
        "Weber Anna Maria",
        "Dr. rer. nat. Anna Weber",
        "Herrn Max Weber",
        "Cousine Anna Weber",
        "Frau Liebig",
    ],
)
def test_a_person_is_told_by_where_the_given_name_stands(name):
    assert PERSONS.is_person(fold(name).split())


@pytest.mark.parametrize("name", ["M. Kassner", "H. Pohl"])
def test_an_initial_and_a_surname_are_a_person(name):
    assert PERSONS.is_person(fold(name).split())


@pytest.mark.parametrize(
    "name",
    ["Hufpflege Ina Barhuf", "Patchwork-Scheune Ilse Behn", "Saxophonunterricht Bernd Holler", "E-Bikes", "N-ERGIE"],
)
def test_what_stands_before_a_persons_name_makes_it_a_business(name):
    assert not PERSONS.is_person(fold(name).split())
