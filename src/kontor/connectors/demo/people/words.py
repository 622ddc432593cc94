"""The words of the demo bank: names, places, merchants, partners. Read once, when first needed.

The files in `data/` are plain text. A line `[section; …]` opens a section, `#` starts a comment line, fields are
separated by semicolons.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import accumulate
from typing import TypeAlias

from kontor.connectors.demo.people.streams import draw_share

Fields: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merchant:
    """A shop as cards meet it: `text` is what its terminal sends, `low` and `high` are usual amounts in euros,
    `channels` how one pays there."""

    partner: str
    text: str
    low: float
    high: float
    weight: float
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartnerWords:
    """Somebody one has an agreement with: plain brand, full name as on statements, creditor id where known."""

    brand: str
    legal: str
    creditor_id: str | None


@dataclass(frozen=True, slots=True)
class Place:
    city: str
    postcode: str
    code: str


def read_text(name: str) -> str:
    return (files("kontor.connectors.demo.people") / "data" / name).read_text(encoding="utf-8")


def read_sections(name: str) -> Iterator[tuple[Fields, Fields]]:
    """Each line's fields, with those of the section it is in."""
    section: Fields = ()
    for line in read_text(name).splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = tuple(part.strip() for part in line.strip("[]").split(";"))
        else:
            yield section, tuple(part.strip() for part in line.split(";"))


def _read_range(text: str) -> tuple[float, float]:
    low, high = text.split("-")
    return float(low), float(high)


@lru_cache(maxsize=1)
def load_merchants() -> dict[str, tuple[Merchant, ...]]:
    """Merchants by category."""
    merchants: dict[str, list[Merchant]] = {}
    for (category, usual_range, usual_channels), fields in read_sections("merchants.txt"):
        partner, text, span, weight, channels = (*fields, "", "", "", "")[:5]
        low, high = _read_range(span or usual_range)
        merchants.setdefault(category, []).append(
            Merchant(
                partner, text or partner, low, high, float(weight or 3), tuple((channels or usual_channels).split("+"))
            )
        )
    return {category: tuple(group) for category, group in merchants.items()}


@lru_cache(maxsize=1)
def load_partners() -> dict[str, tuple[PartnerWords, ...]]:
    """Partners by pool."""
    pools: dict[str, list[PartnerWords]] = {}
    for (pool,), fields in read_sections("partners.txt"):
        brand, legal, creditor_id = (*fields, "", "")[:3]
        pools.setdefault(pool, []).append(PartnerWords(brand, legal or brand, creditor_id or None))
    return {pool: tuple(group) for pool, group in pools.items()}


@lru_cache(maxsize=1)
def load_names() -> dict[str, tuple[str, ...]]:
    """Lists of single words: surnames, given names by generation, streets."""
    lists: dict[str, list[str]] = {}
    for (section,), fields in read_sections("names.txt"):
        lists.setdefault(section, []).extend(field for field in fields if field)
    return {section: tuple(words) for section, words in lists.items()}


@lru_cache(maxsize=1)
def load_places() -> dict[str, Place]:
    """Towns: name, a postcode, and the letters of their number plates."""
    return {fields[0]: Place(*fields) for _, fields in read_sections("places.txt")}


@dataclass(frozen=True, slots=True)
class Favourites:
    """The merchants of one category as one person likes them: cumulative weights for drawing."""

    merchants: tuple[Merchant, ...]
    cumulated: tuple[float, ...]


@lru_cache(maxsize=1024)
def weight_merchants(login: str, category: str) -> Favourites:
    """Everybody has a few shops they go to most: weights differ by person, widely."""
    merchants = load_merchants()[category]
    weights = (shop.weight * (0.05 + 3 * draw_share("favourite", login, shop.partner) ** 4) for shop in merchants)
    return Favourites(merchants, tuple(accumulate(weights)))
