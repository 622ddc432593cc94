"""How far a second reader of the rows agrees with their labels: nobody, and no tagger, can be expected to agree more.

    python scripts/compare_readers.py

The reader saw the rows of `evaluation/transactions` alone, neither labels nor tags. The answers are in
`evaluation/readers`, a line for each row: `id | CATEGORY`, with a second one where it is as defensible.
"""

from pathlib import Path

from kontor.analysis.scoring.tag_scores import name_main
from kontor.wire.labelled_rows import read_labelled

EVALUATION = Path(__file__).parents[1] / "evaluation"


def main() -> None:
    for answers in sorted((EVALUATION / "readers").glob("*.txt")):
        chosen = dict(line.split(" | ") for line in answers.read_text(encoding="utf-8").splitlines())
        lines = (EVALUATION / "transactions" / f"{answers.stem}.jsonl").read_bytes().splitlines()
        rows = [
            (labelled.gold.category, chosen[labelled.id].split(",")[0])
            for labelled in read_labelled(lines)
            if labelled.id in chosen
        ]
        mains = sum(name_main(said) in map(name_main, accepted) for accepted, said in rows)
        categories = sum(said in accepted for accepted, said in rows)
        print(f"{answers.stem}: {len(rows)} rows, main {mains / len(rows):.4f}, category {categories / len(rows):.4f}")


if __name__ == "__main__":
    main()
