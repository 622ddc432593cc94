"""Trains the tagger's fallback model and fits its confidences, from generated bookings only.

Needs numpy and scipy (dependency group `bench`). Same knowledge, same result:

    python scripts/train_fallback.py              # the model, then the confidences
    python scripts/train_fallback.py --only-confidences [labelled.jsonl …]

Rows come from two sources: from the lexicon (each keyword and partner in several made-up settings) and from the demo
bank's people, who never share a login with those of the tests. A labelled file has one JSON object per line with the
fields of a booking as on the wire, `category` and, where known, `insuranceType` and `partner`.
"""

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from kontor.analysis.tagging.calibrating import count_cells, fit
from kontor.analysis.tagging.fallback import BITS, OFFSET, hash_gram, list_grams
from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.lexicons import IN_NAME, IN_PURPOSE, Keyword, Rules, load_keywords, load_rules
from kontor.analysis.tagging.partners import Partner, list_partners, make_system_name
from kontor.analysis.tagging.readings import CARD, CREDIT, DEBIT, TRANSFER, Reader
from kontor.analysis.tagging.taggers import load_tagger
from kontor.analysis.tagging.taggings import NO_INSURANCE, NO_PARTNER, NOBODY, OwnAccounts
from kontor.connectors.demo.people import PERSONAS, person_for
from kontor.domain.transactions import Transaction

FOLDER = Path(__file__).parent.parent / "src" / "kontor" / "analysis" / "data" / "model"
SEED = 7
TODAY = date(2026, 6, 15)
ROUNDS, BATCH, STEP, PENALTY = 8, 512, 0.02, 2e-6
MOST_PER_CATEGORY = 3000
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
NOT_GUESSED = ("INSURANCE_", "TRANSFER_", "SAVINGS_LIFEINSURANCE")


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


def write_people(suffixes: tuple[str, ...], rules: Rules) -> Iterator[Row]:
    reader, seen = Reader(rules), set()
    for _, entries in list_people(suffixes):
        for entry in entries:
            reading = reader.read(entry.transaction)
            grams = tuple(list_grams(reading.name, reading.purpose, reading.is_incoming, reading.channel))
            if grams not in seen:
                seen.add(grams)
                yield Row(entry.truth.category, grams)


def gather_rows() -> list[Row]:
    draw, rules = random.Random(SEED), load_rules()
    rows = [row for keyword in load_keywords() if keyword.atoms for row in write_keyword(keyword, rules, draw)]
    rows += [row for partner in list_partners() for row in write_partner(partner, rules, draw)]
    rows += write_people(("+train1", "+train2"), rules)
    by_category = defaultdict(list)
    for row in rows:
        if not row.category.startswith(NOT_GUESSED):
            by_category[row.category].append(row)
    kept = []
    for category in sorted(by_category):
        found = by_category[category]
        draw.shuffle(found)
        kept += found[:MOST_PER_CATEGORY]
    draw.shuffle(kept)
    return kept


