"""No partner is better than a wrong one: districts, other people's quarrels and insurers of things."""

import pytest
from tagging_rows import book, tag

from kontor.analysis.tagging import find_partner


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("Musikschule Kreis Pinneberg e.V.", "UNKNOWN"),
        ("Kommunaler Abfallservice Landkreis Gotha", "UNKNOWN"),
        ("Kreiskasse Landkreis Gotha", "LANDKREIS_GOTHA"),
        ("Landkreis Gotha Abfallservice", "LANDKREIS_GOTHA"),
    ],
)
def test_a_district_is_no_partner_where_it_tells_whose_school_or_service_it_is(name: str, partner: str):
    assert tag(book(-52, name, "Rechnung 112233", "Überweisung")).partner == partner


def test_a_transfer_to_a_lawyer_names_nobody_of_the_quarrel():
    found = tag(book(-219, "Kanzlei Wacholder & Partner Rechtsanwälte", "Az 17/26 Lerch ./. Telekom", "Überweisung"))
    assert (found.category, found.partner) == ("SERVICES_OFFLINE", "UNKNOWN")


def test_a_brand_in_the_purpose_that_fits_the_category_stays_the_partner():
    assert tag(book(-39, "Wacholder Service GmbH", "Telekom Mobilfunk Rechnung", "Überweisung")).partner == "TELEKOM"


def test_what_is_paid_to_an_insurer_of_bicycles_is_no_purchase():
    found = tag(book(-11, "assona GmbH", "Jobrad-Schutz Pedelec Vertrag 112233", "Lastschrift"))
    assert (found.category, found.insurance_type) == ("INSURANCE_SPECIAL", "SPECIAL_BIKE")


def test_a_brokers_collective_premium_is_insurance_and_no_debt_collection():
    found = tag(book(-118, "Wacholder Inkassostelle", "Sammelinkasso Vertraege lt. Aufstellung", "Lastschrift"))
    assert found.category == "INSURANCE_OTHER"


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("Autohaus Wacholder GmbH", "Kaufpreis Skoda Fabia Kombi Fz 112233"),
        ("Modellbahn Wacholder", "Märklin C-Gleis Weiche"),
        ("Handyklinik Wacholder", "Displaytausch Samsung A52"),
        ("Schulverpflegung Wacholder GmbH", "Aufladung Kundennr. 4711 mensamax"),
        ("Wacholder Kredit AG", "Finanzierung MediaMarkt Rate 3 von 12"),
    ],
)
def test_what_was_bought_or_financed_is_not_who_was_paid(name: str, purpose: str):
    for text in ("Lastschrift", "Überweisung"):
        assert tag(book(-52, name, purpose, text)).partner == "UNKNOWN"


def test_a_brand_of_the_publisher_that_is_named_stays_the_partner():
    found = tag(book(-44, "Landlustverlag Wacholder", "Jahresabo 2026 Landlust Kd 112233", "Lastschrift"))
    assert found.partner == "LANDLUST"


def test_a_phrase_of_a_purpose_is_no_newspaper():
    purpose = "Kfz-Steuer fuer W AB 123 fuer die Zeit vom 01.03.26 bis 28.02.27"
    assert tag(book(-112, "Kasse Wacholderau", purpose, "Lastschrift")).partner == "UNKNOWN"


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("Klarna Bank AB (publ)", "Klarna 112233 Naturkosmetik Wacholder"),
        ("secupay AG", "secupay AG 112233 Tennishalle Platzbuchung 15.05."),
        ("Riverty GmbH", "Rechnung 112233 Wacholderhain Versand"),
    ],
)
def test_a_payment_service_is_not_named_where_the_booking_tells_a_shop(name: str, purpose: str):
    assert tag(book(-39, name, purpose, "Lastschrift")).partner == "UNKNOWN"


