"""Whether the confidences of contracts are honest: docs/evaluation/contract-confidences.md."""

from collections.abc import Sequence
from pathlib import Path

from evaluation_pages.parts import COMMAND, DAYS, SUFFIX, make_table, wrap, write_plot
from kontor.analysis.contracts.confidences import score_certainty
from kontor.analysis.scoring.calibration import find_calibration_error, find_calibration_interval, make_bins
from kontor.cli.contract_confidences import judge_contracts
from kontor.cli.demo_truths import Tags
from kontor.cli.evaluation_plots import draw_reliability
from kontor.connectors.demo.people import PERSONAS


def publish_confidences(target: Path) -> None:
    pairs = [
        (score_certainty(cell), is_right)
        for day in DAYS
        for login in PERSONAS
        for cell, is_right in judge_contracts(login + SUFFIX, day, Tags.TAGGER)
    ]
    bins = make_bins(pairs)
    write_plot(target / "contract-confidences.svg", draw_reliability(bins, "Contracts: is the confidence honest?"))
    (target / "contract-confidences.md").write_text(make_confidences_page(pairs), encoding="utf-8")


def make_confidences_page(pairs: Sequence[tuple[float, bool]]) -> str:
    days = " and ".join(str(day) for day in DAYS)
    low, high = find_calibration_interval(pairs)
    right = sum(is_right for _, is_right in pairs)
    rows = [(f"{span.confidence:.4f}", f"{span.accuracy:.4f}", f"{span.count:,}") for span in make_bins(pairs)]
    lines = [
        "# How sure contracts are",
        "",
        f"Written by `{COMMAND}`; do not edit.",
        "",
        *wrap(
            "The `confidenceLevel` of a contract is the estimated probability that the agreement exists, with its"
            " period and status. It is fitted on the demo bank's people under other logins and on other days"
            " (`scripts/fit_contract_confidences.py`), and tested here on people that were held out, looked at on"
            f" {days} with the tagger's tags. They are made by the same generator: real accounts are harder."
        ),
        "",
        *make_table(
            ("", "value", "of"),
            [
                ("right", f"{right / len(pairs):.4f}", f"{len(pairs):,}"),
                ("calibration error", f"{find_calibration_error(pairs):.4f}", f"{len(pairs):,}"),
                ("… 95 % interval", f"{low:.4f} – {high:.4f}", f"{len(pairs):,}"),
            ],
        ),
        "",
        *make_table(("mean confidence", "right", "contracts"), rows),
        "",
        "![Is the confidence of contracts honest?](contract-confidences.svg)",
        "",
    ]
    return "\n".join(lines)
