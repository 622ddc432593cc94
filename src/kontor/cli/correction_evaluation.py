"""Replaying labelled histories of persons who correct what is wrong."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from kontor.analysis.scoring.correction_scores import Replay, replay
from kontor.analysis.scoring.tag_scores import Labelled
from kontor.analysis.tagging import load_tagger
from kontor.cli.tag_evaluation import read_files
from kontor.domain.errors import NotFoundError

NO_DAY = datetime.min.replace(tzinfo=UTC)
HEADINGS = ("person", "bookings", "corrections", "mistakes after them", "gone", "spoilt", "learnt", "of these right")


def replay_files(files: Sequence[Path], most: int) -> list[Replay]:
    """Each person's bookings in the order of days; bookings of one day in that of the file."""
    histories: dict[str, list[Labelled]] = {}
    for row in read_files(files):
        if row.person:
            histories.setdefault(row.person, []).append(row)
    if not histories:
        raise NotFoundError("No labelled transaction says whose it is (`person`).")
    for history in histories.values():
        history.sort(key=lambda row: row.transaction.booked_at or NO_DAY)
    return [replay(person, history, load_tagger(), most) for person, history in histories.items()]


def list_replays(replays: Sequence[Replay]) -> list[tuple[str | int, ...]]:
    """A row per person, and their sum."""
    rows = [
        (found.bookings, found.corrections, found.mistakes, found.gone, found.spoilt, found.learnt, found.learnt_right)
        for found in replays
    ]
    named: list[tuple[str | int, ...]] = [(found.person, *row) for found, row in zip(replays, rows, strict=True)]
    return [*named, ("all", *(sum(column) for column in zip(*rows, strict=True)))]
