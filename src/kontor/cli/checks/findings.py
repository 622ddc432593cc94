"""What a check found."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"  # works, but somebody should look at it
    PROBLEM = "problem"  # does not work


@dataclass(frozen=True, slots=True)
class Finding:
    """`subject` is a setting or a part; `text` says what was found, and what to do about it."""

    subject: str
    state: State
    text: str


def ok(subject: str, text: str) -> Finding:
    return Finding(subject, State.OK, text)


def warning(subject: str, text: str) -> Finding:
    return Finding(subject, State.WARNING, text)


def problem(subject: str, text: str) -> Finding:
    return Finding(subject, State.PROBLEM, text)
