"""Prints `docs/sca-states.md` from the state machine and from what each state says on the wire.

python scripts/print_sca_states.py > docs/sca-states.md
"""

from kontor.domain.sca_machine import (
    FITTING,
    MAX_WRONG_TANS,
    AnswerKind,
    Reaction,
    ScaPosition,
    ScaState,
    advance,
    count_tan,
)
from kontor.wire.consents import STATES, WRONG_TAN

HEAD = f"""# States of strong customer authentication

<!-- Printed by scripts/print_sca_states.py from the machine itself. Do not edit. -->

One machine (`domain/sca_machine.py`) serves accesses, renewals and payments, whether the API or the web form drives it.
The user's answer must fit the open state, else it is refused with 409 and the current status; the bank's reaction to it
leads to the next state. Closed states lead nowhere.

A TAN is counted before the bank is asked, and taken back when it was right: {MAX_WRONG_TANS} wrong ones end the
dialogue, whatever happens in between.
"""
ANSWERS = {
    AnswerKind.METHOD: "`chosenScaMethodId`",
    AnswerKind.MEDIUM: "`chosenScaMedia`",
    AnswerKind.TAN: "`scaAuthenticationData` (TAN)",
    AnswerKind.CONFIRMED: "`{}` or `poll`",
    AnswerKind.RETURNED: "`scaAuthenticationData` (query string)",
    AnswerKind.CANCEL: "`cancel`",
}


def render() -> str:
    parts = [HEAD, _states(), _answers(), _transitions(), _diagram()]
    return "\n".join(parts)


def _states() -> str:
    lines = ["## States", "", "| State | Message | Level | Relations besides `self` | Open |", "|---|---|---|---|---|"]
    for state in ScaState:
        level, code, _, relations = STATES[state]
        offered = ", ".join(f"`{relation}`" for relation in relations) or "none"
        lines.append(f"| `{state}` | `{code}` | {level} | {offered} | {'yes' if state.is_open else 'no'} |")
    lines += [
        "",
        f"After a wrong TAN `{WRONG_TAN.code}` ({WRONG_TAN.level}) stands before the state's own message.",
        "",
    ]
    return "\n".join(lines)


def _answers() -> str:
    lines = ["## Which answer fits", "", f"| State | {' | '.join(ANSWERS.values())} |", f"|---|{'---|' * len(ANSWERS)}"]
    for state in ScaState:
        cells = ["yes" if kind in FITTING[state] else "409" for kind in ANSWERS]
        lines.append(f"| `{state}` | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _after(state: ScaState, reaction: Reaction) -> str:
    """The next state; two where it depends on the number of attempts."""
    reached = []
    for tries in range(MAX_WRONG_TANS):
        position = ScaPosition(state, tries)
        if state is ScaState.TAN:
            position = count_tan(position)
        following = advance(position, reaction).state
        if following not in reached:
            reached.append(following)
    return ", then ".join(f"`{state}`" for state in reached)


def _transitions() -> str:
    lines = [
        "## What follows from the bank's reaction",
        "",
        f"| State | {' | '.join(f'`{reaction}`' for reaction in Reaction)} |",
        f"|---|{'---|' * len(Reaction)}",
    ]
    lines += [
        f"| `{state}` | {' | '.join(_after(state, reaction) for reaction in Reaction)} |"
        for state in ScaState
        if state.is_open
    ]
    closed = ", ".join(f"`{state}`" for state in ScaState if not state.is_open)
    return "\n".join([*lines, "", f"Closed, and final: {closed}.", ""])


def _diagram() -> str:
    """Every way forward; the tables above have the ways back too."""
    lines = ["## Picture", "", "```mermaid", "stateDiagram-v2", "  [*] --> METHOD"]
    order = list(ScaState)
    repeating = {Reaction.WRONG_TAN, Reaction.ASKS_CONFIRMATION}
    for state in (state for state in order if state.is_open):
        for reaction in Reaction:
            start = count_tan(ScaPosition(state)) if state is ScaState.TAN else ScaPosition(state)
            following = advance(start, reaction).state
            is_forward = order.index(following) > order.index(state) and reaction not in (
                Reaction.WRONG_TAN,
                Reaction.NO_METHOD,
            )
            if is_forward or (following is state and reaction in repeating):
                lines.append(f"  {state} --> {following}: {reaction}")
    lines += [f"  TAN --> FAILED: WRONG_TAN, {MAX_WRONG_TANS} times", "  METHOD --> NO_METHOD: NO_METHOD"]
    lines += [f"  {state} --> [*]" for state in order if not state.is_open]
    return "\n".join([*lines, "```", ""])


if __name__ == "__main__":
    print(render(), end="")
