"""Where the name ends in a bank's text: places, codes of collectors, lost blanks, agents and lines' ends."""

import pytest
from tagging_rows import book, tag

from kontor.analysis.tagging.card_texts import cut_place
from kontor.analysis.tagging.columns import join_lines
from kontor.analysis.tagging.intermediaries import find_merchants
from kontor.analysis.tagging.lexicons import load_rules
from kontor.analysis.tagging.prepared_knowledge import load_knowledge
from kontor.analysis.tagging.readings import Reader, Reading


def read(name: str, purpose: str, booking_text: str = "Kartenzahlung") -> Reading:
    return Reader(load_rules(), load_knowledge().names).read(book(-12.5, name, purpose, booking_text))


@pytest.mark.parametrize(
    ("shop", "place", "rest"),
    [
        ("GASTHOF HIRSCH FULDA", "FULDA", "GASTHOF HIRSCH"),
        ("HIT SANKT AUGUSTIN", "SANKT AUGUSTI", "HIT"),
        ("FULDA STADT PARKSCHEIN", "FULDA", "FULDA STADT PARKSCHEIN"),
        ("UFER FULDA TICKET", "FULDA", "UFER FULDA TICKET"),
        ("HAUS SOESTER", "SOEST", "HAUS SOESTER"),
        ("BUERGERBUERO STADT SOEST", "SOEST", "BUERGERBUERO STADT SOEST"),
    ],
)
def test_only_a_place_at_the_end_of_a_shop_is_cut(shop: str, place: str, rest: str):
    assert cut_place(shop, place) == rest


def test_an_unknown_code_before_a_star_is_a_collector():
    reading = read("", "QXZ*ATELIER WACHOLDER//SOEST/DE 2026-02-03T16:12:44 KFN 1 VJ 2912")
    assert (reading.name, reading.has_collector) == ("atelier wacholder", True)


def test_a_star_within_a_brand_is_no_collector():
    assert tag(book(-4.25, "LIM*RIDE COST", "", "Kartenzahlung")).partner == "LIME"


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("KAUFLANDSOEST", "KAUFLAND"),
        ("EDEKAWACHOLDERSAGTDANKE", "EDEKA"),
        ("ESSOSTATIONWACHOLDER", "ESSO"),
        ("RYANAIR112233ABCDEF", "RYANAIR"),
    ],
)
def test_a_brand_that_has_lost_its_blank_is_found_in_a_card_text(name: str, partner: str):
    assert tag(book(-23, "", f"{name}//SOEST/DE 2026-02-03T16:12:44 KFN 1 VJ 2912", "Kartenzahlung")).partner == partner


def test_a_word_that_only_begins_like_a_brand_names_no_partner():
    found = tag(book(-23, "", "EDEKANTIGES//SOEST/DE 2026-02-03T16:12:44 KFN 1 VJ 2912", "Kartenzahlung"))
    assert found.partner == "UNKNOWN"


@pytest.mark.parametrize(
    "name",
    ["WACHOLDER MAKLER GMBH INKASSO F. GOTHAER ALLGEMEINE", "WACHOLDER DIENSTE AG I.A. GOTHAER ALLGEMEINE AG"],
)
def test_who_is_collected_for_is_the_partner(name: str):
    reading = read(name, "Beitrag 112233", "Lastschrift")
    assert reading.name.startswith("gothaer allgemeine")
    assert reading.ultimate.startswith("wacholder")
    assert tag(book(-31, name, "Beitrag Hausrat 112233", "Lastschrift")).partner == "GOTHAER"


@pytest.mark.parametrize(
    ("purpose", "merchants"),
    [
        ("1012345678901/. Wacholder Trade, IBAN: DE89370400440532013000", ["Wacholder Trade"]),
        ("PP.1234.PP . Wacholder, Ihr Einkau f bei Wacholder 10462300188 27 PP.1234.PP", ["Wacholder", "Wacholder"]),
        ("PP.1234.PP . Bezahlung nach 30 Tagen, Ihre Zahlung an PayPal 1045820039911", []),
    ],
)
def test_merchants_behind_paypal_are_read_without_references_and_lines_ends(purpose: str, merchants: list[str]):
    assert find_merchants(purpose)[0] == merchants


def test_a_merchant_that_paypals_star_has_cut_is_completed():
    purpose = "PAYPAL *TICKETMASTE//35314369001/DE 2026-02-03T17:47:31 Folgenr. 02 Verfalld. 1229"
    assert tag(book(-88, "", purpose, "Kartenzahlung")).partner == "TICKETMASTER"


def test_a_number_at_a_lines_end_does_not_swallow_the_next_word():
    text = "Abschlag fuer 1122334455667 Erdgas und Wasser"
    assert text[27] == " "
    assert "1122334455667 Erdgas" in join_lines(text)[0]
    assert "11223344556677788" in join_lines("Abschlag fuer 1122334455667 7788 und Wasser")[0]
