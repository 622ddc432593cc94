"""Tagging everything anew after the tagger has changed: queued for the workers, one job per user."""

from cyclopts import App

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_rows
from kontor.services.bundle import Services

retag = App(name="retag", help="Tag everybody's transactions anew, after the tagger has changed.")


@retag.command(name="start")
def start() -> None:
    """Queue what another version of the tagger has tagged. Workers do it; a stopped one loses nothing."""
    count = use_services(lambda services: services.transaction_tagging.start_retagging())
    say(f"{count} users are queued." if count else "Everything is tagged by this version.")


@retag.command(name="status")
def status(*, as_json: AsJson = False) -> None:
    """Show how far retagging is."""

    async def read(services: Services) -> tuple[str, int, int]:
        done, total = await services.transaction_tagging.count_users()
        return services.transaction_tagging.version, done, total

    version, done, total = use_services(read)
    share = 100 if total == 0 else done * 100 // total
    names = ("version", "done", "total", "percent")
    show_rows(("tagger", "users done", "of", "%"), [(version, done, total, share)], as_json=as_json, keys=names)
