"""Bookings whose truth is known: labelled files, as the manifest lists them, and the demo bank's people."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from kontor.analysis.scoring.tag_scores import fold_name
from kontor.analysis.tagging.category_models import list_grams
from kontor.analysis.tagging.model_priors import NEVER_GUESSED
from kontor.analysis.tagging.prepared_knowledge import list_partners
from kontor.analysis.tagging.readings import Reader
from kontor.analysis.tagging.taggings import NO_INSURANCE, NO_PARTNER, NOBODY, OwnAccounts
from kontor.cli.data_sets import load_manifest
from kontor.domain.transactions import Transaction
from kontor.wire.labelled_rows import read_labelled
from training.generated_rows import Row, generate_rows, list_people, make_reader

# A labelled booking is worth more than a generated one, and names tell something without purposes too.
LABELLED_COUNT, MIN_NAME_LENGTH = 6, 5
MAX_OF_A_KIND = 2  # how often one shop of the demo bank counts for the confidences


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
            if seen[key] > MAX_OF_A_KIND:
                continue
            name = fold_name(truth.partner) if truth.partner else ""
            partners = (name,) if name in known else (fold_name(NO_PARTNER),)
            types = (truth.insurance_type or NO_INSURANCE,)
            yield Sample(str(len(seen)), transaction, own, (truth.category,), types, partners, (), False)


def write_samples(samples: Iterable[Sample], reader: Reader) -> Iterator[Row]:
    """Labelled bookings, as they are and as a name alone."""
    for sample in samples:
        category = sample.categories[0]
        if category.startswith(NEVER_GUESSED):
            continue
        reading = reader.read(sample.transaction)
        grams = tuple(list_grams(reading.name, reading.purpose, reading.is_incoming, reading.channel))
        yield from [Row(category, grams)] * LABELLED_COUNT
        if reading.purpose and len(reading.name) >= MIN_NAME_LENGTH:
            yield Row(category, tuple(list_grams(reading.name, "", reading.is_incoming, reading.channel)))


def is_in_half(sample: Sample, half: int) -> bool:
    return crc32(sample.id.encode()) % 2 == half


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
