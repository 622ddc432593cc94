"""Each hint a booking can give is used: a row per hint that is decided by it."""

import pytest
from tagging_rows import book, tag

from kontor.analysis.tagging import OwnAccounts, load_tagger
from kontor.analysis.tagging.taggings import EVIDENCE_KINDS

OWN = OwnAccounts(
    frozenset({"DE02120300000000202051", "DE02 5001 0517 0137 0750 30"}),
    frozenset({"DE02 5001 0517 0137 0750 30"}),
    ("Jana Öztürk",),
)


@pytest.mark.parametrize(
    ("hint", "booking", "category"),
    [
        ("sign", book(44, "REWE Markt GmbH", "Erstattung"), "INCOME_OTHER"),
        ("sign of entgelt, outgoing", book(-4.9, None, "Entgelt Girokonto", "ENTGELTABSCHLUSS"), "SERVICES_FINANCIAL"),
        ("sign of entgelt, incoming", book(2400, "Feinmechanik Oberland GmbH", "Entgelt 10/2026"), "INCOME_SALARY"),
        ("booking text", book(-50, None, None, "BARGELDAUSZAHLUNG"), "BANKFINANCE_ATMWITHDRAWAL"),
        ("counter", book(-50, None, "Barauszahlung Kasse Filiale"), "BANKFINANCE_CASHWITHDRAWAL"),
        ("GV code", book(1900, "Oberland", "10/2026", None, "153"), "INCOME_SALARY"),
        ("GV code of donations", book(-20, "Oberland", None, None, "119"), "OTHER_DONATION"),
        ("purpose code", book(1900, "Oberland", "SVWZ+10/2026 PURP+PENS"), "INCOME_PENSION"),
        ("creditor id", book(-45, None, "EREF+1 CRED+DE93ZZZ00000078611 SVWZ+K 4711"), "BILLS_TELECOMMUNICATIONS"),
        (
            "creditor id in columns",
            book(-45, None, "EREF+4711MREF+12345CRED+DE9 3ZZZ00000078611SVWZ+K4711"),
            "BILLS_TEL",
        ),
        ("counterparty", book(-45, "Stadtwerke Musterstadt", "Abschlag Strom"), "BILLS_ELECTRICITY"),
        ("ultimate counterparty", book(-30, "Muster Abrechnung", "Rg 1", ultimate="Rossmann"), "LIVING_DRUGSTORE"),
        ("card text", book(-30, None, "REWE SAGT DANKE 4711//Essen/DE 2026-03-02T18:21:33 KFN 1"), "LIVING_GROCERIES"),
        ("PayPal", book(-30, "PayPal Europe", "1/PP.12.PP/. Netflix, Ihr Einkauf bei Netflix"), "RECREATION_ONLINE"),
        ("Klarna", book(-30, "Klarna Bank AB", "Ihr Einkauf bei Zalando Klarna-Nr. 1"), "SHOPPING_CLOTHINGACCESSORIES"),
        ("SumUp", book(-9, "SumUp  *EISCAFE VENEZIA", None, "Kartenzahlung"), "RECREATION_ENTERTAINMENTFOOD"),
        ("pension as a wage", book(186, "VBL", "Betriebsrente 02.2025", "LOHN GEHALT", "153"), "INCOME_PENSION"),
        ("cash by card", book(-50, "VISA BANK X", "NR XXXX 33 ESSEN BARGELDAUSZAHLUNG 28.03"), "BANKFINANCE_ATM"),
        ("a bank's name for transfers", book(-35, "Lena Kowalski", "x", "Übertrag / Überweisung"), "OTHER_SPENDING"),
        ("own account", book(-90, "Jana Öztürk", "x", iban="DE02 1203 0000 0000 2020 51"), "TRANSFER_OWN"),
        ("own savings", book(-90, "Jana Öztürk", "x", iban="DE02500105170137075030"), "SAVINGS_ACCOUNT"),
        ("from own savings", book(90, "Jana Öztürk", "x", iban="DE02500105170137075030"), "TRANSFER_OWN"),
        ("holder's name", book(-90, "OEZTUERK, JANA", "x", iban="DE91100000000123456789"), "TRANSFER_OWN"),
        (
            "card settlement beats own account",
            book(-90, "Jana Öztürk", "Kreditkartenabrechnung 5"),
            "BANKFINANCE_TRANSFER",
        ),
        ("person", book(-25, "Lena Kowalski", "danke", "Überweisung"), "OTHER_SPENDING"),
        ("person, incoming", book(25, "Lena Kowalski", "Pizza :)", "Gutschrift"), "OTHER_INCOME"),
        ("family", book(-25, "Murat Öztürk", "danke", "Überweisung"), "FAMILY_SUPPORT"),
        (
            "returned debit",
            book(43, "Debeka", "RETOURE SEPA Lastschrift vom 02.05.", "RUECKLASTSCHRIFT"),
            "BANKFINANCE_OTHER",
        ),
        ("rent", book(-900, "Lena Kowalski", "Miete Mai Wohnung 3. OG", "Dauerauftrag"), "HOUSING_RENT"),
        ("rent received", book(900, "Lena Kowalski", "Miete Mai Whg. 2", "Gutschrift"), "INCOME_RENTAL"),
        (
            "insurer as landlord",
            book(-900, "Alte Leipziger Lebensversicherung Mieten", "Miete Mai Wohnung"),
            "HOUSING_RENT",
        ),
        ("endowment paid out", book(19000, "ALTE LEIPZIGER LEBENSVERSIC", "ABLAUFLEISTUNG"), "INSURANCE_LIFE"),
        ("savings paid out", book(19000, "ALTE LEIPZIGER", "ABLAUFLEISTUNG VERTRAG 12"), "SAVINGS_LIFEINSURANCE"),
        ("loan paid out", book(9000, "TARGOBANK AG", "Kreditauszahlung Vertrag 1"), "BANKFINANCE_CREDITINCOME"),
        ("child benefit", book(259, "Familienkasse", "KG123 KINDERGELD", None, "156"), "INCOME_STATE_FAMILY"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else None,
)
def test_a_hint_decides(hint, booking, category):
    assert tag(booking, OWN).category.startswith(category), load_tagger().explain(booking, OWN)


@pytest.mark.parametrize(
    ("booking", "insurance_type"),
    [
        (book(-9, "HUK-COBURG", "Privathaftpflicht VS-Nr. 1"), "LIABILITY_PRIVATE"),
        (book(-9, "Allianz Versicherungs-AG", "Hausratversicherung 2026"), "HOME_CONTENTS"),
        (book(-90, "AXA Versicherung AG", "Kfz-Vers. Teilkasko K-XY 12"), "VEHICLE_PARTIALCOVER"),
        (book(200, "GVV Direktversicherung AG", "Schadenregulierung Hausrat Schaden-Nr. 1"), "HOME_CONTENTS"),
        (
            book(-60, "Hannoversche Lebensversicherung AG", "Berufsunfähigkeitsversicherung 06/26"),
            "INCAPACITY_OCCUPATIONAL",
        ),
    ],
)
def test_an_insurance_type_is_found_and_sets_the_category(booking, insurance_type):
    found = tag(booking)
    assert found.insurance_type == insurance_type
    assert found.category == f"INSURANCE_{insurance_type.partition('_')[0]}"


@pytest.mark.parametrize(
    "booking",
    [
        book(2400, "Allianz Deutschland AG", "Gehalt 05/2026", None, "153"),
        book(120, "Allianz SE", "Dividende ISIN DE0008404005", None, "330"),
        book(-55, "Allianz Arena Ticketing", "Eintritt", "Kartenzahlung"),
        book(60, "BARMER", "Krankengeld 01.05.-31.05."),
    ],
)
def test_an_insurer_in_another_role_is_no_insurance(booking):
    assert tag(booking).insurance_type == "UNRELATED_OTHER"


def test_the_partner_is_the_merchant_and_not_the_collector():
    found = tag(book(-12, "PayPal (Europe) S.à r.l.", "1/PP.12.PP/. Netflix, Ihr Einkauf bei Netflix"))
    assert found.partner == "NETFLIX"
    unknown = tag(book(-12, "PayPal (Europe) S.à r.l.", "1/PP.12.PP/. Xyqzwk, Ihr Einkauf bei Xyqzwk"))
    assert unknown.partner == "UNKNOWN"


def test_a_person_bearing_a_brands_name_is_no_partner():
    assert tag(book(-12, "Otto Schneider", "danke", "Überweisung")).partner == "UNKNOWN"


def test_evidence_names_what_decided():
    found, evidence = load_tagger().explain(book(-45, "Telekom Deutschland GmbH", "Mobilfunk Rechnung 7"), OWN)
    assert found.category == "BILLS_MOBILE"
    assert evidence[0].is_decisive
    assert {"partner", "keyword"} <= {reason.kind for reason in evidence} <= set(EVIDENCE_KINDS)
    assert any("TELEKOM" in reason.detail for reason in evidence)


def test_the_model_is_asked_where_nothing_written_decides():
    _, evidence = load_tagger().explain(book(-9, "Zwqxr Klmpf", None, "Kartenzahlung"), OWN)
    assert "model" in {reason.kind for reason in evidence}
    _, evidence = load_tagger().explain(book(-9, "REWE", None, "Kartenzahlung"), OWN)
    assert "model" not in {reason.kind for reason in evidence}


def test_of_two_trades_that_weigh_alike_the_model_settles_which_is_meant():
    found, evidence = load_tagger().explain(book(-13.5, "Doener Haus Apothekenplatz", None, "Kartenzahlung"), OWN)
    assert found.category == "RECREATION_ENTERTAINMENTFOOD"
    weights = [reason.weight for reason in evidence if reason.kind == "keyword"]
    assert max(weights) == min(weights)
    (opinion,) = [reason for reason in evidence if reason.kind == "model"]
    assert opinion.detail == found.category


def test_a_loan_that_is_called_one_is_no_mortgage_though_the_bank_gives_mortgages():
    assert tag(book(-150, "DSL Bank", "Privatkredit Rate", "Lastschrift")).category == "BANKFINANCE_CREDITPAYMENT"
    assert tag(book(-150, "DSL Bank", "Rate 03/26", "Lastschrift")).category == "HOUSING_FINANCING"


@pytest.mark.parametrize(
    ("booking", "category"),
    [
        (book(-19, "PayPal Europe", "PP.1.PP . QWZXVIKO, Ihr Einkauf bei QWZXVIKO", "Lastschrift"), "SHOPPING_OTHER"),
        (book(-19, "QWZXVIKO", None, "Kartenzahlung"), "SHOPPING_OTHER"),
        (book(-19, "QWZXVIKO", "112233", "Überweisung"), "OTHER_SPENDING"),
    ],
)
def test_a_shop_that_nothing_is_known_of_gets_a_modest_category_with_low_confidence(booking, category):
    tagging = tag(booking)
    assert tagging.category == category
    assert tagging.category_confidence < 0.5


def test_a_broker_in_the_purpose_of_a_transfer_to_a_person_is_the_partner():
    tagging = tag(book(-150, "Jana Lindner", "Einzahlung Trade Republic", "Überweisung"))
    assert tagging.partner == "TRADE_REPUBLIC"
    assert tagging.category in ("BANKFINANCE_INVESTMENT", "SAVINGS_SECURITIES")


def test_a_shop_in_the_purpose_of_a_transfer_to_a_person_is_not_the_partner():
    assert tag(book(-15, "Jana Lindner", "Einkauf Lidl", "Überweisung")).partner == "UNKNOWN"
