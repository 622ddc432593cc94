"""Sentences of the API, told again in the page's language."""

import pytest

from kontor.console.sentences import Sentences, fill_text, read_system_name
from kontor.pages.texts import Texts

TEXTS = Texts(
    "de", {"room.paid": "{count} Zahlungen an {who}.", "room.paid_one": "Eine Zahlung an {who}.", "room.any": "{who}!"}
)
KNOWN = Sentences("room", {"paid": "{count} payments to {who}", "any": "{who} (again)"}, {"count": r"\S+"})


def show(name, value):
    return str(int(value)) if name == "count" else value.title()


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("3 payments to somebody", "3 Zahlungen an Somebody."),
        ("1 payments to somebody", "Eine Zahlung an Somebody."),
        ("x payments to y (again)", "X Payments To Y!"),  # no number: not that sentence, but another
        ("3 payments", None),
        ("3 payments to {count}", "3 Zahlungen an {Count}."),  # a value is never a placeholder
        ("3 payments to somebody (again)?", "3 Zahlungen an Somebody (Again)?."),
        ("again", None),  # the signs of a sentence are no pattern
    ],
)
def test_the_first_sentence_whose_values_make_sense_is_told(sentence, told):
    assert KNOWN.tell(sentence, TEXTS, show) == told


def test_there_is_no_text_for_what_nobody_wrote_down():
    assert fill_text(TEXTS, "room", "other", {}) is None
    assert fill_text(TEXTS, "room", "any", {"count": "1", "who": "x"}) == "x!"


def test_a_system_name_is_read_as_words():
    assert read_system_name("STADTWERKE_KIEL") == "Stadtwerke Kiel"
