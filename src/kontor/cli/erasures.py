"""`kontor erasures`: what was erased stays erased, also after a restore."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from kontor.cli.context import say, use_services

erasures = App(name="erasures", help="Erasures of users, for after a backup was restored.")


@erasures.command(name="apply")
def apply_erasures(
    *,
    log: Annotated[
        list[Path] | None, Parameter(help="Logs to read, of several machines; else KONTOR_ERASURE_LOG.")
    ] = None,
) -> None:
    """Erase users again whom a restored database has although they were erased."""
    count, foreign = use_services(lambda services: services.users.erase_again(log or []))
    say(f"Erased again: {count}.")
    if foreign:
        say(f"Lines of another installation or key, which name nobody here: {foreign}.")
