"""A credit file does not depend on bookings about health, religion, party, union, sexual life or ethnic origin."""

import unicodedata
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache, partial
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from kontor.analysis.barred_inputs import load_barred_inputs
from kontor.analysis.contracts import find_contracts, list_known
from kontor.analysis.records import Record, make_record
from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.analysis.trees import CATEGORIES, INSURANCE_TYPES, TREES
from kontor.cli.demo_truths import Tags, read_demo_person
from kontor.domain.completeness import Source
from kontor.domain.contracts import ContractSettings
from kontor.domain.credit_files import CreditFileHead, CreditPurpose
from kontor.domain.transactions import Transaction
from kontor.services.analyses import Facts
from kontor.wire.credit_files import write_document
from many_examples import many_examples

TODAY = date(2026, 11, 15)
PLACE = UUID(int=7)
HEAD = CreditFileHead(PLACE, 1, datetime(2026, 11, 15, 9, tzinfo=UTC), CreditPurpose("Ratenkredit"), "rules", "model")
# Written down without a look at our list: the unions of the DGB, parties of the Bundestag and of state parliaments,
# large religious communities, and what hints at the rest. (counterparty, purpose, amount)
BARRED = [
    ("Apotheke am Markt", "Rezept", "-12.50"),
    ("Dr. med. Anna Beispiel", "Zahnarztrechnung 4711", "-230.00"),
    ("Universitätsklinikum Bonn", "Zuzahlung Krankenhaus", "-100.00"),
    ("AOK Rheinland/Hamburg", "Krankengeld 01.10.-31.10.", "1840.00"),
    ("Techniker Krankenkasse", "Beitrag freiwillige Versicherung", "-812.00"),
    ("Debeka Krankenversicherungsverein", "Beitrag", "-420.00"),
    ("Pflegekasse bei der BARMER", "Pflegegeld Pflegegrad 3", "599.00"),
    ("Psychotherapeutische Praxis Beispiel", "Rechnung 8", "-120.00"),
    ("Evangelisch-Lutherische Landeskirche Hannovers", "Kirchgeld 2026", "-60.00"),
    ("Erzbistum Köln", "Kirchensteuer", "-240.00"),
    ("Kath. Kirchengemeinde St. Gereon", "Beitrag", "-20.00"),
    ("Jehovas Zeugen in Deutschland, K.d.ö.R.", "Beitrag", "-50.00"),
    ("DITIB Türkisch-Islamische Union", "Mitgliedsbeitrag", "-15.00"),
    ("Zentralrat der Juden in Deutschland", "Beitrag", "-25.00"),
    ("Finanzamt Köln-Mitte", "Kirchenst euer 2025", "-80.00"),
    ("SPD Ortsverein Ehrenfeld", "Mitgliedsbeitrag", "-10.00"),
    ("CDU Kreisverband Köln", "Beitrag", "-12.00"),
    ("CSU Landesleitung", "Mitgliedsbeitrag 2026", "-80.00"),
    ("BÜNDNIS 90/DIE GRÜNEN", "Beitrag", "-15.00"),
    ("FDP Kreisverband", "Beitrag", "-12.00"),
    ("AfD Landesverband", "Mitgliedsbeitrag", "-10.00"),
    ("Die Linke Landesverband", "Beitrag", "-9.00"),
    ("Freie Wähler Bayern", "Beitrag", "-9.00"),
    ("IG Metall", "Beitrag Oktober", "-32.00"),
    ("ver.di Vereinte Dienstleistungsgewerkschaft", "Beitrag", "-28.00"),
    ("IG BCE", "Mitgliedsbeitrag", "-30.00"),
    ("IG Bauen-Agrar-Umwelt", "IG BAU Beitrag", "-22.00"),
    ("Gewerkschaft Erziehung und Wissenschaft", "GEW Beitrag", "-24.00"),
    ("Gewerkschaft Nahrung-Genuss-Gaststätten", "NGG", "-18.00"),
    ("Gewerkschaft der Polizei", "GdP Beitrag", "-19.00"),
    ("EVG Eisenbahn- und Verkehrsgewerkschaft", "Beitrag", "-21.00"),
    ("IG Metall", "Streikgeld KW 12", "310.00"),
    ("PARSHIP ELITE Group GmbH", "Premium", "-59.90"),
    ("ORION Versand GmbH", "Bestellung", "-44.00"),
    ("Generalkonsulat der Republik Türkei", "Passgebühr", "-95.00"),
    ("Western Union International", "Transfer", "-150.00"),
    ("Stadt Köln", "Ausländerbehörde Aufenthaltstitel", "-93.00"),
    ("Ärzte ohne Grenzen", "Spende", "-30.00"),
]
# What sounds like it and is not.
ALLOWED = [
    ("Evangelische Kirchengemeinde Beispiel", "Lohn Gehalt 10/2026", "2410.00", "INCOME_SALARY"),
    ("Universitätsklinikum Bonn", "Gehalt 10/2026", "3110.00", "INCOME_SALARY"),
    ("Katholische Siedlungsgesellschaft", "Miete Kirchstr. 4", "-780.00", "HOUSING_RENT"),
    ("Bank für Kirche und Diakonie", "Darlehen Rate 12", "-210.00", "BANKFINANCE_CREDITPAYMENT"),
    ("Stadtwerke Neunkirchen", "Strom Abschlag", "-84.00", "BILLS_ELECTRICITY"),
    ("Tierarztpraxis Dr. Pfote", "Rechnung 12", "-54.00", "RECREATION_PETS"),
    ("Kirchner GmbH", "Rechnung 71", "-99.00", "HOUSING_FURNISHING"),
    ("Pizzeria Verdi", "Kartenzahlung", "-31.00", "RECREATION_ENTERTAINMENTFOOD"),
    ("Petra Linke", "Danke fürs Essen", "-12.00", "OTHER_SPENDING"),
]


