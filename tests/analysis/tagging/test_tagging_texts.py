"""How texts of statements are read before anything is decided."""

import pytest
from tagging_rows import book

from kontor.analysis.tagging.card_texts import find_remark, find_shop
from kontor.analysis.tagging.columns import join_lines
from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.intermediaries import find_bare_merchant, find_merchants, is_collector, unwrap_star
from kontor.analysis.tagging.lexicons import load_rules
from kontor.analysis.tagging.readings import CARD, Reader
from kontor.analysis.tagging.sepa_tags import normalise_creditor_id, split_glued, split_purpose

READER = Reader(load_rules())


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Müller GmbH & Co. KG", "mueller gmbh & co kg"),
        ("MUELLER GMBH&CO.KG", "mueller gmbh & co kg"),
        ("McDonald's", "mcdonalds"),
        ("Straße  //  Ölwerk", "strasse oelwerk"),
        ("Café Crème", "cafe creme"),
        ("Cafe\u0301 mu\u0308ller", "cafe mueller"),
        ("Łódź Ørsted ışık", "lodz orsted isik"),
        ("日本", ""),
    ],
)
def test_folding_gives_one_shape_to_all_spellings(text, folded):
    assert fold(text) == folded


@pytest.mark.parametrize(
    "purpose",
    [
        "EREF+123 MREF+M-4 CRED+DE93ZZZ00000078611 SVWZ+Mobilfunk Rechnung 7",
        "EREF+123MREF+M-4CRED+DE93ZZZ00000078611SVWZ+Mobilfunk Rechnung 7",
        "SVWZ+Mobilfunk Rechnung 7 EREF+123 CRED+DE93 ZZZ0 0000 0786 11",
        "Mobilfunk Rechnung 7 EREF: 123 MREF: M-4 CRED: DE93ZZZ00000078611",
        "Mobilfunk Rechnung 7 End-to-End-Ref.: 123 Mandatsref.: M-4 Gläubiger-ID: DE93ZZZ00000078611",
        "Mobilfunk Rechnung 7 Mandat: M-4 Einreicher-ID: DE93ZZZ00000078611",
        "Mobilfunk Rechnung 7 Glaeubiger-ID: DE93ZZZ00000078611",
        "EREF+123SV WZ+Mobilfunk Rechnung 7CR ED+DE93ZZZ00000078611",
        "EREF: 123 MREF: M-4 CRED: DE93ZZZ00000078611 Mobilfunk Rechnung 7",
        "mandatereference:M-4,submitterreferred:,remittanceinformation:Mobilfunk Rechnung 7 CRED: DE93ZZZ00000078611",
    ],
)
def test_sepa_tags_are_read_in_all_spellings(purpose):
    fields = split_purpose(purpose)
    assert fold(fields.text).startswith("mobilfunk rechnung 7")
    assert "123" not in fields.text
    assert fields.creditor_id == normalise_creditor_id("DE93ZZZ00000078611") == "DE9300000078611"


def test_sepa_tags_give_purpose_code_and_ultimate_party():
    fields = split_purpose("SVWZ+Gehalt 05 PURP+SALA ABWA+Muster Holding")
    assert (fields.purpose_code, fields.ultimate) == ("SALA", "Muster Holding")


@pytest.mark.parametrize(
    ("purpose", "name", "kind", "rest"),
    [
        (
            "swb Bremen GmbHSEPA-BASISLASTSCHRIFT SVWZ+ Strom EREF+ 1",
            "swb Bremen GmbH",
            "SEPA-BASISLASTSCHRIFT",
            "Strom",
        ),
        ("SEPA-ÜBERWEISUNG IBAN+ DE12 SVWZ+ Strom", "", "SEPA-ÜBERWEISUNG", "Strom"),
    ],
)
def test_a_name_and_the_kind_of_booking_glued_before_the_purpose_are_taken_off(purpose, name, kind, rest):
    found = split_glued(purpose)
    assert found[:2] == (name, kind)
    assert split_purpose(found[2]).text.strip() == rest


def test_a_tag_that_a_lines_end_broke_ends_the_kind_too():
    assert split_glued("swb GmbHSEPA-BASISLASTSCHRIFT SV WZ+ Strom")[1:] == ("SEPA-BASISLASTSCHRIFT", "SV WZ+ Strom")


@pytest.mark.parametrize(
    "text", ["Rückgabe einer SEPA-Lastschrift", "SEPA-Lastschrift Disney+ Abo", "Per SEPA-Lastschrift, Vertrag A+B"]
)
def test_the_kind_of_a_booking_without_a_tag_behind_it_stays_in_the_text(text):
    assert split_glued(text) == ("", "", text)


def test_a_plus_or_colon_without_a_tag_is_text():
    assert split_purpose("Disney+ Abo um 12:30 Uhr").text == "Disney+ Abo um 12:30 Uhr"


