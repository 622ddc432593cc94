"""Migrations and decisions are numbered from 1 on, each number once and without a gap.

    python scripts/check_numbers.py

Two changes that were made at the same time may have taken the same number. `./dev check` runs this.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
NUMBERED = {"src/kontor/storage/migrations": ".sql", "docs/decisions": ".md"}
UNNUMBERED = {"README.md"}


def find_problems(names: Iterable[str]) -> list[str]:
    """What is wrong with the numbers that these names begin with."""
    problems, by_number = [], dict[int, list[str]]()
    for name in sorted(names):
        found = re.match(r"(\d{4})[_-].", name)
        if found is None:
            problems.append(f"{name}: begins with no number of four digits")
        else:
            by_number.setdefault(int(found[1]), []).append(name)
    gaps = set(range(1, max(by_number, default=0))) - by_number.keys()
    problems += [f"{number:04}: is missing" for number in sorted(gaps)]
    problems += [f"{number:04}: {', '.join(twins)}" for number, twins in by_number.items() if len(twins) > 1]
    return problems + [f"{twins[0]}: the first number is 0001" for number, twins in by_number.items() if number == 0]


def check_folders(root: Path) -> list[str]:
    return [
        f"{folder}: {problem}"
        for folder, ending in NUMBERED.items()
        for problem in find_problems(
            path.name
            for path in (root / folder).iterdir()
            if path.name.endswith(ending) and path.name not in UNNUMBERED
        )
    ]


if __name__ == "__main__":
    problems = check_folders(ROOT)
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)
