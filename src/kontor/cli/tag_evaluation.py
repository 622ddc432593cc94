"""Scoring the tagger on labelled transactions: reading them, judging each, and the figures."""

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from kontor.analysis.scoring.partner_names import ShortNames
from kontor.analysis.scoring.tag_scores import Judged, Labelled, TagScores
from kontor.analysis.tagging import NOBODY, Tagger, Tagging, find_partner, list_partners
from kontor.wire.labelled_rows import read_labelled

# Its name, its value, of how many rows, and where the true value is in 95 of 100 cases (empty if not known).
Figure: TypeAlias = tuple[str, float | int | None, int | str, str]
PASSES = 3  # the fastest of some passes is what the machine could do


def read_files(files: Sequence[Path]) -> list[Labelled]:
    return [row for file in files for row in read_labelled(file.read_bytes().splitlines())]


@lru_cache(maxsize=1)
def load_short_names() -> ShortNames:
    return ShortNames(list_partners())


def judge(labelled: Sequence[Labelled], tagger: Tagger) -> list[Judged]:
    judged, short_names = [], load_short_names()
    for row in labelled:
        start = time.perf_counter()
        tagging = tagger.tag([row.transaction], NOBODY)[0]
        seconds = time.perf_counter() - start
        judged.append(judge_tagging(row, tagging, short_names, seconds))
    return judged


def judge_tagging(
    row: Labelled, tagging: Tagging, short_names: ShortNames, seconds: float = 0.0, names: Sequence[str] = ()
) -> Judged:
    """`names` are those of a partner that this code does not know; without them its tag is its name."""
    partner = find_partner(tagging.partner)
    if partner is None:
        return Judged(row, tagging, tuple(names) or (tagging.partner,), seconds)
    return Judged(row, tagging, partner.names, seconds, short_names.find(partner))


def measure_speed(labelled: Sequence[Labelled], tagger: Tagger) -> float:
    """Transactions per second of processor time, all four trees, in bulk."""
    transactions = [row.transaction for row in labelled]
    best = float("inf")
    for _ in range(PASSES):
        start = time.process_time()
        tagger.tag(transactions, NOBODY)
        best = min(best, time.process_time() - start)
    return len(transactions) / best if best else 0.0


def list_figures(scores: TagScores, speed: float) -> list[Figure]:
    shares = {
        "main category": scores.main,
        "category": scores.category,
        "insurance division": scores.insurance_division,
        "insurance product": scores.insurance_product,
        "other rows called insurance": scores.false_insurance,
        "partner": scores.partner,
        "wrong partner": scores.wrong_partner,
        "partner where there is none": scores.false_partner,
        "partner without short names": scores.exact_partner,
        "wrong partner without short names": scores.exact_wrong_partner,
        "freelancer category": scores.freelancer,
    }
    rows: list[Figure] = [
        (name, round(share.value, 4), share.count, show_interval(share.interval)) for name, share in shares.items()
    ]
    return [
        *rows,
        ("macro F1 of categories", round(scores.macro_f1, 4), scores.rows, ""),
        (
            "calibration error",
            round(scores.calibration_error, 4),
            scores.rows,
            show_interval(scores.calibration_interval),
        ),
        ("Brier score", round(scores.brier, 4), scores.rows, ""),
        ("AUROC of the confidence", None if scores.auroc is None else round(scores.auroc, 4), scores.rows, ""),
        ("rows per second of processor time", round(speed), scores.rows, ""),
    ]


def show_interval(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.4f} to {interval[1]:.4f}"