@pytest.mark.parametrize("width", [27, 35, 54])
def test_words_cut_at_a_column_are_joined(width):
    text = "Kontofuehrung und Grundpreis fuer Ihr Girokonto einschliesslich Buchungsposten Oktober"
    cut = " ".join(text[start : start + width].strip() for start in range(0, len(text), width))
    joined, others, _ = join_lines(cut)
    words = f"{joined} {others}".split()
    assert set(text.split()) <= set(words)


@pytest.mark.parametrize(
    ("name", "purpose", "shop"),
    [
        ("", "REWE SAGT DANKE 4711//Essen/DE 2026-03-02T18:21:33 KFN 1", "REWE SAGT DANKE 4711"),
        ("VISA CAFE BOHNE", "NR XXXX 1234 ESSEN KAUFUMSATZ 02.03 182133 ARN74", "CAFE BOHNE"),
        ("CAFE BOHNE", "CAFE BOHNE ESSEN DE 02.03.2026 um 18:21:33 Uhr girocard", "CAFE BOHNE"),
        ("", "CAFE BOHNE ESSEN Debitk.0 2028-12", "CAFE BOHNE ESSEN "),
        ("", "2026-03-02T18:21 Debitk.1 2028-12 CAFE BOHNE ESSEN", "CAFE BOHNE ESSEN"),
        ("", "KARTENZAHLUNG 02.03 18.21 UHR CAFE BOHNE ESSEN", "CAFE BOHNE ESSEN"),
        ("", "VISA-Debitkarte *4711 CAFE BOHNE ESSEN DE", "CAFE BOHNE ESSEN DE"),
        ("CAFE.BOHNE/ESSEN", "VISA Debitkartenumsatz vom 02.03.2026", "CAFE.BOHNE"),
        ("", "SVWZ+CAFE BOHNE//ESSEN/DE 2026-03-02T18:21:33 KFN 1", "CAFE BOHNE"),
        ("", "Cafe Bohne02.03.2026 18.21.33 460836 EUR 6,40 EC 4125 PAN 672 CAFE BOHNE//Essen/DE 000", "Cafe Bohne"),
    ],
)
def test_a_card_text_gives_the_shop_without_place_and_time(name, purpose, shop):
    assert find_shop(name, purpose, True) == shop


def test_a_card_text_is_known_by_its_purpose_where_the_bank_tells_no_kind_of_booking():
    assert find_shop("CAFE.BOHNE/ESSEN", "VISA Debitkartenumsatz vom 02.03.2026", False) == "CAFE.BOHNE"


@pytest.mark.parametrize(
    ("name", "purpose", "remark"),
    [
        ("VISA VOLKSBANK ESSEN", "NR XXXX 1234 ESSEN BARGELDAUSZAHLUNG 02.03 182133 ARN74", "Bargeldauszahlung"),
        ("KURVERWALTUNG", "2026-03-02T18:21 DEBITK.0 2028-12 KURTAXE", "KURTAXE"),
        ("KURVERWALTUNG", "2026-03-02T18:21 DEBITK.0 2028-12", ""),
        ("Stadt Essen", "Bürgerbüro Reisepass 02.03 18.21 girocard", "Bürgerbüro Reisepass 02.03 18.21"),
        ("CAFE BOHNE", "Cafe Bohne ESSEN DE 02.03.2026 um 18:21:33 Uhr girocard", ""),
        ("VISA CAFE BOHNE", "NR XXXX 1234 ESSEN KAUFUMSATZ 02.03 182133 ARN74", ""),
        ("NETTO", "NETTO ZWICKAU 10.12.2024 18:03 nur Bargeldauszahlung", "Bargeldauszahlung"),
        ("", "SPARDA-BANK 03.02.2024 11.12.40 GA 533533 EUR 100,00 EC//BREMEN/DE", "Bargeldauszahlung"),
        ("", "CAFE BOHNE//ESSEN/DE 2026-03-02T18:21:33 KFN 1", ""),
        ("REWE MARKT", "REWE MARKT ESSEN Bargeldlose Zahlung 02.03.2026 girocard", ""),
        ("AMAZONAS GRILL", "AMAZONAS GRILL ESSEN DE 02.03.2026", ""),
        ("APPLE.COM/BILL", "APPLE.COM/BILL ITUNES.COM IRL iCloud+ 200 GB", " ITUNES.COM IRL iCloud+ 200 GB"),
    ],
)
def test_of_a_card_text_only_remarks_are_read_and_no_places(name, purpose, remark):
    assert find_remark(name, purpose) == remark


