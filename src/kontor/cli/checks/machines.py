"""This machine: room on disks, and the number of files that a process may open."""

import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kontor.cli.checks.findings import Finding, ok, problem, warning
from kontor.cli.processes import OPEN_FILES
from kontor.config import Settings

MIN_BYTES, COMFORTABLE_BYTES = 500_000_000, 5_000_000_000


def check_machine(settings: Settings) -> Iterator[Finding]:
    if settings.database_url is None or settings.is_embedded:
        yield _check_data(settings.data)
        yield _check_room("disk of KONTOR_DATA", settings.data)
    yield _check_room("disk of temporary files", Path(tempfile.gettempdir()))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < OPEN_FILES:
        yield warning("open files", f"A process may open {hard} files; an API process wants {OPEN_FILES}.")
    else:
        yield ok("open files", "The limit is high enough.")


def _check_data(folder: Path) -> Finding:
    place = _find_existing(folder)
    if not os.access(place, os.W_OK | os.X_OK):
        return problem("KONTOR_DATA", f"{place} is not writable for this user.")
    return ok("KONTOR_DATA", f"{folder} holds the embedded database." if folder.exists() else f"{folder} can be made.")


def _check_room(subject: str, folder: Path) -> Finding:
    free = shutil.disk_usage(_find_existing(folder)).free
    text = f"{free / 1e9:.1f} GB are free at {folder}."
    if free < MIN_BYTES:
        return problem(subject, f"{text} Make room: without it PostgreSQL stops writing.")
    return warning(subject, f"{text} Make room soon.") if free < COMFORTABLE_BYTES else ok(subject, text)


def _find_existing(folder: Path) -> Path:
    return next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
