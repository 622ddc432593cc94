"""Labelled rows written in other layouts of bank texts, so that accuracy can be told per layout.

The templates are in the files of the layouts. Places, dates and numbers are made up; the same row is always written
alike.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random

from kontor.analysis.scoring.tag_scores import Labelled
from kontor.analysis.tagging.layout_files import Template, read_layout_files
from kontor.analysis.tagging.lexicons import load_rules
from kontor.analysis.tagging.prepared_knowledge import load_knowledge
from kontor.analysis.tagging.readings import Reader
from kontor.analysis.tagging.sepa_tags import split_purpose
from kontor.domain.transactions import Transaction

PLACES = ("Fulda", "Soest", "Celle", "Bad Hersfeld", "Wetzlar", "Lahr", "Gera", "Stade")
LINE = 35


class _Lines:
    """`{lines:…}` in a template: the text in lines of 35 letters, joined by blanks as banks do."""

    def __format__(self, text: str) -> str:
        return " ".join(text[start : start + LINE].strip() for start in range(0, len(text), LINE))


def list_renderable(rows: Iterable[Labelled]) -> Iterator[tuple[str, Labelled]]:
    """Rows that name a counterparty of their own, each with its channel. Others hold a layout already."""
    reader = Reader(load_rules(), load_knowledge().names)
    for row in rows:
        reading = reader.read(row.transaction)
        name = row.transaction.counterparty_name or ""
        if name and not reading.has_collector and "/" not in name and not name.upper().startswith("VISA "):
            yield reading.channel, row


def render_row(row: Labelled, template: Template, key: str) -> Labelled:
    return replace(row, transaction=render(row.transaction, template, f"{key} {row.id}"))


def render(transaction: Transaction, template: Template, seed: str) -> Transaction:
    """The same booking as a bank with this layout would write it."""
    draw = Random(seed)  # noqa: S311 (no secret)
    name = (transaction.counterparty_name or "")[: template.longest_name].strip()
    place = draw.choice(PLACES)
    fields: dict[str, object] = {
        "name": name.upper() if template.upper else name,
        "place": place.upper() if template.upper else place,
        "text": split_purpose(transaction.purpose or "").text,
        "date": f"{draw.randint(1, 28):02}.02.2026",
        "iso_date": f"2026-02-{draw.randint(1, 28):02}",
        "clock": f"{draw.randint(8, 19):02}:{draw.randint(0, 59):02}",
        "lines": _Lines(),
        **{f"n{size}": "".join(draw.choices("123456789", k=size)) for size in (4, 6, 8)},
    }
    return replace(
        transaction,
        counterparty_name=template.name.format(**fields) or None,
        purpose=template.purpose.format(**fields),
        booking_text=template.booking_text or None,
        gv_code=None,
    )


def render_layouts(rows: Iterable[Labelled]) -> Iterator[tuple[str, str, list[Labelled], list[Labelled]]]:
    """Of each layout: its key, its title, the rows that banks write so, and these rows written in it."""
    renderable = list(list_renderable(rows))
    for key, file in read_layout_files().items():
        if file.template is not None:
            chosen = [row for channel, row in renderable if channel in file.template.rows]
            yield key, file.title, chosen, [render_row(row, file.template, key) for row in chosen]
