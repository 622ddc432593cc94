"""`kontor check`: try everything that an installation needs, and say what is wrong before customers meet it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kontor.cli.checks import (
    Finding,
    State,
    check_application,
    check_certificates,
    check_database,
    check_machine,
    check_master_key,
    check_networks,
    check_settings,
)
from kontor.cli.context import AsJson, say
from kontor.cli.output import show_rows
from kontor.config import Settings, read_settings


def check(
    *,
    all_banks: Annotated[
        bool, Parameter(negative="", help="Try every FinTS address, not only those of KONTOR_BANKS.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Try settings, files, certificates, addresses, database, clock and disk. Changes nothing. Exit 1: a problem."""
    from kontor.logs import configure_logs

    settings = read_settings()
    configure_logs("error", "text")
    found = list(_check_all(settings, all_banks=all_banks))
    rows = [(finding.state.value, finding.subject, finding.text) for finding in found]
    show_rows(("state", "subject", "found"), rows, as_json=as_json, keys=("state", "subject", "found"))
    problems = sum(finding.state is State.PROBLEM for finding in found)
    warnings = sum(finding.state is State.WARNING for finding in found)
    say(f"Problems: {problems}, warnings: {warnings}.")
    return 1 if problems else 0


def _check_all(settings: Settings, *, all_banks: bool) -> Iterator[Finding]:
    yield from check_settings(settings)
    yield from check_certificates(settings, datetime.now(UTC))
    yield from check_machine(settings)
    yield from _check_data(settings)
    yield from check_networks(settings, all_banks=all_banks)
    yield from check_application(settings)


def _check_data(settings: Settings) -> Iterator[Finding]:
    """An embedded database that is not there yet is made by the first start, not by a check."""
    from kontor.bootstrap import with_database

    if settings.database_url is None and not _has_embedded(settings.data):
        yield Finding("database", State.OK, "None yet: `kontor migrate` makes an embedded one in KONTOR_DATA.")
        return
    yield check_master_key(settings)
    with with_database(settings) as ready:
        yield from check_database(ready)


def _has_embedded(data: Path) -> bool:
    from kontor.storage.embedded import EmbeddedPostgres

    return data.is_dir() and EmbeddedPostgres(data).cluster.exists()
