"""Texts in other languages: complete, unambiguous, and the same whatever the pieces of an answer are."""

import asyncio
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.analysis.tagging import list_partners
from kontor.analysis.trees import TREES, list_items, make_own_tree
from kontor.domain.own_categories import OwnCategory
from kontor.domain.payments import PaymentState
from kontor.domain.schedules import StandingAction
from kontor.wire import cashflow, consents, form_sessions, legacy_transfers, messages, payment_messages
from kontor.wire.encoding import encode_json
from kontor.wire.tags import show_item
from kontor.wire.translations import LANGUAGES, load_texts, translate, translate_pieces

OTHERS = LANGUAGES[1:]
TREE_TEXTS = [
    text
    for tree in (*TREES.values(), make_own_tree([]))
    for thing in (tree, *(item for item in list_items(tree) if item.partner is None))
    for text in (thing.name, thing.description)
    if text and not text.isdecimal()
]


def list_message_texts():
    yield from (text for _, _, text in messages.TEXTS.values())
    yield from (text for _, _, text, _ in consents.STATES.values())
    yield from (text for _, text in form_sessions._MESSAGES.values())
    yield payment_messages.PAYEE_TEXT
    fixed = (
        consents.WRONG_TAN,
        legacy_transfers.TAN_NEEDED,
        payment_messages.DEBITS_NOT_ALLOWED,
        payment_messages.DUPLICATE,
    )
    yield from (message.message for message in fixed)
    payments = [
        SimpleNamespace(debit=None, standing=None),
        *(SimpleNamespace(debit=None, standing=SimpleNamespace(action=action)) for action in StandingAction),
        *(SimpleNamespace(debit="", standing=None, is_bulk=is_bulk) for is_bulk in (True, False)),
    ]
    for payment in payments:
        for state in payment_messages.OUTCOMES:
            payment.state = PaymentState(state)
            yield payment_messages.show_outcome(payment).message
        for failure in payment_messages.FAILURES:
            payment.failure, payment.detail = failure, None
            yield payment_messages.show_failure(payment).message
    for _, text in payment_messages.REFUSALS.values():
        yield from (text, payment_messages.name_standing_order(text), payment_messages.name_debits(text))


@pytest.mark.parametrize("language", OTHERS)
def test_every_name_of_a_tag_and_every_message_has_a_text(language):
    known = load_texts(language)
    names = [text for pair in cashflow._AGGREGATE_NAMES.values() for text in pair]
    shown = {*TREE_TEXTS, *names, *list_message_texts(), "Kontoumsatz", "Kunde"}
    assert sorted(shown - set(known)) == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_text_about_orders_has_no_german_word_left(language):
    left = [text for text in load_texts(language).values() if any(word in text for word in ("Überweis", "Lastschrift"))]
    assert left == []


@pytest.mark.parametrize("language", OTHERS)
def test_no_name_of_a_partner_or_a_group_is_taken_for_a_text(language):
    names = {name for partner in list_partners() for name in (partner.name, partner.group)}
    assert names & set(load_texts(language)) == set()


@pytest.mark.parametrize("language", OTHERS)
def test_no_text_contains_where_pieces_are_cut(language):
    assert [text for text in load_texts(language) if "}" in text] == []


def show(name, description=""):
    own = OwnCategory(7, "X_ABCDEFGHJKLM", name, "LIVING_GROCERIES", description)
    tree = make_own_tree([own])
    return encode_json(show_item(tree, tree.items[own.system_name]))


def test_names_of_own_categories_stay_as_their_owners_wrote_them():
    translated = translate(show("Lebensmittel"), "en")
    assert b'"displayName":"Lebensmittel","systemId":7' in translated
    assert b'"displayName":"Own categories"' in translated


def test_only_names_descriptions_and_messages_are_translated():
    tree = TREES["CATEGORIES"]
    item = show_item(tree, tree.items["LIVING_GROCERIES"])
    row = {"verwendungszweck": '{"displayName":"Lebensmittel"}', "gegenkontoInhaber": "Lebensmittel", "tag": item}
    translated = translate(encode_json(row), "en")
    assert translated.count(b"Lebensmittel") == 2
    assert b'"displayName":"Groceries","systemId":101,"systemName":"LIVING_GROCERIES"' in translated


@given(st.lists(st.integers(0, 4000), max_size=30))
def test_an_answer_in_pieces_reads_as_the_whole_one(cuts):
    tree = TREES["CATEGORIES"]
    items = [show_item(tree, item) for item in list(tree.items.values())[:6]]
    body = b"[" + b",".join([*map(encode_json, items), show("Miete", "a } in a text")]) + b"]"
    places = sorted({0, len(body), *(min(cut, len(body)) for cut in cuts)})

    async def send():
        for start, end in pairwise(places):
            yield body[start:end]

    async def join():
        return b"".join([piece async for piece in translate_pieces(send(), "en")])

    assert asyncio.run(join()) == translate(body, "en")
