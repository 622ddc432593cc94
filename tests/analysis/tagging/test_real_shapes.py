"""Shapes of rows that real statements have: tills in debits, names that PayPal cuts, thanks, and numbers in front."""

import pytest
from tagging_rows import book, tag

from kontor.analysis.tagging.lexicons import load_rules
from kontor.analysis.tagging.prepared_knowledge import load_knowledge
from kontor.analysis.tagging.readings import CARD, CREDIT, DEBIT, Reader

TILL = "//CELLE/DE 2026-02-03T09:14:55 Folgenr.002 Verfalld.2028-12"


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(load_rules(), load_knowledge().names)


@pytest.mark.parametrize(
    ("name", "purpose", "text", "channel"),
    [
        ("GAERTNEREI HALM", f"GAERTNEREI HALM{TILL}", "Lastschrifteinzug", CARD),
        (
            "GAERTNEREI HALM",
            "GAERTNEREI HALM//CELLE/DE 20 26-02-03T09:14:55 Folgenr.002 Verfa lld.2028-12",
            "Abbuchung",
            CARD,
        ),
        ("VISA GAERTNEREI HALM", "NR7123456789 CELLE  KAUFUMSATZ 03.02 112233", "Lastschrifteinzug", CARD),
        ("VISA GAERTNEREI HALM", "NR7123456789       LU  GUTSCHRIFTSBELEG 03.02", "Gutschrift", CARD),
        ("Halm GmbH", "Rechnung 112233", "Lastschrifteinzug", DEBIT),
        ("Ina Halm", "Danke//bis bald", "Gutschrift", CREDIT),
    ],
)
def test_a_till_is_told_by_how_it_writes_whatever_the_booking_text_says(reader, name, purpose, text, channel):
    assert reader.read(book(-21, name, purpose, text)).channel == channel


def test_a_shop_with_its_owners_name_at_a_till_is_no_person():
    found = tag(book(-31, "REFORMHAUS HALM", f"INA HALM E.K.{TILL}", "Lastschrifteinzug"))
    assert found.category == "LIVING_GROCERIES"


@pytest.mark.parametrize("shop", ["HOTEL MORGENROT", "DEICHMANN", "LUMPENSAMMLER"])
def test_the_fee_for_another_currency_is_not_what_the_card_was_used_for(shop: str):
    found = tag(book("-0.42", f"VISA {shop}", "NR7123456789  1,75% WECHSELKURSGEBUEHR 03.02", "Lastschrifteinzug"))
    assert (found.category, found.partner) == ("SERVICES_FINANCIAL", "UNKNOWN")


@pytest.mark.parametrize(
    ("merchant", "partner"),
    [
        ("FLACONIGMBH", "FLACONI"),
        ("HELLOFRESHG", "HELLOFRESH"),
        ("NOTEBOOKSBI", "NOTEBOOKSBILLIGER"),
        ("GLOBETROTTE", "GLOBETROTTER"),
        ("COPECARTGMB", "COPECART"),
        ("INAHALMSHOP", "UNKNOWN"),
    ],
)
def test_a_merchant_that_paypal_cut_and_ran_together_is_found(merchant: str, partner: str):
    purpose = f"PP.1234.PP . {merchant}, Ihr Einkauf bei {merchant}"
    assert tag(book(-21, "PayPal (Europe) S.à r.l. et Cie, S.C.A.", purpose, "Lastschrifteinzug")).partner == partner


def test_an_unknown_merchant_behind_a_collector_gets_a_modest_category():
    purpose = "PP.1234.PP . HALMUNDQUEND, Ihr Einkauf bei HALMUNDQUEND"
    found = tag(book(-21, "PayPal (Europe) S.à r.l. et Cie, S.C.A.", purpose, "Lastschrifteinzug"))
    assert found.category == "SHOPPING_OTHER"
    assert found.category_confidence < 0.7


@pytest.mark.parametrize(
    ("name", "text", "partner"),
    [
        ("DANKE, IHR TEGUT", "Lastschrifteinzug", "TEGUT"),
        ("DANKE SAGT IHR FAMILA TEAM", "Lastschrifteinzug", "FAMILA"),
        ("7719 ECENTER CELLE", "Kartenzahlung", "EDEKA"),
        ("8831 DEICHMANN CELLE", "Lastschrift", "DEICHMANN"),
        ("FLACONI - RATEPAY GMBH", "Überweisung", "FLACONI"),
        ("JET TS HANNOVER", "Kartenzahlung", "JET"),
        ("JET BAHNHOFSTR 12 HANNOVER", "Kartenzahlung", "JET"),
        ("JET SEGELREISEN HALM", "Kartenzahlung", "UNKNOWN"),
    ],
)
def test_a_shop_is_found_between_what_tills_and_collectors_add(name: str, text: str, partner: str):
    assert tag(book(-21, name, "ELV65112233 03.02 09.14 ME0", text)).partner == partner


def test_a_number_in_front_of_a_transfers_name_stays(reader):
    assert reader.read(book(-21, "1234 Halm GmbH", "Rechnung", "Überweisung")).name == "1234 halm gmbh"


def test_who_thanks_is_meant_and_not_the_company_that_collects():
    purpose = "Ihr Konto wurde aufgeladen. BLAU.DE SAGT DANKE"
    assert tag(book(-15, "Telefonica Germany GmbH", purpose, "Lastschrift")).partner == "BLAU"


def test_refunds_of_a_marketplaces_sellers_are_its_own():
    found = tag(book(22, "VISA AMZ*HALMFLORA", "NR7123456789       LU  GUTSCHRIFTSBELEG 03.02", "Gutschrift"))
    assert (found.category, found.partner) == ("INCOME_OTHER", "AMAZON")


def test_a_cut_word_at_a_till_is_no_insurance():
    found = tag(book(-301, "BACHSTELZE GMBH", f"Bachstelze 17 Schmuckv{TILL}", "Lastschrifteinzug"))
    assert found.category == "SHOPPING_CLOTHINGACCESSORIES"