@cache
def read_person(login):
    """With their bookings as the tagger reads them; identifiers of accounts as in the database."""
    person = read_demo_person(login, TODAY, Tags.TAGGER)
    names = {account.id: str(uuid5(PLACE, account.id)) for account in person.accounts}
    accounts = [structs.replace(account, id=names[account.id]) for account in person.accounts]
    records = [structs.replace(record, account=names[record.account]) for record in person.records]
    contracts = find_contracts(records, accounts, TODAY)
    known = list_known(contracts, (), {}, {record.id for record in records})
    known = [replace(known[0], settings=ContractSettings(is_contract=False)), *known[1:]]
    sources = {account.id: Source(account.balance, TODAY - timedelta(days=3), None) for account in accounts}
    return records, accounts, known, sources


def write_file(login, records):
    _, accounts, known, sources = read_person(login)
    return write_document(HEAD, sources, Facts("user", records, accounts, TODAY, known))


@cache
def write_allowed(login):
    """The document without the barred bookings of the person."""
    return write_file(login, load_barred_inputs().remove(read_person(login)[0]))


def tag(name, purpose, amount, day=date(2026, 10, 5), number=0):
    """As the tagger reads it."""
    at = datetime(day.year, day.month, day.day, 11, tzinfo=UTC)
    transaction = Transaction(
        amount=Decimal(amount), currency="EUR", booked_at=at, purpose=purpose, counterparty_name=name
    )
    [tags] = load_tagger().tag([transaction], NOBODY)
    return make_record(f"barred {number}", "account", transaction, tags)


@pytest.mark.parametrize(("name", "purpose", "amount"), BARRED)
def test_a_booking_as_banks_write_it_is_barred(name, purpose, amount):
    assert load_barred_inputs().remove([tag(name, purpose, amount)]) == []


def widen(text):
    """In full-width letters, as some programs write Latin ones."""
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)


FORMS = [widen, *(partial(unicodedata.normalize, form) for form in ("NFC", "NFD", "NFKC", "NFKD"))]


def test_a_word_is_barred_in_every_form_that_unicode_has_for_it():
    """In a category of the catch-all kind: nothing but the words bars it."""
    umlauts = {"Einbürgerung", "Bündnis 90/Die Grünen"}
    texts = {text for name, purpose, _ in BARRED for text in (name, purpose)} | umlauts
    plain = Record("one", "main", TODAY, Decimal("-30.00"), "OTHER_SPENDING")
    barred = [text for text in sorted(texts) if not load_barred_inputs().remove([structs.replace(plain, purpose=text)])]
    assert len(barred) > len(BARRED) / 2
    assert umlauts <= set(barred)
    for text in barred:
        for write in FORMS:
            assert load_barred_inputs().remove([structs.replace(plain, purpose=write(text))]) == [], write(text)


