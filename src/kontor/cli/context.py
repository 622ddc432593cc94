"""What every command needs: settings, and the services on a database that is there for the time of the command."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter

from kontor.cli.output import say
from kontor.config import read_settings

if TYPE_CHECKING:
    from kontor.services.bundle import Services

__all__ = ["AsJson", "say", "use_services"]

T = TypeVar("T")

AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for programs.")]


def use_services(task: "Callable[[Services], Awaitable[T]]", *, skips_keys: bool = False) -> T:
    """Run one task with the services; the embedded database is started for it when nobody runs it already."""
    from kontor.bootstrap import open_services, with_database
    from kontor.logs import configure_logs
    from kontor.storage.migrate import require_migrated

    settings = read_settings()
    configure_logs("error", "text")
    with with_database(settings) as ready:
        assert ready.database_url is not None
        require_migrated(ready.database_url)

        async def run() -> T:
            async with open_services(ready, "kontor cli", skips_keys=skips_keys) as services:
                return await task(services)

        return asyncio.run(run())
