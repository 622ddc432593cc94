"""What every command needs: settings, and the services on a database that is there for the time of the command."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from cyclopts import Parameter

from kontor.bootstrap import open_services, with_database
from kontor.cli.output import errors
from kontor.config import read_settings
from kontor.domain.errors import ConflictError
from kontor.logs import configure_logs
from kontor.services.bundle import Services
from kontor.storage.migrate import find_missing

T = TypeVar("T")

AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for programs.")]


def use_services(task: Callable[[Services], Awaitable[T]]) -> T:
    """Run one task with the services; the embedded database is started for it when nobody runs it already."""
    settings = read_settings()
    configure_logs("error", "text")
    with with_database(settings) as ready:
        assert ready.database_url is not None
        if find_missing(ready.database_url):
            raise ConflictError("The database is not migrated to this version. Run `kontor migrate` first.")

        async def run() -> T:
            async with open_services(ready, "kontor cli") as services:
                return await task(services)

        return asyncio.run(run())


def say(text: str) -> None:
    """A remark for a person, kept apart from the result."""
    errors.print(text)
