"""Writes docs/evaluation: how good tags and analyses are, with plots. `./dev evaluate` runs it.

    python -m evaluation_pages [--only tags|people|confidences] [--target docs/evaluation]

Rows of held-out files are never shown: only figures of all of them together are written.
"""

import argparse
import sys
from pathlib import Path

from evaluation_pages.contract_confidences import publish_confidences
from evaluation_pages.parts import COMMAND, ROOT
from evaluation_pages.people import publish_people
from evaluation_pages.tags import publish_tags


def main() -> None:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--only", choices=("tags", "people", "confidences"), help="write this page alone")
    parser.add_argument("--target", type=Path, default=ROOT / "docs/evaluation")
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    for name, publish in (("tags", publish_tags), ("people", publish_people), ("confidences", publish_confidences)):
        if options.only in (None, name):
            publish(options.target)
    print(f"Written to {options.target}.")


if __name__ == "__main__":
    sys.exit(main())
