"""Trains the category model of the tagger and fits its confidences.

Needs numpy and scipy (dependency group `dev`). The same sources give the same bytes:

    python -m training

With `--keep-model` only the confidences are fitted anew, as a change of the tagger's decisions needs.

The description of the model holds a digest of the rows it was trained on. A change of the lexicon changes those rows
but does not need a new model; `tests/analysis/tagging/test_model_rebuild.py` says when the model is out of date.

`evaluation/transactions/manifest.toml` says which labelled files teach and which are kept back; a labelled file that it
does not list is refused.

The model learns from generated bookings (each keyword and partner of the lexicon in several made-up settings, and the
demo bank's people, who never share a login with those of the tests) and from the labelled files, as `kontor evaluate`
reads them. The confidences are fitted on the labelled files that the manifest names for it, and on the demo bank's
truth: each labelled booking by a model that has not seen it, and once more without its partner in the lexicon, as a
merchant is that nobody wrote down. They are cross-validated.
"""

import argparse
import sys
from pathlib import Path

from kontor.analysis.tagging.category_models import CategoryModel
from training.confidences import fit_confidences
from training.models import digest_rows, train
from training.samples import read_sources

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src/kontor/analysis/data/model"
LABELLED = ROOT / "evaluation/transactions"


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
    models = [CategoryModel(*train(sources.list_rows(half))) for half in (1, 0)]
    fit_confidences(sources.samples, (models[0], models[1]), options.target)


if __name__ == "__main__":
    sys.exit(main())
