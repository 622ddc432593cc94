"""Taking a user's data along: `kontor export`."""

import os
import sys
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from kontor.cli.context import say, use_services
from kontor.services.bundle import Services
from kontor.services.security import OPERATOR
from kontor.services.statements import Owner, Span
from kontor.wire.export_files import ExportFormat, write_file


def export(
    *,
    tenant: Annotated[str, Parameter(help="The tenant.")],
    user: Annotated[str, Parameter(help="The user's name.")],
    format: Annotated[
        ExportFormat,
        Parameter(help="json: everything; csv: transactions; beancount, hledger, gnucash: bookkeeping."),
    ] = "json",
    since: Annotated[date | None, Parameter(name="--from", help="First day of the transactions.")] = None,
    until: Annotated[date | None, Parameter(name="--to", help="Last day of the transactions.")] = None,
    dialect: Annotated[
        Literal["plain", "german"], Parameter(help="Of CSV: for programs, or for a German spreadsheet.")
    ] = "plain",
    output: Annotated[Path | None, Parameter(help="A file that only you may read; else standard output.")] = None,
) -> None:
    """Export what a user has: everything as JSON, or the transactions as CSV or as a book. No secrets."""

    async def run(services: Services) -> None:
        found = await services.users.find_user_by_operator(tenant, user)
        owner = Owner(found.id, found.pseudonym, found.tenant_id, OPERATOR)
        held, at = await services.exports.begin(owner)
        pieces = write_file(services.exports, owner, held, at, Span(since, until), format, dialect)
        if output is None:
            await _print_pieces(pieces)
        else:
            await _save_pieces(pieces, output)

    use_services(run)
    if output is not None:
        say(f"Written to {output}.")


def _can_be_replaced(output: Path) -> bool:
    return output.is_file() or not output.exists()


async def _save_pieces(pieces: AsyncIterator[bytes], output: Path) -> None:
    """Under another name until it is whole; a device or a pipe stays what it is."""
    is_replaced = _can_be_replaced(output)
    unfinished = output.with_name(f"{output.name}.part") if is_replaced else output
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            async for piece in pieces:
                file.write(piece)
        if is_replaced:
            unfinished.replace(output)
    finally:
        if is_replaced:
            unfinished.unlink(missing_ok=True)


async def _print_pieces(pieces: AsyncIterator[bytes]) -> None:
    try:
        async for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Who reads has seen enough. What is still in the buffer goes nowhere: Python would take that for a failure.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