@pytest.mark.parametrize(
    ("text", "merchant"),
    [
        ("SumUp  *CAFE BOHNE", "CAFE BOHNE"),
        ("PAYPAL *SPOTIFY", "SPOTIFY"),
        ("ZETTLE_*Wochenmarkt Kraut", "Wochenmarkt Kraut"),
        ("SQ *BLUMEN MAI", "BLUMEN MAI"),
        ("PADDLE.NET* SOFTMAKER", "SOFTMAKER"),
        ("SUMUP  .CAFE BOHNE", "CAFE BOHNE"),
        ("ZETTLE CAFE BOHNE", "CAFE BOHNE"),
        ("Zettle_.Cafe Bohne", "Cafe Bohne"),
        ("SumUp..Wochenmarkt", "Wochenmarkt"),
        ("SUMUP ABENDROT", "ABENDROT"),
        ("SumUp Cafe Bohne..", "Cafe Bohne.."),
    ],
)
def test_a_star_of_a_collector_is_unwrapped(text, merchant):
    assert unwrap_star(text) == (merchant, True)


@pytest.mark.parametrize("text", ["AIRBNB * HM42", "SumUp Limited", "SUMUP PID338120", "ST. ANNA", "Zettle"])
def test_what_is_no_collector_for_somebody_stays(text):
    assert unwrap_star(text) == (text, False)


@pytest.mark.parametrize(
    ("text", "merchant"),
    [
        ("1085880402762/PP.98 83.PP/. PARK NOW GMBH, Ihr Einkauf bei PARK NOW GMBH", "PARK NOW GMBH"),
        ("Ihr Einkauf bei zooplus SE Klarna-Nr. 263", "zooplus SE"),
        ("PP.1234.PP . Spotify AB, Ihr Einkauf bei Spotify AB", "Spotify AB"),
    ],
)
def test_a_collectors_purpose_names_the_merchant(text, merchant):
    assert find_merchants(text)[0][0] == merchant
    assert is_collector("paypal europe s a r l et cie s c a")


@pytest.mark.parametrize(
    ("collector", "text", "merchant"),
    [
        ("klarna bank ab", "Klarna H&M 88471204 Rechnung", "H&M"),
        ("klarna bank ab", "KLARNA*ABOUT YOU BESTELLUNG 118841902", "ABOUT YOU"),
        ("klarna bank ab", "KLARNA*ABOUT YOUBESTELLUNG 118841902", "ABOUT YOU"),
        ("sumup payments limited", "SumUp .Landbaeckerei Meyerhof/Maasen/DE", "Landbaeckerei Meyerhof"),
        ("sumup payments limited", "SUMUP PID 112233 PAYOUT 140326", ""),
        ("sumup payments limited", "SUMUP *ABENDROT BAR", "ABENDROT BAR"),
        ("stripe technology europe", "STRIPE PAYOUT X7K2 Auszahlung", ""),
        ("klarna bank ab", "Ihre Rechnung Nr. 12345", ""),
        ("klarna bank ab", "Danke dass Sie pünktlich gezahlt haben", ""),
    ],
)
def test_a_merchant_that_stands_alone_in_a_collectors_purpose_is_found(collector, text, merchant):
    assert find_bare_merchant(collector, text)[0] == merchant


@pytest.mark.parametrize(
    ("purpose", "code"),
    [
        ("Zweitwohnungssteuer 2026 HSTX", "HSTX"),
        ("MONTHLY RENT", ""),
        ("SALA", "SALA"),
        ("BEITRAG JUNGSCHAR", ""),
        ("EREF+1 PURP+RENT", "RENT"),
    ],
)
def test_a_bare_purpose_code_is_no_word_and_no_end_of_one(purpose, code):
    assert READER.read(book(-20, None, purpose)).purpose_code == code


@pytest.mark.parametrize(
    ("name", "purpose", "read"),
    [
        ("AUTOHAUS VOGEL//SUHL/DE", "Überführungskosten", "ueberfuehrungskosten"),
        ("AUTOHAUS VOGEL//SUHL/DE", "2025-03-04T10:11 Debitk.0 2028-12", ""),
        ("AUTOHAUS VOGEL//SUHL/DE", "AUTOHAUS VOGEL SUHL", ""),
        ("BUDNI//HAMBURG/DE", "BUDNI HAMBURG", ""),
        ("BUDNI//HAMBURG/DE", "EREF+1 MREF+2", ""),
        ("APPLE.COM/BILL", "iCloud+ 200 GB", "icloud 200 gb"),
        ("SPARKASSE BREMEN//BREMEN/DE", "2026-02-03T18:10:42 KFN 1 GELDAUTOMAT", "bargeldauszahlung"),
    ],
)
def test_a_card_payments_own_purpose_is_read_and_its_particulars_are_not(name, purpose, read):
    assert READER.read(book(-20, name, purpose, "Kartenzahlung")).purpose == read


@pytest.mark.parametrize(
    ("name", "purpose", "channel"),
    [
        ("CORA SARREGUEMINES//57200/FR", "", CARD),
        ("DM SAARBRUECKEN", "2025-03-31T14:05 Debitk.0 2027-12", CARD),
        ("Cora Weber", "Miete", ""),
    ],
)
def test_a_card_payment_is_told_by_its_text_alone(name, purpose, channel):
    assert READER.read(book(-20, name, purpose)).channel == channel