def train(rows: list[Row]) -> None:
    """Multinomial logistic regression by Adam, then weights as bytes."""
    import numpy as np
    from scipy import sparse

    categories = sorted({row.category for row in rows})
    width = len(categories)
    labels = np.array([categories.index(row.category) for row in rows])
    columns = np.array([hash_gram(gram) for row in rows for gram in row.grams])
    lengths = np.array([len(row.grams) for row in rows])
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    values = np.repeat(1 / np.sqrt(lengths), lengths)
    matrix = sparse.csr_matrix((values, columns, pointers), shape=(len(rows), 1 << BITS))
    matrix.sum_duplicates()
    generator = np.random.default_rng(SEED)
    weights, biases = np.zeros((1 << BITS, width)), np.zeros(width)
    moments = [np.zeros_like(weights), np.zeros_like(weights), np.zeros_like(biases), np.zeros_like(biases)]
    step = 0
    for _ in range(ROUNDS):
        order = generator.permutation(len(rows))
        for start in range(0, len(rows), BATCH):
            chosen = order[start : start + BATCH]
            part = matrix[chosen]
            scores = part @ weights + biases
            scores -= scores.max(axis=1, keepdims=True)
            errors = np.exp(scores)
            errors /= errors.sum(axis=1, keepdims=True)
            errors[np.arange(len(chosen)), labels[chosen]] -= 1
            step += 1
            slopes = (part.T @ errors / len(chosen) + PENALTY * weights, errors.mean(axis=0))
            for place, (target, slope) in enumerate(zip((weights, biases), slopes, strict=True)):
                first, second = moments[2 * place], moments[2 * place + 1]
                first *= 0.9
                first += 0.1 * slope
                second *= 0.999
                second += 0.001 * slope**2
                rate = STEP * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
                target -= rate * first / (np.sqrt(second) + 1e-8)
    scale = float(np.quantile(np.abs(weights), 0.9995)) / 127
    small = np.clip(np.rint(weights / scale), -127, 127).astype(int) + OFFSET
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "fallback.bin").write_bytes(small.astype(np.uint8).tobytes())
    about = {"categories": categories, "scale": round(scale, 8), "biases": [round(float(one), 4) for one in biases]}
    (FOLDER / "fallback.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    right = (np.asarray(matrix @ weights + biases).argmax(axis=1) == labels).mean()
    print(f"{len(rows)} rows, {width} categories, {right:.3f} of the training rows right")


class Sample(NamedTuple):
    transaction: Transaction
    own: OwnAccounts
    categories: tuple[str, ...]
    insurance_type: str | None
    partner: str | None
    freelancer_category: str | None


def read_labelled(path: Path) -> Iterator[Sample]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        labels = row["category"] if isinstance(row["category"], list) else [row["category"]]
        yield Sample(
            Transaction(
                amount=Decimal(str(row["betrag"])),
                currency=row.get("waehrung", "EUR"),
                booked_at=datetime(2026, 1, 1, tzinfo=UTC),
                purpose=row.get("verwendungszweck"),
                booking_text=row.get("buchungstext"),
                gv_code=row.get("gvCode"),
                counterparty_name=row.get("gegenkontoInhaber"),
                counterparty_iban=row.get("gegenkontoIban"),
                ultimate_counterparty=row.get("gegenkontoInhaberAbweichend"),
            ),
            NOBODY,
            tuple(labels),
            row.get("insuranceType"),
            row.get("partner"),
            row.get("freelancerCategory"),
        )


def list_samples(paths: list[Path]) -> Iterator[Sample]:
    """Labelled rows if there are any, else the demo bank's: each shop and agreement a few times only."""
    if paths:
        for path in paths:
            yield from read_labelled(path)
        return
    seen: dict[tuple[str | None, ...], int] = defaultdict(int)
    for own, entries in list_people(("+fit1", "+fit2")):
        for entry in entries:
            one, truth = entry.transaction, entry.truth
            key = (truth.category, truth.partner, truth.insurance_type)
            seen[key] += 1
            if seen[key] <= 6:
                partner = make_system_name(truth.partner) if truth.partner else NO_PARTNER
                yield Sample(one, own, (truth.category,), truth.insurance_type, partner, None)


def fit_confidences(paths: list[Path]) -> None:
    tagger = load_tagger()
    known = {partner.system_name for partner in list_partners()}
    cells = defaultdict(list)
    for sample in list_samples(paths):
        decision = tagger.decide(sample.transaction, sample.own)
        is_right = decision.category in sample.categories
        cells["category"].append((decision.category_cell, is_right))
        truth = sample.insurance_type or NO_INSURANCE
        cells["insurance"].append((decision.insurance_cell, decision.insurance_type == truth))
        partner = sample.partner if sample.partner in known else NO_PARTNER
        cells["partner"].append((decision.partner_cell, decision.partner == partner))
        # Where nothing else is known, a freelancer category is as right as the category it follows from.
        followed = sample.freelancer_category or decision.freelancer_category
        cells["freelancer"].append((decision.freelancer_cell, is_right and decision.freelancer_category == followed))
    tables = {name: fit(count_cells(samples)) for name, samples in sorted(cells.items())}
    (FOLDER / "confidences.json").write_text(json.dumps(tables, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print({name: f"{sum(one for _, one in samples)}/{len(samples)}" for name, samples in cells.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only-confidences", action="store_true")
    parser.add_argument("labelled", nargs="*", type=Path)
    options = parser.parse_args()
    if not options.only_confidences:
        train(gather_rows())
        # What was loaded before is the old model.
        load_tagger.cache_clear()
        from kontor.analysis.tagging.fallback import load_model

        load_model.cache_clear()
    fit_confidences(options.labelled)


if __name__ == "__main__":
    sys.exit(main())
