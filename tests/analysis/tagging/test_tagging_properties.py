"""What holds for every tagging, whatever the booking."""

from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tagging_rows import book, tag

from kontor.analysis.tagging import NOBODY, OwnAccounts, list_partners, load_tagger
from kontor.analysis.tagging.columns import is_cut
from kontor.analysis.tagging.lexicons import EITHER_WAY, load_keywords, load_rules
from kontor.analysis.trees import TREES, find_item
from kontor.domain.tags import TAGGED_FIELDS
from kontor.domain.transactions import Transaction
from many_examples import many_examples

prove = many_examples(400)
NAMES = sorted({partner.name for partner in list_partners()})
WORDS = sorted({atom.replace("*", "") for keyword in load_keywords() for atom in keyword.atoms})
CODES = [
    "",
    "006",
    "083",
    "105",
    "106",
    "116",
    "117",
    "119",
    "152",
    "153",
    "156",
    "166",
    "181",
    "303",
    "330",
    "805",
    "814",
    "899",
]
PIECES = st.one_of(st.sampled_from(NAMES), st.sampled_from(WORDS), st.text(max_size=12))
TEXTS = st.lists(PIECES, max_size=5).map(" ".join)
IBANS = ["DE02120300000000202051", "DE02500105170137075030", "DE91100000000123456789"]
BOOKINGS = st.builds(
    book,
    st.decimals(-5000, 5000, places=2),
    st.none() | TEXTS,
    st.none() | TEXTS | TEXTS.map("EREF+1 MREF+2 CRED+DE93ZZZ00000078611 SVWZ+{}".format),
    st.none() | st.sampled_from(["Lastschrift", "KARTENZAHLUNG", "Überweisung", "Gutschrift", "LOHN  GEHALT", "xyz"]),
    st.none() | st.sampled_from(CODES),
    st.none() | st.sampled_from(IBANS),
    st.none() | TEXTS,
)
OWNS = st.sampled_from([NOBODY, OwnAccounts(frozenset(IBANS[:1]), frozenset(IBANS[1:2]), ("Jana Öztürk",))])
ONLY_INCOMING = {"INCOME", "OTHER_INCOME", "BANKFINANCE_CREDITINCOME", "SAVINGS_LIFEINSURANCE"}


@prove
@given(BOOKINGS, OWNS)
def test_the_four_tags_never_contradict_each_other(booking, own):
    found = tag(booking, own)
    is_insured = found.insurance_type != "UNRELATED_OTHER"
    assert is_insured == found.category.startswith("INSURANCE_")
    if is_insured:
        assert found.category == f"INSURANCE_{found.insurance_type.partition('_')[0]}"
    for tree, name in (
        ("CATEGORIES", found.category),
        ("INSURANCE_TYPES", found.insurance_type),
        ("BUSINESS_PARTNERS", found.partner),
        ("FREELANCER_CATEGORIES", found.freelancer_category),
    ):
        assert find_item(TREES[tree], name) is not None


@prove
@given(BOOKINGS, OWNS)
def test_a_category_fits_the_sign_as_the_readings_say(booking, own):
    category = tag(booking, own).category
    main = category.partition("_")[0]
    if booking.amount > 0:
        assert load_rules().mirror(category, True) == category or category in EITHER_WAY
    else:
        assert main not in ONLY_INCOMING
        assert category not in ONLY_INCOMING


@prove
@given(BOOKINGS, OWNS)
def test_confidences_are_probabilities_and_reasons_change_nothing(booking, own):
    found = tag(booking, own)
    explained, evidence = load_tagger().explain(booking, own)
    assert explained == found
    for value in (
        found.category_confidence,
        found.insurance_confidence,
        found.partner_confidence,
        found.freelancer_confidence,
    ):
        assert 0 <= value <= 1
    assert list(evidence) == sorted(evidence, key=lambda reason: (not reason.is_decisive, -reason.weight, reason.text))


@many_examples(60)
@given(st.lists(BOOKINGS, max_size=8))
def test_a_booking_is_tagged_alike_alone_and_among_others(bookings):
    assert load_tagger().tag(bookings, NOBODY) == [tag(booking) for booking in bookings]


