"""The letter that cancels a contract: what it says, and that it fits on its page."""

import io
import tomllib
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files

import pytest
from msgspec import structs
from pdfminer.high_level import extract_pages, extract_text
from pdfminer.layout import LTTextContainer

from kontor.analysis.records import Account, Record
from kontor.domain.contracts import ContractSettings, KnownContract
from kontor.services.analyses import Facts
from kontor.wire.letters import write_cancellation

TODAY = date(2026, 11, 15)
GIRO = Account("giro", holder="Jörg Größmann", iban="DE89370400440532013000")
PURPOSE = "EREF+1 MREF+M-4711 CRED+DE98ZZZ09999999999 SVWZ+Kundennummer 80012345 Beitrag"
LONG_HOLDER = "Prof. Dr. Łukasz Çağlar-Öztürk und Ștefania Đorđević-Größenwahn-Müllerßen von und zu Übelhör-Žižek"
LONG_PARTNER = "Öffentlich-rechtliche Anstalt für Vermögensschäden-Haftpflicht der Freien Berufe Süddeutschlands VVaG"


def make_facts(purpose=PURPOSE, partner="Stadtwerke Köln GmbH", account=GIRO, **settings):
    records = [
        Record(
            f"r{month}", "giro", date(2026, month, 2), Decimal("-45.00"), "BILLS_ELECTRICITY", purpose=purpose,
            counterparty_name=partner, counterparty_iban="DE02120300000000202051", booking_text="LASTSCHRIFT",
        )
        for month in range(1, 12)
    ]  # fmt: skip
    facts = Facts("user", records, [account] if account else [], TODAY)
    [contract] = facts.contracts
    bookings = tuple((row,) for row in contract.transaction_ids)
    return replace(facts, known=[KnownContract(contract.id, bookings, settings=ContractSettings(**settings))])


def write(facts, day=None, language="de"):
    [contract] = facts.all_contracts
    return write_cancellation(facts, contract.id, day, language)


def read(facts, day=None, language="de"):
    """The words of the letter, without line breaks."""
    return " ".join(extract_text(io.BytesIO(write(facts, day, language))).split())


def test_the_letter_names_sender_recipient_and_numbers():
    text = read(make_facts(name="Strom"))
    for expected in (
        "Jörg Größmann", "Stadtwerke Köln GmbH", "15.11.2026", "Kündigung meines Vertrags", "80012345", "M-4711",
        "DE98ZZZ09999999999", "DE89 3704 0044 0532 0130 00", "Strom", "Mit freundlichen Grüßen",
    ):  # fmt: skip
        assert expected in text
    assert "Kunden- oder Vertragsnummer" not in text


def test_the_english_letter_says_the_same():
    text = read(make_facts(), date(2027, 5, 31), "en")
    for expected in ("15 November 2026", "Cancellation of my contract", "31 May 2027", "80012345", "M-4711"):
        assert expected in text


def test_both_languages_have_the_same_texts():
    texts = [
        tomllib.loads((files("kontor.wire.letters") / f"{language}.toml").read_text(encoding="utf-8"))
        for language in ("de", "en")
    ]
    assert texts[0].keys() == texts[1].keys()


@pytest.mark.parametrize(
    ("settings", "day", "expected"),
    [
        ({}, None, "Vertrag zum nächstmöglichen Zeitpunkt."),
        ({}, date(2027, 5, 31), "zum 31.05.2027, hilfsweise zum nächstmöglichen Zeitpunkt."),
        ({"minimum_term_end": date(2027, 3, 31)}, None, "zum 31.03.2027, hilfsweise"),
        ({"minimum_term_end": date(2027, 3, 31)}, date(2027, 5, 31), "zum 31.05.2027, hilfsweise"),
        ({"minimum_term_end": date(2027, 1, 31), "notice_period": "P3M"}, None, "Vertrag zum nächstmöglichen"),
        ({"minimum_term_end": date(2027, 2, 15), "notice_period": "P3M"}, None, "zum 15.02.2027, hilfsweise"),
        ({"minimum_term_end": date(2026, 11, 14)}, None, "Vertrag zum nächstmöglichen"),
    ],
)
def test_the_contract_ends_on_the_day_asked_for_or_with_its_minimum_term_or_soon(settings, day, expected):
    assert expected in read(make_facts(**settings), day)


def test_the_mandate_is_revoked_where_there_is_one():
    assert "SEPA-Lastschriftmandat" in read(make_facts())
    assert "SEPA-Lastschriftmandat" not in read(make_facts("Kundennummer 80012345 Beitrag"))


def test_what_is_not_known_is_left_blank_to_be_filled_in():
    text = read(make_facts("Abschlag", partner="", account=None))
    assert text.count("Name (bitte ergänzen)") == 2
    assert text.count("Anschrift (bitte ergänzen)") == 2
    assert "Kunden- oder Vertragsnummer:" in text


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("holder", [LONG_HOLDER, "Größenwahn" * 20])
@pytest.mark.parametrize("partner", [LONG_PARTNER, "Ä" * 140])
def test_long_names_with_letters_of_all_europe_stay_whole_inside_the_margins_of_one_page(holder, partner, language):
    facts = make_facts(partner=partner, account=structs.replace(GIRO, holder=holder), name="Ausführlicher Name " * 5)
    pages = list(extract_pages(io.BytesIO(write(facts, date(2027, 5, 31), language))))
    assert len(pages) == 1
    boxes = [box for box in pages[0] if isinstance(box, LTTextContainer)]
    assert min(box.x0 for box in boxes) >= 20 / 25.4 * 72
    assert max(box.x1 for box in boxes) <= pages[0].width - 19 / 25.4 * 72
    squeezed = "".join(read(facts, None, language).split())
    assert "".join(holder.split()) in squeezed
    assert "".join(partner.split()) in squeezed


def test_the_same_letter_is_the_same_file():
    assert write(make_facts()) == write(make_facts())


def test_an_unknown_contract_has_no_letter():
    assert write_cancellation(make_facts(), "unknown", None, "de") == b""


@cache
def read_glyphs(name):
    from fontTools.ttLib import TTFont

    with (files("kontor.wire.letters") / "fonts" / name).open("rb") as file:
        return set(TTFont(file).getBestCmap())


@pytest.mark.parametrize("name", ["DejaVuSansCondensed.ttf", "DejaVuSansCondensed-Bold.ttf"])
def test_the_fonts_have_the_letters_of_european_names(name):
    letters = "ÄÖÜäöüßẞÀÉÑÇÅØÆŁŚŻĞŞİıŘŽČĐĆȘȚŐŰĀĢĻŅŲĖŪÞÐΑΩЖЯ€–„“"
    assert {ord(letter) for letter in letters} <= read_glyphs(name)
