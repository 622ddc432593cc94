"""What the command line prints: tables for people, JSON for programs."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def show_rows(headings: Sequence[str], rows: Iterable[Sequence[Any]], *, as_json: bool, keys: Sequence[str]) -> None:
    """A table, or a JSON array of objects with `keys`."""
    rows = list(rows)
    if as_json:
        show_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    if not rows:
        console.print("Nothing there yet.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*[_to_text(value) for value in row])
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
        console.print(f"[bold]{name.ljust(width)}[/bold]  ", end="")
        console.print(_to_text(value), markup=False, soft_wrap=True)


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "\n".join(str(one) for one in value)
    return str(value)
