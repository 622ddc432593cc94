"""The state machine of strong customer authentication: one for accesses, renewals and payments, whoever drives it.

`fits` says whether an answer fits the open step; `advance` says what follows from the bank's reaction to it. Both are
tables without I/O: `scripts/print_sca_states.py` prints `docs/sca-states.md` from them, and the tests walk through
every cell.
"""

from dataclasses import dataclass
from enum import StrEnum

MAX_WRONG_TANS = 3


class ScaState(StrEnum):
    METHOD = "METHOD"
    MEDIUM = "MEDIUM"
    TAN = "TAN"
    CONFIRMATION = "CONFIRMATION"
    REDIRECT = "REDIRECT"
    GIVEN = "GIVEN"
    FAILED = "FAILED"
    NO_METHOD = "NO_METHOD"

    @property
    def is_open(self) -> bool:
        """Is an answer of the user awaited?"""
        return self not in (ScaState.GIVEN, ScaState.FAILED, ScaState.NO_METHOD)


class AnswerKind(StrEnum):
    METHOD = "METHOD"
    MEDIUM = "MEDIUM"
    TAN = "TAN"
    CONFIRMED = "CONFIRMED"
    RETURNED = "RETURNED"
    CANCEL = "CANCEL"


class Reaction(StrEnum):
    """How the bank reacted, reduced to what the machine needs to know."""

    ASKS_METHOD = "ASKS_METHOD"
    ASKS_MEDIUM = "ASKS_MEDIUM"
    ASKS_TAN = "ASKS_TAN"
    ASKS_CONFIRMATION = "ASKS_CONFIRMATION"
    ASKS_REDIRECT = "ASKS_REDIRECT"
    ACCEPTED = "ACCEPTED"
    WRONG_TAN = "WRONG_TAN"
    NO_METHOD = "NO_METHOD"
    REFUSED = "REFUSED"


# Which answers fit which state. Cancelling is always possible while anything is open.
FITTING: dict[ScaState, frozenset[AnswerKind]] = {
    ScaState.METHOD: frozenset((AnswerKind.METHOD, AnswerKind.CANCEL)),
    ScaState.MEDIUM: frozenset((AnswerKind.MEDIUM, AnswerKind.CANCEL)),
    ScaState.TAN: frozenset((AnswerKind.TAN, AnswerKind.CANCEL)),
    ScaState.CONFIRMATION: frozenset((AnswerKind.CONFIRMED, AnswerKind.CANCEL)),
    ScaState.REDIRECT: frozenset((AnswerKind.RETURNED, AnswerKind.CANCEL)),
    ScaState.GIVEN: frozenset(),
    ScaState.FAILED: frozenset(),
    ScaState.NO_METHOD: frozenset(),
}

_FOLLOWING = {
    Reaction.ASKS_METHOD: ScaState.METHOD,
    Reaction.ASKS_MEDIUM: ScaState.MEDIUM,
    Reaction.ASKS_TAN: ScaState.TAN,
    Reaction.ASKS_CONFIRMATION: ScaState.CONFIRMATION,
    Reaction.ASKS_REDIRECT: ScaState.REDIRECT,
    Reaction.ACCEPTED: ScaState.GIVEN,
    Reaction.NO_METHOD: ScaState.NO_METHOD,
    Reaction.REFUSED: ScaState.FAILED,
}


# Reactions to a TAN that say nothing against it.
_ACCEPTING = frozenset(_FOLLOWING) - {Reaction.REFUSED, Reaction.NO_METHOD}


@dataclass(frozen=True, slots=True)
class ScaPosition:
    """Where a dialogue stands. `wrong_tans` counts attempts, each before the bank is asked."""

    state: ScaState
    wrong_tans: int = 0


def fits(state: ScaState, answer: AnswerKind) -> bool:
    return answer in FITTING[state]


def advance(position: ScaPosition, reaction: Reaction) -> ScaPosition:
    """The position after the bank reacted. From a closed state nothing leads anywhere.

    A TAN that was right is taken back from the count; those that were wrong before stay counted to the end.
    """
    state, wrong_tans = position.state, position.wrong_tans
    if not state.is_open:
        return position
    if reaction is Reaction.WRONG_TAN:
        may_retry = state is ScaState.TAN and wrong_tans < MAX_WRONG_TANS
        return ScaPosition(ScaState.TAN if may_retry else ScaState.FAILED, wrong_tans)
    if state is ScaState.TAN and reaction in _ACCEPTING:
        wrong_tans = max(0, wrong_tans - 1)
    return ScaPosition(_FOLLOWING[reaction], wrong_tans)


def count_tan(position: ScaPosition) -> ScaPosition:
    """Counted and committed before the bank is asked: no race gives a fourth try. A right TAN takes it back."""
    return ScaPosition(position.state, position.wrong_tans + 1)


def close_spent(position: ScaPosition) -> ScaPosition:
    """A process died while the bank had the last attempt: nobody knows how it went, and there is no fourth."""
    if position.state is ScaState.TAN and position.wrong_tans >= MAX_WRONG_TANS:
        return ScaPosition(ScaState.FAILED, position.wrong_tans)
    return position
