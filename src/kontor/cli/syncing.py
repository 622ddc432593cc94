"""Keeping a program for personal finance up to date: `kontor sync actual`, `kontor sync firefly`."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from kontor.cli.output import console, say
from kontor.cli.syncs.actual import Actual, ActualFile
from kontor.cli.syncs.entries import Ledger, LedgerError
from kontor.cli.syncs.firefly import Firefly
from kontor.cli.syncs.running import Report, run_sync
from kontor_client import Kontor

sync = App(name="sync", help="Keep a program for personal finance up to date. Needs no database.")

Address = Annotated[str, Parameter(name="--kontor", env_var="KONTOR_SYNC_URL", help="Kontor's address.")]
DryRun = Annotated[bool, Parameter(negative="", help="Show what would change, and change nothing.")]
AllowRemovals = Annotated[
    bool, Parameter(negative="", help="Also where more than half of the entries would be removed.")
]


@sync.command
def actual(
    *,
    kontor: Address,
    server: Annotated[str, Parameter(env_var="ACTUAL_SERVER", help="The address of the Actual server.")],
    file: Annotated[str, Parameter(env_var="ACTUAL_FILE", help="The file's Sync ID: Settings, Advanced settings.")],
    folder: Annotated[Path, Parameter(help="Keeps names, state and a copy of the file.")] = Path("kontor-actual"),
    dry_run: DryRun = False,
    allow_removals: AllowRemovals = False,
) -> None:
    """Bring a file of Actual Budget up to date. Secrets: KONTOR_SYNC_KEY, ACTUAL_PASSWORD, ACTUAL_FILE_PASSWORD."""
    password = read_secret("ACTUAL_PASSWORD", "the password of the Actual server")
    chosen = ActualFile(server.rstrip("/"), password, file, os.environ.get("ACTUAL_FILE_PASSWORD", ""))
    bring_up_to_date(kontor, lambda: Actual(chosen, folder), folder, is_dry=dry_run, may_remove_many=allow_removals)


@sync.command
def firefly(
    *,
    kontor: Address,
    server: Annotated[str, Parameter(env_var="FIREFLY_SERVER", help="The address of Firefly III.")],
    folder: Annotated[Path, Parameter(help="Keeps names and state.")] = Path("kontor-firefly"),
    dry_run: DryRun = False,
    allow_removals: AllowRemovals = False,
) -> None:
    """Bring Firefly III up to date. Secrets: KONTOR_SYNC_KEY, FIREFLY_TOKEN (a personal access token)."""
    token = read_secret("FIREFLY_TOKEN", "a personal access token, from Options, Profile, OAuth")
    bring_up_to_date(
        kontor, lambda: Firefly(server.rstrip("/"), token), folder, is_dry=dry_run, may_remove_many=allow_removals
    )


def bring_up_to_date(
    address: str, open_ledger: Callable[[], Ledger], folder: Path, *, is_dry: bool, may_remove_many: bool
) -> None:
    key = read_secret("KONTOR_SYNC_KEY", "an API key of the user, see kontor api-key")
    with Kontor.login_with_key(address, key) as client:
        report = run_sync(client, open_ledger, folder, is_dry=is_dry, may_remove_many=may_remove_many)
    show(report)


def read_secret(name: str, meaning: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise LedgerError(f"Set {name}: {meaning}.")
    return value


def show(report: Report) -> None:
    """What was done, or line by line what would be done."""
    if report.is_dry:
        for line in report.lines:
            console.print(line, markup=False, soft_wrap=True)
    for remark in report.remarks:
        say(remark)
    done = ", ".join(f"{count} {kind}" for kind, count in report.counts.items()) or "nothing to do"
    console.print(f"{'Would be' if report.is_dry else 'Done'}: {done}.", markup=False)
