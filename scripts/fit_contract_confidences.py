"""Writes src/kontor/analysis/contracts/confidences.json: how sure contracts are, fitted on the demo bank's people.

    python scripts/fit_contract_confidences.py [--check]

The people that are published as held out (`evaluation_pages/`) are not among them.
"""

import argparse
import json
import sys
from datetime import date
from pathlib import Path

from kontor.analysis.contracts.confidences import FILE_NAME
from kontor.cli.contract_confidences import judge_contracts
from kontor.cli.demo_truths import Tags
from kontor.connectors.demo.people import PERSONAS

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

from training.logistic import count_cells, fit  # noqa: E402

TARGET = ROOT / "src/kontor/analysis/contracts" / FILE_NAME
SUFFIXES = ("+fit1", "+fit2")
DAYS = (date(2024, 8, 6), date(2025, 5, 20), date(2026, 3, 11))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="say whether the committed file is up to date")
    options = parser.parse_args()
    samples = [
        judged
        for suffix in SUFFIXES
        for day in DAYS
        for login in PERSONAS
        for judged in judge_contracts(login + suffix, day, Tags.TAGGER)
    ]
    text = json.dumps(fit(count_cells(samples)), indent=1, sort_keys=True) + "\n"
    right = sum(is_right for _, is_right in samples)
    print(f"{right} of {len(samples)} contracts are right.")
    if options.check:
        raise SystemExit(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
