"""Generated histories against an oracle that knows the truth: nothing lost, nothing doubled, ids stable.

`./dev bench --merging` runs a hundred thousand of them; what is assumed is said there.
"""

from benchmarks.merging.histories import BEHAVIOURS, make_history
from benchmarks.merging.pages import score_piece
from benchmarks.merging.scoring import play
from hypothesis import given
from hypothesis import strategies as st

from many_examples import many_examples

HISTORIES = 300


def test_every_true_booking_is_stored_once_and_keeps_its_id():
    score = score_piece(0, HISTORIES)
    assert (score.histories, score.wrong) == (HISTORIES, [])
    assert (score.lost, score.doubled, score.confused, score.alarms) == (0, 0, 0, 0)
    assert set(score.behaviours) == set(BEHAVIOURS), "each behaviour of banks was played"


@many_examples(60)
@given(st.integers(0, 10**9))
def test_any_history_ends_with_the_truth(seed):
    score, _ = play(make_history(seed))
    assert score.is_right, score


@many_examples(25)
@given(st.integers(0, 10**9))
def test_what_was_delivered_last_changes_nothing_when_it_comes_again(seed):
    history = make_history(seed)
    _, account = play(history)
    before = dict(account.rows)
    account.take(history.deliveries[-1], history)
    assert account.rows == before


def test_the_model_finds_the_faults_of_the_rule_before():
    """Or it would prove nothing."""
    score = score_piece(400, 500, is_former=True)
    assert score.lost > 0
    assert score.doubled > 0
    assert score.confused > 0
