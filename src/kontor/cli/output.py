"""What the command line prints: tables for people, JSON for programs. Remarks go to standard error."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from rich.console import Console
from rich.table import Table

# Where nobody looks at it, nothing must be cut to the 80 columns of a terminal that is not there.
_WIDE = 250


class _Remarks(Console):
    def on_broken_pipe(self) -> None:
        """Nobody listens any more; what is to be stopped must be stopped all the same.

        What is still in the buffer goes nowhere: at its end Python would take that for a failure.
        """
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stderr.fileno())
        os.close(nowhere)


console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)
errors = _Remarks(stderr=True, highlight=False, width=None if sys.stderr.isatty() else _WIDE)


def say(text: str, *, is_styled: bool = False) -> None:
    """A remark for a person, kept apart from the result. A terminal that has gone is no reason to fail."""
    with suppress(OSError, ValueError):
        errors.print(text, markup=is_styled, soft_wrap=True)


def print_error(text: str) -> None:
    """Why something was refused: one sentence."""
    with suppress(OSError, ValueError):
        errors.print("[red]Refused:[/red] ", end="")
        errors.print(text, markup=False, soft_wrap=True)


def show_rows(headings: Sequence[str], rows: Iterable[Sequence[Any]], *, as_json: bool, keys: Sequence[str]) -> None:
    """A table, or a JSON array of objects with `keys`."""
    rows = list(rows)
    if as_json:
        show_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    if not rows:
        say("Nothing there yet.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*[_to_cell(value) for value in row])
    console.print(table)


def show_json(value: Any) -> None:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")


def show_facts(facts: dict[str, Any], *, as_json: bool) -> None:
    """One object: aligned lines, or a JSON object."""
    if as_json:
        show_json(facts)
        return
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        lines = _to_lines(value)
        console.print(f"[bold]{name.ljust(width)}[/bold]  ", end="")
        console.print(f"\n{' ' * (width + 2)}".join(lines), markup=False, soft_wrap=True)


def _to_cell(value: Any) -> Any:
    from rich.text import Text

    return Text("\n".join(_to_lines(value)))


def _to_lines(value: Any) -> list[str]:
    if value is None:
        return [""]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if isinstance(value, list | tuple):
        return [str(item) for item in value] or [""]
    return [str(value)]