@pytest.mark.parametrize(
    ("name", "purpose", "amount", "partner"),
    [
        ("Klarna Bank AB (publ)", "Ratenkauf 112233 Rate 2 von 6", -39, "KLARNA"),
        ("Klarna Bank AB (publ)", "Monatsabrechnung Maerz 112233", -39, "KLARNA"),
        ("Stripe Technology Europe Ltd", "STRIPE PAYOUT X7K2 Auszahlung", 210, "STRIPE"),
    ],
)
def test_a_payment_service_is_named_for_its_own_business(name: str, purpose: str, amount: int, partner: str):
    assert tag(book(amount, name, purpose)).partner == partner


@pytest.mark.parametrize(
    "name",
    [
        "TEESTUBE IM EDEKA//WACHOLDERAU/DE",
        "Baeckerei Wacholder im Kaufland",
        "Licht fuer die Welt Wacholderau",
        "Wacholdermobil - eine Marke der Telekom Deutschland GmbH",
        "Gemeindewerke Stadt Schwäbisch Hall Kasse",
    ],
)
def test_where_somebody_is_or_whose_brand_it_is_is_no_partner(name: str):
    found = tag(book(-12, name, "Beleg 112233", "Kartenzahlung" if "//" in name else "Lastschrift"))
    assert found.partner in ("UNKNOWN", "STADT_SCHWAEBISCH_HALL")


def test_a_surname_at_a_cut_names_end_is_no_bath_that_begins_so():
    # 26 letters: names of that length may have lost their end.
    assert tag(book(-900, "BESTATTUNGSHAUS FRIEDRICHS", "Rechnung 26-004", "Überweisung")).partner == "UNKNOWN"


def test_a_name_that_tells_a_partner_plainly_outweighs_another_houses_creditor_id():
    # The creditor id is the Telekom's; a house may collect for others.
    purpose = "EREF+112233 MREF+W1 CRED+DE93ZZZ00000078611 SVWZ+Rechnung 03/26"
    assert tag(book(-29, "Vodafone GmbH", purpose, "Lastschrift")).partner == "VODAFONE"
    assert tag(book(-29, "Wacholder Abrechnung", purpose, "Lastschrift")).partner == "TELEKOM"


@pytest.mark.parametrize(("brand", "house"), [("UBER_EATS", "Uber"), ("EXPERT_BENING", "expert"), ("BMW_BANK", "BMW")])
def test_a_line_of_a_house_goes_by_the_name_of_the_house(brand: str, house: str):
    partner = find_partner(brand)
    assert partner is not None
    assert house in partner.names


@pytest.mark.parametrize(
    ("name", "purpose", "partner"),
    [
        ("1&1 Mail & Media GmbH (WEB.DE)", "Kd 112233", "WEB_DE"),
        ("1&1 Mail & Media GmbH", "WEB.DE FreeMail 112233", "WEB_DE"),
        ("1&1 Mail & Media GmbH", "Kd 112233", "GMX"),
        ("congstar - eine Marke der Telekom", "Kundenkonto 112233", "CONGSTAR"),
        ("Xbox Game Pass Ultimate Microsoft", "Kd 112233", "XBOX"),
    ],
)
def test_of_a_company_with_several_brands_the_one_that_is_called_by_its_name_is_the_partner(
    name: str, purpose: str, partner: str
):
    assert tag(book(-5, name, purpose, "Lastschrift")).partner == partner


@pytest.mark.parametrize(
    ("purpose", "partner"),
    [
        ("O2 GMBH RECHNUNG 112233", "O2"),
        ("O2 SAUERSTOFFGERAET WACHOLDER RECHNUNG 112233", "UNKNOWN"),
    ],
)
def test_a_common_word_that_begins_an_unnamed_purpose_is_a_brand_only_with_a_legal_form_or_its_trade(
    purpose: str, partner: str
):
    assert tag(book(-29, "", purpose, "Lastschrift")).partner == partner


def test_a_number_that_lost_its_blank_hides_no_brand_of_a_card_text():
    found = tag(book(-60, "", "Google ADS5520112233, Dublin", "Kartenzahlung"))
    assert (found.partner, found.freelancer_category) == ("GOOGLE_ADS", "ADVERTISING")
