"""Trains the category model of the tagger and fits its confidences.

Needs numpy and scipy (dependency group `dev`). The same sources give the same bytes:

    python scripts/train_category_model.py

With `--keep-model` only the confidences are fitted anew, as a change of the tagger's decisions needs.

The description of the model holds a digest of the rows it was trained on. A change of the lexicon changes those rows
but does not need a new model; `tests/analysis/tagging/test_model_rebuild.py` says when the model is out of date.

`evaluation/transactions/manifest.toml` says which labelled files teach and which are kept back; a labelled file that it
does not list is refused.

The model learns from generated bookings (each keyword and partner of the lexicon in several made-up settings, and the
demo bank's people, who never share a login with those of the tests) and from the labelled files, as `kontor evaluate`
reads them. The confidences are fitted on the labelled files that the manifest names for it, and on the demo bank's
truth: each labelled booking by a model that has not seen it. They are cross-validated.
"""

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from kontor.analysis.scoring.calibration import find_auroc, find_brier_score, find_calibration_error
from kontor.analysis.scoring.tag_scores import fold_name
from kontor.analysis.tagging.calibrating import Cell, count_cells, fit, score_cell
from kontor.analysis.tagging.category_models import BITS, OFFSET, CategoryModel, hash_gram, list_grams
from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.lexicons import IN_NAME, IN_PURPOSE, Keyword, Rules, load_keywords, load_rules
from kontor.analysis.tagging.model_priors import MODEST, NEVER_GUESSED
from kontor.analysis.tagging.partners import Partner
from kontor.analysis.tagging.prepared_knowledge import find_partner, list_partners, load_knowledge
from kontor.analysis.tagging.readings import CARD, CREDIT, DEBIT, TRANSFER, Reader
from kontor.analysis.tagging.taggers import Tagger, make_tagger
from kontor.analysis.tagging.taggings import NO_INSURANCE, NO_PARTNER, NOBODY, OwnAccounts
from kontor.cli.data_sets import load_manifest
from kontor.connectors.demo.people import PERSONAS, person_for
from kontor.domain.transactions import Transaction
from kontor.wire.labelled_rows import read_labelled

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src/kontor/analysis/data/model"
LABELLED = ROOT / "evaluation/transactions"
SEED = 7
TODAY = date(2026, 6, 15)
ROUNDS, BATCH, STEP, PENALTY = 8, 1024, 0.02, 2e-6
MOST_PER_CATEGORY = 2000
# A labelled booking is worth more than a generated one, and names tell something without purposes too.
LABELLED_COUNT, SHORTEST_NAME = 6, 5
# For the confidences: how often one shop of the demo bank counts, and an error on a labelled row. The tagger was
# improved with these rows, and new ones show about three times as many errors.
MOST_OF_A_KIND, ERRORS_WEIGH, FOLDS = 2, 3, 5
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
        kept += rows_of_category[:MOST_PER_CATEGORY]
    return kept


def write_samples(samples: Iterable["Sample"], reader: Reader) -> Iterator[Row]:
    """Labelled bookings, as they are and as a name alone."""
    for sample in samples:
        category = sample.categories[0]
        if category.startswith(NEVER_GUESSED):
            continue
        reading = reader.read(sample.transaction)
        grams = tuple(list_grams(reading.name, reading.purpose, reading.is_incoming, reading.channel))
        yield from [Row(category, grams)] * LABELLED_COUNT
        if reading.purpose and len(reading.name) >= SHORTEST_NAME:
            yield Row(category, tuple(list_grams(reading.name, "", reading.is_incoming, reading.channel)))


