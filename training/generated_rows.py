"""Rows made up for training: keywords and partners of the lexicon in several settings, and the demo bank's people."""

import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from kontor.analysis.tagging.category_models import list_grams
from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.lexicons import IN_NAME, IN_PURPOSE, Keyword, Rules, load_keywords, load_rules
from kontor.analysis.tagging.model_priors import NEVER_GUESSED
from kontor.analysis.tagging.partners import Partner
from kontor.analysis.tagging.prepared_knowledge import list_partners, load_knowledge
from kontor.analysis.tagging.readings import CARD, CREDIT, DEBIT, TRANSFER, Reader
from kontor.analysis.tagging.taggings import OwnAccounts
from kontor.connectors.demo.people import PERSONAS, person_for

SEED = 7
TODAY = date(2026, 6, 15)
MAX_PER_CATEGORY = 2000
SURNAMES = [
    "mueller",
    "schmidt",
    "schneider",
    "fischer",
    "weber",
    "wagner",
    "becker",
    "hoffmann",
    "koch",
    "bauer",
    "richter",
    "klein",
    "wolf",
    "neumann",
]
PLACES = [
    "berlin",
    "hamburg",
    "koeln",
    "muenchen",
    "leipzig",
    "stuttgart",
    "dresden",
    "nuernberg",
    "am",
    "markt",
    "am",
    "bahnhof",
    "west",
    "nord",
    "altstadt",
]
FILLERS = (
    "rechnung",
    "rechnungsnr",
    "kundennr",
    "vertrag",
    "beitrag",
    "januar",
    "maerz",
    "oktober",
    "vielen dank",
    "rate",
    "",
)
COMPOUND_STARTS = [
    "stadt",
    "land",
    "neu",
    "alt",
    "haupt",
    "berg",
    "see",
    "wald",
    "west",
    "nord",
    "sued",
    "markt",
    "dorf",
    "muehlen",
]


class Row(NamedTuple):
    category: str
    grams: tuple[bytes, ...]


def spell_out(atom: str, draw: random.Random) -> str:
    """A word that a pattern stands for."""
    words = fold(atom.replace("*", " "))
    if atom.startswith("*"):
        words = draw.choice(COMPOUND_STARTS) + words
    return words


def write_keyword(keyword: Keyword, rules: Rules, draw: random.Random) -> Iterator[Row]:
    text = " ".join(spell_out(atom, draw) for atom in keyword.atoms)
    for is_incoming in (True, False):
        if keyword.sign and (keyword.sign == "+") != is_incoming:
            continue
        category = rules.mirror(keyword.category, is_incoming)
        if not category or (category != keyword.category and not keyword.sign and is_incoming and draw.random() < 0.7):
            continue
        for _ in range(max(1, int(keyword.strength)) // 2 + 1):
            in_name = keyword.places & IN_NAME and (not keyword.places & IN_PURPOSE or draw.random() < 0.6)
            other = f"{draw.choice(SURNAMES)} {draw.choice(PLACES)}"
            filler = draw.choice(FILLERS)
            name, purpose = (f"{text} {other}", filler) if in_name else (draw.choice(SURNAMES), f"{filler} {text}")
            channels = (CREDIT, "") if is_incoming else (CARD, DEBIT, TRANSFER, "")
            yield Row(category, tuple(list_grams(name, purpose, is_incoming, draw.choice(channels))))


def write_partner(partner: Partner, rules: Rules, draw: random.Random) -> Iterator[Row]:
    if partner.is_intermediary or not partner.category:
        return
    for spelling in (partner.name, *partner.aliases)[:3]:
        category = rules.mirror(partner.category, False)
        name = f"{fold(spelling.lstrip('=!'))} {draw.choice(PLACES)}"
        if category:
            yield Row(category, tuple(list_grams(name, draw.choice(FILLERS), False, draw.choice((CARD, DEBIT, "")))))


def list_people(suffixes: tuple[str, ...]) -> Iterator[tuple[OwnAccounts, list]]:
    """The demo bank's people under logins of their own, with their accounts and bookings."""
    for suffix in suffixes:
        for persona in PERSONAS:
            person = person_for(persona + suffix, TODAY)
            assert person is not None
            ibans = frozenset(account.product.iban for account in person.accounts if account.product.iban)
            savings = frozenset(
                account.product.iban for account in person.accounts if account.product.iban and "sav" in account.key
            )
            own = OwnAccounts(ibans, savings, (person.name,))
            yield own, [entry for account in person.accounts for entry in account.entries]


def write_people(suffixes: tuple[str, ...], reader: Reader) -> Iterator[Row]:
    seen = set()
    for _, entries in list_people(suffixes):
        for entry in entries:
            reading = reader.read(entry.transaction)
            grams = tuple(list_grams(reading.name, reading.purpose, reading.is_incoming, reading.channel))
            if grams not in seen:
                seen.add(grams)
                yield Row(entry.truth.category, grams)


def make_reader() -> Reader:
    """Reads as the tagger does."""
    rules = load_rules()
    return Reader(rules, load_knowledge().names)


def generate_rows(reader: Reader) -> list[Row]:
    draw, rules = random.Random(SEED), load_rules()
    rows = [row for keyword in load_keywords() if keyword.atoms for row in write_keyword(keyword, rules, draw)]
    rows += [row for partner in list_partners() for row in write_partner(partner, rules, draw)]
    rows += write_people(("+train1", "+train2"), reader)
    by_category = defaultdict(list)
    for row in rows:
        if not row.category.startswith(NEVER_GUESSED):
            by_category[row.category].append(row)
    kept = []
    for category in sorted(by_category):
        rows_of_category = by_category[category]
        draw.shuffle(rows_of_category)
        kept += rows_of_category[:MAX_PER_CATEGORY]
    return kept
