"""`--merging`: generated histories of deliveries through the rule of identity, judged by an oracle."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

from rich.console import Console

from benchmarks.environment import open_database
from benchmarks.machine import describe_run
from benchmarks.merging.former_rule import merge_by_words
from benchmarks.merging.histories import BEHAVIOURS, Delivery, make_history
from benchmarks.merging.scoring import OUR_RULE, Rule, Score, play
from benchmarks.merging.storing import score_stored
from benchmarks.report import show_table, write_table_page
from kontor.domain.transactions import find_day

HISTORIES, STORED_HISTORIES = 100_000, 1_000
QUICK_HISTORIES, QUICK_STORED_HISTORIES = 2_000, 50
FORMER_HISTORIES = 2_000
PIECE = 500
HEADINGS = ("", "histories", "bookings", "deliveries", "lost", "doubled", "confused", "false alarms")


def _find_former_first(delivery: Delivery) -> date | None:
    """Rows before the day asked for were not looked at."""
    return delivery.since or min((day for day in map(find_day, delivery.rows) if day is not None), default=date.max)


FORMER_RULE = Rule(merge_by_words, _find_former_first)


def score_piece(start: int, end: int, *, is_former: bool = False) -> Score:
    total = Score()
    for seed in range(start, end):
        score, _ = play(make_history(seed), FORMER_RULE if is_former else OUR_RULE)
        if not score.is_right:
            score.wrong.append(seed)
        total.add(score)
    return total


def score_many(count: int, say: Callable[[str], None], *, is_former: bool = False) -> Score:
    """Seeds 0 to `count`, on all cores."""
    total = Score()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        pieces = [
            pool.submit(score_piece, start, min(start + PIECE, count), is_former=is_former)
            for start in range(0, count, PIECE)
        ]
        for number, piece in enumerate(pieces, 1):
            total.add(piece.result())
            if number % 20 == 0:
                say(f"  {total.histories:,} histories, wrong: {total.wrong[:20] or 'none'}")
    return total


def run_merging(console: Console, target: Path | None, *, is_quick: bool) -> None:
    count, stored_count = (QUICK_HISTORIES, QUICK_STORED_HISTORIES) if is_quick else (HISTORIES, STORED_HISTORIES)
    former_count = min(FORMER_HISTORIES, count)
    console.print(f"{count:,} histories in memory …")
    pure = score_many(count, console.print)
    console.print(f"{former_count:,} of them by the former rule …")
    former = score_many(former_count, console.print, is_former=True)
    console.print(f"{stored_count:,} of them through PostgreSQL …")
    with open_database() as settings:
        stored = asyncio.run(score_stored(settings, range(stored_count), console.print))
    rows = [_make_row(name, score) for name, score in (("in memory", pure), ("through PostgreSQL", stored))]
    rows.append(_make_row("the former rule", former))
    lines = [f"{name}: in {pure.behaviours[name]:,} histories." for name in BEHAVIOURS]
    lines.append("The rule: [ADR 0026](../decisions/0026-rule-of-identity.md).")
    lines += [f"Wrong: seeds {', '.join(map(str, pure.wrong[:20]))}."] if pure.wrong else []
    show_table("Identity of bookings", HEADINGS, rows, lines, console)
    if target is not None:
        write_page(target / "merging.md", rows, lines)
        console.print(f"Written to {target / 'merging.md'}.")


def _make_row(name: str, score: Score) -> tuple[str, ...]:
    figures = (
        score.histories,
        score.bookings,
        score.deliveries,
        score.lost,
        score.doubled,
        score.confused,
        score.alarms,
    )
    return (name, *(f"{figure:,}" for figure in figures))


INTRODUCTION = (
    "Is every true booking stored exactly once, under one id? All data is generated: an oracle draws the true history"
    " of an account (equal tickets from one machine, the same amount from several people on one day, several debits"
    " by one mandate, card payments that differ only in the time of day, returned debits with the debit's text,"
    " standing orders, reservations that expire), and a bank and files deliver it as real banks do. 'Lost' and"
    " 'doubled' count bookings at the end, 'confused' rows that took the id of a booking with another name or text,"
    " 'false alarms' balances wrongly reported as wrong. Cases that are undecidable are excluded by assumption: a"
    " bank repeats whole days, except for deltas; equal bookings without any reference do not arrive one by one in"
    " deltas; a file ends with a whole day; amounts of final bookings do not change; if equal texts and amounts occur"
    " several times, each has its own value date; rows stored before channels were known have the booking date, and"
    " the first fetch after that upgrade repeats its last days. Histories with the same seed are identical in every"
    " run."
)


def write_page(path: Path, rows: Sequence[tuple[str, ...]], lines: Sequence[str]) -> None:
    machine = describe_run("./dev bench --merging", None, Data="generated by `benchmarks/merging`, seeds from 0 on")
    write_table_page(path, "Benchmark: identity of bookings", INTRODUCTION, HEADINGS, rows, lines, machine)
