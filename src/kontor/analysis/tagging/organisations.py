"""Organisations that exist once per city, such as tax offices, courts and savings banks: a table of kinds and cities.

A court of one city is never taken for another's, and one whose city is not in the table keeps the name of its kind, or
none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files

from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.partners import Partner, list_lines, read_partner

CITY, LARGE, TOWNS = "{city}", "@large", "@towns"
MARKS = re.compile(r";? ?@(?:large|towns)")


def list_organisations(known: Sequence[Partner]) -> Iterator[Partner]:
    """Each kind in each city. What is known by a line of its own stays as that line says."""
    taken = {fold(name) for partner in known for name in partner.own_names}
    kinds, cities, towns = read_table()
    for kind in kinds:
        template = MARKS.sub("", kind)
        for city in [*cities, *towns] if TOWNS in kind else cities:
            if LARGE in kind and not city.startswith("*"):
                continue
            organisation = _make_organisation(template, city.removeprefix("*"))
            if fold(organisation.name) not in taken:
                aliases = [alias for alias in organisation.aliases if fold(alias) not in taken]
                yield replace(organisation, aliases=tuple(aliases))


def read_table() -> tuple[list[str], list[str], list[str]]:
    """The lines of kinds, the cities, of which a large one begins with a star, and further towns."""
    sections: dict[str, list[str]] = {"[kinds]": [], "[cities]": [], "[towns]": []}
    lines: list[str] = []
    for line in list_lines(files("kontor.analysis") / "data" / "organisations.txt"):
        if line in sections:
            lines = sections[line]
        else:
            lines.append(line)
    return sections["[kinds]"], sections["[cities]"], sections["[towns]"]


def _make_organisation(template: str, city: str) -> Partner:
    """`city` is the name of the display, and further spellings behind it."""
    spellings = [spelling.strip() for spelling in city.split(";")]
    partner = read_partner(template.replace(CITY, spellings[0]))
    kind = template.partition("|")[0].replace(CITY, "").strip()
    others = tuple(f"{kind} {spelling}" for spelling in spellings[1:])
    return replace(partner, aliases=(*partner.aliases, *others), city=spellings[0], country="DE")