def test_bookings_that_read_the_same_are_decided_once(monkeypatch):
    tagger = load_tagger()
    decided = []
    decide = tagger._decider.tag
    monkeypatch.setattr(
        tagger._decider, "tag", lambda reading, relation: (decided.append(1), decide(reading, relation))[1]
    )
    bookings = [book(-number, "REWE Markt GmbH", None, "KARTENZAHLUNG") for number in range(1, 6)]
    assert len(set(tagger.tag(bookings, NOBODY))) == len(decided) == 1


def test_bookings_that_differ_by_whose_account_it_is_are_decided_apart():
    own = OwnAccounts(frozenset(IBANS[:1]), frozenset(IBANS[1:2]))
    bookings = [book(-50, "Zwqxr Klmpf", "Danke", "Überweisung", None, iban) for iban in IBANS]
    found = load_tagger().tag([*bookings, *bookings], own)
    assert [tagging.category for tagging in found[:2]] == ["TRANSFER_OWN", "SAVINGS_ACCOUNT"]
    assert found[2].category not in ("TRANSFER_OWN", "SAVINGS_ACCOUNT")
    assert found[3:] == found[:3]


def spell_plain(text):
    for letter, plain in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss"), ("Ä", "Ae"), ("Ö", "Oe"), ("Ü", "Ue")):
        text = text.replace(letter, plain)
    return text


@prove
@given(st.sampled_from(NAMES), st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join))
def test_umlauts_and_upper_case_change_nothing(name, purpose):
    # A name that is just as long as statements allow may have lost its end; that is another test.
    assume(not is_cut(name) and not is_cut(spell_plain(name)))
    plain = tag(book(-20, spell_plain(name).upper(), spell_plain(purpose).upper(), "Lastschrift", "105"))
    given = tag(book(-20, name, purpose, "Lastschrift", "105"))
    assert (plain.category, plain.insurance_type) == (given.category, given.insurance_type)
    assert (plain.partner, plain.freelancer_category) == (given.partner, given.freelancer_category)


CUT_ROWS = [
    ("DEUTSCHE RENTENVERSICHERUNG BUND", "RENTE 05/26", 900, "INCOME_PENSION"),
    ("NORDDEUTSCHE HAUSVERWALTUNGSGESELLSCHAFT MBH", "HAUSGELD MAI", -300, "HOUSING_ANCILLARYCOSTS"),
    ("HALLESCHE KRANKENVERSICHERUNG A.G.", "ZAHNZUSATZVERSICHERUNG VERS.NR. 1", -30, "INSURANCE_HEALTH"),
    ("BUNDESAGENTUR FUER ARBEIT FAMILIENKASSE", "KINDERGELD 2 KINDER", 518, "INCOME_STATE_FAMILY"),
    ("ALTE LEIPZIGER LEBENSVERSICHERUNG A.G.", "PRIVATE RENTENVERSICHERUNG BEITRAG", -60, "INSURANCE_PROVISIONARY"),
]


@pytest.mark.parametrize("width", [27, 35])
@pytest.mark.parametrize(("name", "purpose", "amount", "category"), CUT_ROWS)
def test_truncated_names_and_words_cut_at_columns_change_nothing(width, name, purpose, amount, category):
    long = f"EREF+RG7146595-1MREF+M-22774607CRED+DE98ZZZ09999999999SVWZ+{purpose} VERTRAG 4711 KUNDENNUMMER 12345678"
    cut = " ".join(long[start : start + width].strip() for start in range(0, len(long), width))
    assert tag(book(amount, name, long)).category == category
    assert tag(book(amount, name[:width].strip(), cut)).category == category


OTHER_DAY = datetime(2020, 2, 29, 11, tzinfo=UTC)
UNREAD_FIELDS = {
    "currency": "CHF",
    "booked_at": OTHER_DAY,
    "value_at": OTHER_DAY,
    "prima_nota": "9310",
    "counterparty_bic": "MARKDEF1100",
    "bank_id": "4711",
    "is_pending": True,
    "channel": "camt.053",
}


@prove
@given(BOOKINGS, OWNS)
def test_tags_depend_on_the_tagged_fields_alone(booking, own):
    """A stored row whose other fields change keeps its tags: a new field must be put into one of the two."""
    assert {*TAGGED_FIELDS, *UNREAD_FIELDS} == {field.name for field in fields(Transaction)}
    assert tag(replace(booking, **UNREAD_FIELDS), own) == tag(booking, own)
