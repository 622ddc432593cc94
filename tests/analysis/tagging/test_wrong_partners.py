"""No partner is better than a wrong one: districts, other people's quarrels and insurers of things."""

import pytest
from tagging_rows import book, tag


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