class Trained(NamedTuple):
    categories: list[str]
    scale: float
    biases: list[float]
    weights: bytes

    def save(self, folder: Path, rows_digest: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "category_model.bin").write_bytes(self.weights)
        about = {
            "rows_digest": rows_digest,
            "categories": self.categories,
            "scale": self.scale,
            "biases": self.biases,
        }
        (folder / "category_model.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def train(rows: list[Row]) -> Trained:
    """Multinomial logistic regression by Adam, then weights as bytes."""
    import numpy as np
    from scipy import sparse

    categories = sorted({row.category for row in rows})
    numbers = {category: number for number, category in enumerate(categories)}
    width = len(categories)
    labels = np.array([numbers[row.category] for row in rows])
    columns = np.array([hash_gram(gram) for row in rows for gram in row.grams])
    lengths = np.array([len(row.grams) for row in rows])
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    values = np.repeat(1 / np.sqrt(lengths), lengths).astype(np.float32)
    matrix = sparse.csr_matrix((values, columns, pointers), shape=(len(rows), 1 << BITS))
    matrix.sum_duplicates()
    generator = np.random.default_rng(SEED)
    weights, biases = np.zeros((1 << BITS, width), np.float32), np.zeros(width, np.float32)
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
    right = (np.asarray(matrix @ weights + biases).argmax(axis=1) == labels).mean()
    print(f"{len(rows)} rows, {width} categories, {right:.3f} of the training rows right")
    return Trained(
        categories, round(scale, 8), [round(float(bias), 4) for bias in biases], small.astype(np.uint8).tobytes()
    )


class Sample(NamedTuple):
    """A booking whose truth is known, each tag as all that is accepted; an empty one is not judged."""

    id: str
    transaction: Transaction
    own: OwnAccounts
    categories: tuple[str, ...]
    insurance_types: tuple[str, ...]
    partners: tuple[str, ...]
    freelancer_categories: tuple[str, ...]
    is_labelled: bool


def read_samples(paths: list[Path]) -> Iterator[Sample]:
    """Labelled rows as `kontor evaluate` reads them."""
    for path in paths:
        for labelled in read_labelled(path.read_bytes().splitlines()):
            gold = labelled.gold
            partners = tuple(fold_name(name) for name in gold.partner)
            yield Sample(
                labelled.id,
                labelled.transaction,
                NOBODY,
                gold.category,
                gold.insurance_type,
                partners,
                gold.freelancer_category,
                True,
            )


def list_demo_samples() -> Iterator[Sample]:
    """The demo bank's bookings: each shop and agreement a few times only."""
    seen: dict[tuple[str | None, ...], int] = defaultdict(int)
    known = {fold_name(partner.name) for partner in list_partners()}
    for own, entries in list_people(("+fit1", "+fit2")):
        for entry in entries:
            transaction, truth = entry.transaction, entry.truth
            key = (truth.category, truth.partner, truth.insurance_type)
            seen[key] += 1
            if seen[key] > MOST_OF_A_KIND:
                continue
            name = fold_name(truth.partner) if truth.partner else ""
            partners = (name,) if name in known else (fold_name(NO_PARTNER),)
            types = (truth.insurance_type or NO_INSURANCE,)
            yield Sample(str(len(seen)), transaction, own, (truth.category,), types, partners, (), False)


def judge(sample: Sample, tagger: Tagger) -> dict[str, tuple[Cell, bool]]:
    """Each decision's cell, and whether it was right."""
    decision = tagger.decide(sample.transaction, sample.own)
    is_right = decision.category in sample.categories
    judged = {"category": (decision.category_cell, is_right)}
    if sample.insurance_types:
        judged["insurance"] = (decision.insurance_cell, decision.insurance_type in sample.insurance_types)
    if sample.partners:
        partner = find_partner(decision.partner)
        names = {fold_name(name) for name in (partner.names if partner is not None else (NO_PARTNER,))}
        judged["partner"] = (decision.partner_cell, not names.isdisjoint(sample.partners))
    # Where nothing else is known, a freelancer category is as right as the category it follows from.
    is_followed = not sample.freelancer_categories or decision.freelancer_category in sample.freelancer_categories
    judged["freelancer"] = (decision.freelancer_cell, is_followed and (is_right or bool(sample.freelancer_categories)))
    return judged


def weigh_errors(judged: list[tuple[Sample, Cell, bool]]) -> Iterator[tuple[Cell, bool]]:
    """The knowledge was improved on labelled rows, so that it errs more often on others."""
    for sample, cell, is_right in judged:
        for _ in range(ERRORS_WEIGH if sample.is_labelled and not is_right else 1):
            yield cell, is_right


def validate(judged: list[tuple[Sample, Cell, bool]]) -> str:
    """Scores of confidences that were fitted without the rows they are about."""
    pairs = []
    for fold_number in range(FOLDS):
        kept = [judgement for judgement in judged if crc32(judgement[0].id.encode()) % FOLDS != fold_number]
        table = fit(count_cells(weigh_errors(kept)), rounds=600)
        tested = [
            judgement
            for judgement in judged
            if crc32(judgement[0].id.encode()) % FOLDS == fold_number and judgement[0].is_labelled
        ]
        pairs += [(score_cell(cell, table), is_right) for _, cell, is_right in tested]
    auroc = find_auroc(pairs)
    right = sum(is_right for _, is_right in pairs)
    return (
        f"{right}/{len(pairs)} right, calibration error {find_calibration_error(pairs):.4f}, "
        f"Brier {find_brier_score(pairs):.4f}, AUROC {auroc or 0:.3f}"
    )


def is_in_half(sample: Sample, half: int) -> bool:
    return crc32(sample.id.encode()) % 2 == half


def fit_confidences(samples: list[Sample], taggers: tuple[Tagger, Tagger], folder: Path) -> None:
    """Each tagger judges the half of the samples that its model has not seen."""
    judged = defaultdict(list)
    guessed: list[tuple[Sample, Cell, bool]] = []
    for sample in [*samples, *list_demo_samples()]:
        tagger = taggers[is_in_half(sample, 1)]
        for name, (cell, is_right) in judge(sample, tagger).items():
            judged[name].append((sample, cell, is_right))
        if sample.is_labelled:
            # The knowledge was improved with these rows, so that the model is hardly ever asked for them. How good it
            # is where nothing else speaks is seen by asking it for all of them.
            # A modest category is for shops that nothing is known of, which these are not.
            category, cell = tagger.guess(sample.transaction)
            if MODEST not in cell:
                guessed.append((sample._replace(is_labelled=False), cell, category in sample.categories))
    judged["category"] += guessed
    if samples:
        for name, decisions in sorted(judged.items()):
            print(f"{name}, cross-validated: {validate(decisions)}")
    tables = {name: fit(count_cells(weigh_errors(decisions))) for name, decisions in sorted(judged.items())}
    (folder / "confidences.json").write_text(json.dumps(tables, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_training_samples(folder: Path) -> tuple[list[Sample], list[Sample]]:
    """Samples for the model alone, and samples for the model and the confidences."""
    sets = load_manifest(folder).list_sets("training")
    model_only = [folder / data_set.path for data_set in sets if not data_set.fits_confidences]
    both = [folder / data_set.path for data_set in sets if data_set.fits_confidences]
    return list(read_samples(model_only)), list(read_samples(both))


class Sources(NamedTuple):
    """What the model is trained on: `fixed` rows that every model sees, and labelled rows for the confidences too."""

    fixed: list[Row]
    samples: list[Sample]
    reader: Reader

    def list_rows(self, half: int | None = None) -> list[Row]:
        """All rows in their order, or those with one half of the samples."""
        samples = [sample for sample in self.samples if half is None or is_in_half(sample, half)]
        return [*self.fixed, *write_samples(samples, self.reader)]


def read_sources(folder: Path) -> Sources:
    model_only, samples = read_training_samples(folder)
    reader = make_reader()
    return Sources([*generate_rows(reader), *write_samples(model_only, reader)], samples, reader)


def digest_rows(rows: Iterable[Row]) -> str:
    """Two lists of rows with the same digest give the same model."""
    digest = blake2b(digest_size=16)
    for row in rows:
        digest.update(b"\0".join([row.category.encode(), *row.grams, b"\n"]))
    return digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=LABELLED, help="folder of the labelled files and their manifest")
    parser.add_argument("--target", type=Path, default=FOLDER, help="folder to write the model and the confidences to")
    parser.add_argument(
        "--keep-model", action="store_true", help="fit the confidences anew and leave the model as it is"
    )
    options = parser.parse_args()
    sources = read_sources(options.data)
    if not options.keep_model:
        rows = sources.list_rows()
        train(rows).save(options.target, digest_rows(rows))
    taggers = [make_tagger(CategoryModel(*train(sources.list_rows(half)))) for half in (1, 0)]
    fit_confidences(sources.samples, (taggers[0], taggers[1]), options.target)


if __name__ == "__main__":
    sys.exit(main())
