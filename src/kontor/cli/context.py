"""What every command needs: settings, and the services on a database that is there for the time of the command."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter

from kontor.cli.output import say
from kontor.config import Settings, read_settings

if TYPE_CHECKING:
    from kontor.services.bundle import Services

__all__ = ["AsJson", "open_services_once", "say", "use_services"]

T = TypeVar("T")

AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for programs.")]


def open_services_once(settings: Settings, application_name: str) -> None:
    """What each process does at its start: safe server settings, the right master key, connectors that can be made."""
    from kontor.bootstrap import open_services

    async def open_once() -> None:
        async with open_services(replace(settings, pool_size=1), application_name):
            pass

    asyncio.run(open_once())


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