# Soft hyphen, zero-width space, (non-)joiner, word joiner, byte order mark, grapheme joiner, variation selector.
INVISIBLE = ["\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u034f", "\ufe0f"]


@pytest.mark.parametrize("sign", INVISIBLE, ids=[f"U+{ord(sign):04X}" for sign in INVISIBLE])
def test_a_word_is_barred_with_invisible_characters_between_its_letters_or_for_its_blanks(sign):
    plain = Record("one", "main", TODAY, Decimal("-30.00"), "OTHER_SPENDING")
    words = ["SPD", "CSU", "IG Metall", "ver.di", "Klinik", "Apotheke", "Kist", "Einbürgerung", "Zakat", "C-Date"]
    for word in words:
        written = {word.replace(" ", sign), f"{word[:2]}{sign}{word[2:]}", sign.join(word), f"{sign}{word}{sign}"}
        for text in written:
            assert load_barred_inputs().remove([structs.replace(plain, purpose=f"Beitrag {text} 2026")]) == [], ascii(
                text
            )
    for text in (f"Kirch{sign}ner GmbH", f"Ra{sign}dio", f"Beitrag{sign}2026"):
        record = structs.replace(plain, purpose=text)
        assert load_barred_inputs().remove([record]) == [record]


def test_a_barred_booking_is_barred_whatever_category_the_tagger_gives_it():
    record = tag("IG Metall", "Beitrag Oktober", "-32.00")
    for category in ("SERVICES_OTHER", "OTHER_SPENDING", "BANKFINANCE_OTHER", "SHOPPING_OTHER"):
        assert load_barred_inputs().remove([structs.replace(record, category=category)]) == []


@pytest.mark.parametrize(("name", "purpose", "amount", "category"), ALLOWED)
def test_wages_rents_loans_and_names_that_only_sound_like_it_count(name, purpose, amount, category):
    record = structs.replace(tag(name, purpose, amount), category=category)
    assert load_barred_inputs().remove([record]) == [record]


def test_every_name_in_the_list_is_a_category_or_an_insurance_type():
    barred = load_barred_inputs()
    categories = set(TREES[CATEGORIES].items)
    types = set(TREES[INSURANCE_TYPES].items)
    for beginning in (*barred.categories, *barred.exempt):
        assert any(name.startswith(beginning) for name in categories), beginning
    for beginning in (*barred.insurance_types, *barred.received_insurance_types):
        assert any(name.startswith(beginning) for name in types), beginning


def test_of_a_booking_that_is_split_the_barred_parts_are_removed():
    whole = Record("shop", "main", TODAY, Decimal("-50.00"), "LIVING_CONSUMABLES")
    parts = (Decimal("-30.00"), Decimal("-20.00"))
    split = structs.replace(whole, part_amounts=parts, part_categories=("LIVING_CONSUMABLES", "HEALTH_CONSUMABLES"))
    [kept] = load_barred_inputs().remove([split])
    assert (kept.amount, kept.part_amounts, kept.part_categories) == (parts[0], parts[:1], ("LIVING_CONSUMABLES",))
    barred = structs.replace(whole, part_amounts=parts, part_categories=("HEALTH_SERVICES", "HEALTH_CONSUMABLES"))
    assert load_barred_inputs().remove([barred]) == []


added = st.lists(
    st.tuples(st.sampled_from(BARRED), st.integers(0, 1500), st.integers(0, 9), st.sampled_from([1, 3, 90])),
    max_size=12,
)


@many_examples(48)
@given(st.sampled_from(["berufseinstieg", "rente"]), added, st.randoms(use_true_random=False))
def test_shuffling_adding_and_removing_barred_bookings_changes_no_byte_of_the_document(login, added, random):
    """Also such ones that repeat each month, that are large, and that are older than all others."""
    records, accounts, _, _ = read_person(login)
    extra = []
    for (name, purpose, amount), age, account, factor in added:
        value = str(Decimal(amount) * factor)
        day = TODAY - timedelta(days=age)
        record = tag(name, purpose, value, day, len(extra))
        extra.append(structs.replace(record, account=accounts[account % len(accounts)].id))
    chosen = [*records, *extra]
    barred = {record.id for record in chosen} - {record.id for record in load_barred_inputs().remove(chosen)}
    gone = {name for name in sorted(barred) if random.random() < 0.5}
    left = [record for record in chosen if record.id not in gone]
    random.shuffle(left)
    assert write_file(login, left) == write_allowed(login)
