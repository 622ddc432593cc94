"""The state machine of strong customer authentication: every cell, written out by hand, and random walks."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.sca_machine import (
    FITTING,
    MAX_WRONG_TANS,
    AnswerKind,
    Reaction,
    ScaPosition,
    ScaState,
    advance,
    close_spent,
    count_tan,
    fits,
)
from kontor.wire.consents import STATES
from many_examples import many_examples

ROOT = Path(__file__).parents[2]

# Which answer fits which state: a row per state, a column per answer.
ANSWERS = """
                METHOD  MEDIUM  TAN  CONFIRMED  RETURNED  CANCEL
METHOD          yes     -       -    -          -         yes
MEDIUM          -       yes     -    -          -         yes
TAN             -       -       yes  -          -         yes
CONFIRMATION    -       -       -    yes        -         yes
REDIRECT        -       -       -    -          yes       yes
GIVEN           -       -       -    -          -         -
FAILED          -       -       -    -          -         -
NO_METHOD       -       -       -    -          -         -
"""

# Where each reaction of the bank leads. `TAN/n` is the state TAN with n attempts counted (this one included).
REACTIONS = """
              ASKS_METHOD ASKS_MEDIUM ASKS_TAN ASKS_CONFIRMATION ASKS_REDIRECT ACCEPTED WRONG_TAN NO_METHOD   REFUSED
