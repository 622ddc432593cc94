"""What a user's corrections say about later bookings of the same kind, and about no others."""

import string
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tagging_rows import NOON, book, tag

from kontor.analysis.scoring.correction_scores import replay
from kontor.analysis.scoring.tag_scores import Gold, Labelled
from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.analysis.tagging.corrections import Corrections, Kind

CARD = "Kartenzahlung"
UNKNOWN_SHOP = book(-14.2, "MIRABELLENHOF OTTO//Wittstock/DE", None, CARD)


def learn(*corrected):
    return load_tagger().learn(corrected, NOBODY)


def apply(corrections, booking):
    [learnt] = load_tagger().apply(corrections, [booking], NOBODY)
    return None if learnt is None else learnt.category


@pytest.mark.parametrize(
    "later",
    [
        book(-9.8, "MIRABELLENHOF OTTO//Wittstock/DE", None, CARD),
        book(-9.8, "MIRABELLENHOF OTTO WITTST", None, CARD),
        book(-120, "Mirabellenhof Otto GmbH", "Re 4711 vom 3.11.", "Überweisung"),
    ],
)
def test_a_correction_holds_for_later_bookings_of_the_same_shop(later):
    assert apply(learn((UNKNOWN_SHOP, "RECREATION_SPORTS")), later) == "RECREATION_SPORTS"


def test_a_correction_says_nothing_about_other_shops_refunds_and_shops_with_one_word_in_common():
    corrections = learn((UNKNOWN_SHOP, "RECREATION_SPORTS"))
    assert apply(corrections, book(-9.8, "MIRABELLENGARTEN BEHRENDT//Wittstock/DE", None, CARD)) is None
    assert apply(corrections, book(14.2, "MIRABELLENHOF OTTO//Wittstock/DE", None, CARD)) is None
    assert apply(corrections, book(-9.8, "OTTO", None, "Lastschrift")) is None


def test_a_correction_of_a_known_partner_leaves_alone_what_the_tagger_takes_for_something_else():
    car = book(-54, "Allianz Versicherungs-AG", "AS-0112334/221 KFZ-Versicherung Beitrag", "Lastschrift")
    home = book(-19, "Allianz Versicherungs-AG", "AS-9912334/118 Hausratversicherung", "Lastschrift")
    assert tag(car).partner == tag(home).partner
    assert tag(car).category != tag(home).category
    corrections = learn((car, "HOUSING_OTHER"))
    assert apply(corrections, car) == "HOUSING_OTHER"
    assert apply(corrections, home) is None


def test_bookings_that_a_payment_service_collects_are_told_apart_by_their_merchants():
    paypal = "PayPal (Europe)"
    first = book(-20, paypal, "1042 PP.5311.PP . MIRABELLENHOF, Ihr Einkauf bei MIRABELLENHOF", "Lastschrift")
    same = book(-31, paypal, "1077 PP.5311.PP . MIRABELLENHOF, Ihr Einkauf bei MIRABELLENHOF", "Lastschrift")
    other = book(-31, paypal, "1078 PP.5311.PP . ZWERGENLADEN, Ihr Einkauf bei ZWERGENLADEN", "Lastschrift")
    corrections = learn((first, "RECREATION_SPORTS"))
    assert apply(corrections, same) == "RECREATION_SPORTS"
    assert apply(corrections, other) is None


def test_the_latest_of_two_contradicting_corrections_holds():
    corrections = learn((UNKNOWN_SHOP, "RECREATION_HOBBY"), (UNKNOWN_SHOP, "RECREATION_SPORTS"))
    assert apply(corrections, UNKNOWN_SHOP) == "RECREATION_HOBBY"


def test_a_booking_before_the_corrected_one_stays_as_it_is():
    corrections = learn((UNKNOWN_SHOP, "RECREATION_SPORTS"))
    assert apply(corrections, replace(UNKNOWN_SHOP, booked_at=NOON - timedelta(days=1))) is None
    assert apply(corrections, replace(UNKNOWN_SHOP, booked_at=NOON + timedelta(days=1))) == "RECREATION_SPORTS"


def test_a_correction_that_the_tagger_would_have_made_changes_nothing():
    assert apply(learn((UNKNOWN_SHOP, tag(UNKNOWN_SHOP).category)), UNKNOWN_SHOP) is None


def test_a_replay_counts_what_is_gone_and_what_is_spoilt():
    wrong = "RECREATION_SPORTS" if tag(UNKNOWN_SHOP).category != "RECREATION_SPORTS" else "RECREATION_HOBBY"
    right = tag(UNKNOWN_SHOP).category
    history = [
        Labelled(str(number), UNKNOWN_SHOP, Gold((category,)), "anna")
        for number, category in enumerate([right, wrong, wrong, wrong, right])
    ]
    found = replay("anna", history, load_tagger(), most=1)
    assert (found.bookings, found.corrections, found.mistakes, found.gone, found.spoilt) == (5, 1, 2, 2, 1)
    assert (found.learnt, found.learnt_right) == (3, 2)


WORDS = st.lists(st.text(string.ascii_lowercase, min_size=2, max_size=5), max_size=4)
KINDS = st.builds(
    Kind,
    is_incoming=st.booleans(),
    name=WORDS.map(tuple),
    words=WORDS.map(frozenset),
    partner=st.sampled_from(["", "A", "B"]),
    category=st.sampled_from(["X", "Y"]),
    confidence=st.floats(0, 1),
)


@given(corrected=st.lists(st.tuples(KINDS, st.sampled_from(["X", "Y", "Z"])), max_size=6), kind=KINDS)
def test_what_is_learnt_was_said_by_the_user_about_the_same_direction_and_is_news(corrected, kind):
    learnt = Corrections(corrected).apply(kind)
    if learnt is not None:
        assert learnt.category != kind.category
        assert learnt.category in {said for other, said in corrected if other.is_incoming == kind.is_incoming}
        assert 0 < learnt.confidence < 1


@given(kind=KINDS, said=st.sampled_from(["X", "Y", "Z"]))
def test_the_same_booking_again_is_taken_for_what_the_user_said(kind, said):
    learnt = Corrections([(kind, said)]).apply(kind)
    if kind.name or kind.partner:
        assert (said if said != kind.category else None) == (None if learnt is None else learnt.category)