METHOD/0      METHOD/0    MEDIUM/0    TAN/0    CONFIRMATION/0    REDIRECT/0    GIVEN/0  FAILED/0  NO_METHOD/0 FAILED/0
METHOD/2      METHOD/2    MEDIUM/2    TAN/2    CONFIRMATION/2    REDIRECT/2    GIVEN/2  FAILED/2  NO_METHOD/2 FAILED/2
MEDIUM/0      METHOD/0    MEDIUM/0    TAN/0    CONFIRMATION/0    REDIRECT/0    GIVEN/0  FAILED/0  NO_METHOD/0 FAILED/0
MEDIUM/1      METHOD/1    MEDIUM/1    TAN/1    CONFIRMATION/1    REDIRECT/1    GIVEN/1  FAILED/1  NO_METHOD/1 FAILED/1
TAN/0         METHOD/0    MEDIUM/0    TAN/0    CONFIRMATION/0    REDIRECT/0    GIVEN/0  TAN/0     NO_METHOD/0 FAILED/0
TAN/1         METHOD/0    MEDIUM/0    TAN/0    CONFIRMATION/0    REDIRECT/0    GIVEN/0  TAN/1     NO_METHOD/1 FAILED/1
TAN/2         METHOD/1    MEDIUM/1    TAN/1    CONFIRMATION/1    REDIRECT/1    GIVEN/1  TAN/2     NO_METHOD/2 FAILED/2
TAN/3         METHOD/2    MEDIUM/2    TAN/2    CONFIRMATION/2    REDIRECT/2    GIVEN/2  FAILED/3  NO_METHOD/3 FAILED/3
TAN/4         METHOD/3    MEDIUM/3    TAN/3    CONFIRMATION/3    REDIRECT/3    GIVEN/3  FAILED/4  NO_METHOD/4 FAILED/4
CONFIRMATION/0 METHOD/0   MEDIUM/0    TAN/0    CONFIRMATION/0    REDIRECT/0    GIVEN/0  FAILED/0  NO_METHOD/0 FAILED/0
CONFIRMATION/1 METHOD/1   MEDIUM/1    TAN/1    CONFIRMATION/1    REDIRECT/1    GIVEN/1  FAILED/1  NO_METHOD/1 FAILED/1
REDIRECT/0    METHOD/0    MEDIUM/0    TAN/0    CONFIRMATION/0    REDIRECT/0    GIVEN/0  FAILED/0  NO_METHOD/0 FAILED/0
REDIRECT/2    METHOD/2    MEDIUM/2    TAN/2    CONFIRMATION/2    REDIRECT/2    GIVEN/2  FAILED/2  NO_METHOD/2 FAILED/2
GIVEN/0       GIVEN/0     GIVEN/0     GIVEN/0  GIVEN/0           GIVEN/0       GIVEN/0  GIVEN/0   GIVEN/0     GIVEN/0
GIVEN/2       GIVEN/2     GIVEN/2     GIVEN/2  GIVEN/2           GIVEN/2       GIVEN/2  GIVEN/2   GIVEN/2     GIVEN/2
FAILED/0      FAILED/0    FAILED/0    FAILED/0 FAILED/0          FAILED/0      FAILED/0 FAILED/0  FAILED/0    FAILED/0
FAILED/3      FAILED/3    FAILED/3    FAILED/3 FAILED/3          FAILED/3      FAILED/3 FAILED/3  FAILED/3    FAILED/3
NO_METHOD/0   NO_METHOD/0 NO_METHOD/0 NO_METHOD/0 NO_METHOD/0    NO_METHOD/0   NO_METHOD/0 NO_METHOD/0 NO_METHOD/0 NO_METHOD/0
"""  # noqa: E501

# What the interface and its decisions say about each state.
WIRE = {
    "METHOD": ("INFO", "BA3010", {"set_method", "cancel"}),
    "MEDIUM": ("INFO", "BA3020", {"set_medium", "cancel"}),
    "TAN": ("INFO", "BA3030", {"authenticate", "cancel"}),
    "CONFIRMATION": ("INFO", "BA3030", {"authenticate", "poll", "cancel"}),
    "REDIRECT": ("INFO", "BA3005", {"redirect_url", "authenticate", "cancel"}),
    "GIVEN": ("INFO", "BA3050", {"get_bankzugang"}),
    "FAILED": ("ERROR", "BA3040", set()),
    "NO_METHOD": ("ERROR", "BA3060", set()),
}


def read_table(text: str) -> list[tuple[str, str, str]]:
    """(row, column, cell) of every cell."""
    columns, *rows = [line.split() for line in text.strip().splitlines()]
    assert all(len(row) == len(columns) + 1 for row in rows), rows
    return [(row[0], column, cell) for row in rows for column, cell in zip(columns, row[1:], strict=True)]


def position(text: str) -> ScaPosition:
    state, _, count = text.partition("/")
    return ScaPosition(ScaState(state), int(count))


def test_the_tables_of_this_test_have_every_state_answer_and_reaction():
    answers, reactions = read_table(ANSWERS), read_table(REACTIONS)
    assert {(row, column) for row, column, _ in answers} == {(str(s), str(a)) for s in ScaState for a in AnswerKind}
    assert {(row.partition("/")[0], column) for row, column, _ in reactions} == {
        (str(s), str(r)) for s in ScaState for r in Reaction
    }
    assert set(WIRE) == set(ScaState) == set(FITTING) == set(STATES)


@pytest.mark.parametrize(("state", "answer", "cell"), read_table(ANSWERS))
def test_answer_fits_state(state, answer, cell):
    assert fits(ScaState(state), AnswerKind(answer)) is (cell == "yes")


@pytest.mark.parametrize(("before", "reaction", "after"), read_table(REACTIONS))
def test_reaction_leads_to(before, reaction, after):
    assert advance(position(before), Reaction(reaction)) == position(after)


@pytest.mark.parametrize("state", ScaState)
def test_what_a_state_says_on_the_wire(state):
    level, code, text, relations = STATES[state]
    assert (level, code, set(relations)) == WIRE[state]
    assert text
    assert state.is_open is ("cancel" in relations)


@pytest.mark.parametrize(
    ("before", "after"),
    [("TAN/0", "TAN/0"), ("TAN/2", "TAN/2"), ("TAN/3", "FAILED/3"), ("TAN/4", "FAILED/4"), ("METHOD/3", "METHOD/3"),
     ("CONFIRMATION/3", "CONFIRMATION/3"), ("GIVEN/3", "GIVEN/3"), ("FAILED/3", "FAILED/3")],
)  # fmt: skip
def test_a_dialogue_whose_last_attempt_was_lost_has_no_other(before, after):
    assert close_spent(position(before)) == position(after)


def test_counting_changes_nothing_but_the_count():
    assert count_tan(ScaPosition(ScaState.TAN, 1)) == ScaPosition(ScaState.TAN, 2)


moves = st.lists(st.tuples(st.sampled_from(AnswerKind), st.sampled_from(Reaction), st.booleans()), max_size=40)


@many_examples(500)
@given(moves)
def test_random_walks(walk):
    """As the service walks: an answer that does not fit never reaches the bank; a process may die at the bank."""
    here = ScaPosition(ScaState.METHOD)
    wrong, unaccepted = 0, 0
    for answer, reaction, dies in walk:
        here = close_spent(here)
        if not fits(here.state, answer):
            continue
        was_tan = answer is AnswerKind.TAN
        if was_tan:
            here = count_tan(here)
            unaccepted += 1
            assert here.wrong_tans <= MAX_WRONG_TANS
        if dies:
            continue
        if answer is AnswerKind.CANCEL:
            reaction = Reaction.REFUSED
        before, here = here, advance(here, reaction)
        wrong += was_tan and reaction is Reaction.WRONG_TAN
        if was_tan and reaction not in (Reaction.WRONG_TAN, Reaction.REFUSED, Reaction.NO_METHOD):
            unaccepted -= 1
        assert wrong <= MAX_WRONG_TANS
        assert unaccepted <= MAX_WRONG_TANS, "TANs at the bank that it did not accept"
        assert here.wrong_tans == unaccepted
        assert before.state.is_open
        if wrong == MAX_WRONG_TANS:
            assert here.state is ScaState.FAILED
        if not here.state.is_open:
            assert not any(fits(here.state, kind) for kind in AnswerKind)
            assert all(advance(here, later) == here for later in Reaction)


def test_the_page_about_states_is_up_to_date():
    """Print it again: `python scripts/print_sca_states.py > docs/sca-states.md`."""
    source = importlib.util.spec_from_file_location("print_sca_states", ROOT / "scripts" / "print_sca_states.py")
    assert source is not None
    script = importlib.util.module_from_spec(source)
    assert source.loader is not None
    source.loader.exec_module(script)
    assert (ROOT / "docs" / "sca-states.md").read_text(encoding="utf-8") == script.render()
