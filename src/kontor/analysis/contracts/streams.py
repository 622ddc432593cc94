"""From the payments of one partner to runs of regular ones: one run is one agreement."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kontor.analysis.contracts.payments import Payment, sort_key
from kontor.analysis.contracts.periods import Fit, Period, Timeline, fit_period, list_fits
from kontor.analysis.contracts.regularity import (
    are_equal,
    can_be_agreed,
    can_be_basis,
    can_be_steady,
    can_stand_out,
    is_agreement,
    is_promising,
    stands_out,
)
from kontor.analysis.contracts.single_payments import tells_other_period

_TRIED_FITS = 3
_FEW = 3
_MAX_RUNS_OF_ONE_AMOUNT = 6
_MAX_PAUSE_STEPS = 4
_MAX_CHANGE = 0.4


@dataclass(slots=True, eq=False)
class Run:
    """Regular payments of one agreement in order, and others that share its number or wording."""

    payments: list[Payment]
    period: Period
    extras: list[Payment] = field(default_factory=list)
    numbers: frozenset[str] = frozenset()

    @property
    def is_income(self) -> bool:
        return self.payments[-1].cents > 0


def draw_timeline(payments: Sequence[Payment]) -> Timeline:
    return Timeline([payment.day for payment in payments], [payment.month for payment in payments])


def _choose_members(payments: Sequence[Payment], fit: Fit) -> list[Payment]:
    """One payment for each step: where several came, the one whose amount continues the others."""
    if all(len(group) == 1 for group in fit.crowd):
        return [payments[group[0]] for group in fit.crowd]
    alone = [payments[group[0]].cents for group in fit.crowd if len(group) == 1]
    usual = (
        sorted(alone)[len(alone) // 2] if alone else sorted(payment.cents for payment in payments)[len(payments) // 2]
    )
    wording = Counter(payment.signature for payment in payments).most_common(1)[0][0]
    chosen: list[Payment] = []
    for group in fit.crowd:
        level = chosen[-1].cents if chosen else usual
        best = min(
            (payments[place] for place in group),
            key=lambda payment: (
                min(abs(payment.cents - level), abs(payment.cents - usual)),
                payment.signature != wording,
                sort_key(payment),
            ),
        )
        chosen.append(best)
    return chosen


def find_run(payments: Sequence[Payment]) -> Run | None:
    """The agreement behind payments that look alike, if there is exactly one."""
    if len(payments) < 2:
        return None
    for fit in list_fits(draw_timeline(payments))[:_TRIED_FITS]:
        if not is_promising(fit):
            continue
        members = _choose_members(payments, fit)
        if len(members) <= _FEW and tells_other_period(members[-1], fit.period):
            continue
        if is_agreement(members, fit, len(members) / len(payments)):
            chosen = set(map(id, members))
            return Run(members, fit.period, [payment for payment in payments if id(payment) not in chosen])
    return None


def _peel_runs(payments: Sequence[Payment]) -> tuple[list[Run], list[Payment]]:
    """Agreements hidden among other payments: same amounts in step, taken out one after the other."""
    by_amount: dict[int, list[Payment]] = {}
    for payment in payments:
        by_amount.setdefault(payment.cents, []).append(payment)
    runs: list[Run] = []
    left: list[Payment] = []
    for _, same in sorted(by_amount.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        rest = same
        if not can_stand_out(same):
            left += same
            continue
        for _ in range(_MAX_RUNS_OF_ONE_AMOUNT):
            run = _peel_run(rest)
            if run is None or not stands_out(run.payments, run.period):
                break
            taken = set(map(id, run.payments))
            rest = [payment for payment in rest if id(payment) not in taken]
            runs.append(run)
        left += rest
    return runs, sorted(left, key=sort_key)


def _peel_run(payments: Sequence[Payment]) -> Run | None:
    if len(payments) < 3:
        return find_run(payments)
    whole = find_run(payments)
    if whole is not None and not whole.extras:
        return whole
    best: tuple[float, Fit] | None = None
    for fit in list_fits(draw_timeline(payments)):
        if fit.period.months < 1 or fit.coverage < 0.8:
            continue
        members = [payments[group[0]] for group in fit.crowd]
        rank = fit.coverage * min(1.0, len(members) / 6) * fit.period.prior
        if (best is None or rank > best[0]) and is_agreement(members, fit, 1.0):
            best = rank, fit
    if best is None:
        return whole
    return Run([payments[group[0]] for group in best[1].crowd], best[1].period)


def _split_by_words(payments: Iterable[Payment]) -> dict[tuple[str, str], list[Payment]]:
    """Payments that name the same number, or have the same wording where no number stays."""
    payments = list(payments)
    counts = Counter(number for payment in payments for number in set(payment.all_numbers))
    streams: dict[tuple[str, str], list[Payment]] = {}
    for payment in payments:
        named = next((number for number in payment.all_numbers if counts[number] > 1), None)
        key = ("number", named) if named is not None else ("words", payment.signature)
        streams.setdefault(key, []).append(payment)
    return streams


def _can_continue(earlier: Run, later: Run) -> bool:
    """Does `later` go on where `earlier` stopped: same period and day, about the same amount, no other contract?"""
    if earlier.period.name != later.period.name or earlier.is_income != later.is_income:
        return False
    last, first = earlier.payments[-1], later.payments[0]
    if first.day <= last.day or first.day - last.day > (_MAX_PAUSE_STEPS + 0.5) * earlier.period.days:
        return False
    if _has_other_contract_number(earlier, later):
        return False
    change = abs(first.cents - last.cents) / max(abs(first.cents), abs(last.cents))
    if change > _MAX_CHANGE:
        return False
    fit = fit_period(draw_timeline([*earlier.payments, *later.payments]), earlier.period)
    return fit is not None and fit.share > 0.9


def _has_other_contract_number(earlier: Run, later: Run) -> bool:
    mine = {number for payment in earlier.payments for number in payment.numbers.contract}
    theirs = {number for payment in later.payments for number in payment.numbers.contract}
    return bool(mine and theirs and earlier.numbers and later.numbers and not mine & theirs)


def merge_runs(runs: list[Run]) -> list[Run]:
    """Runs that continue each other are one agreement: a new price, wording, bank or mandate."""
    merged: list[Run] = []
    for run in sorted(runs, key=lambda entry: sort_key(entry.payments[0])):
        before = next((entry for entry in reversed(merged) if _can_continue(entry, run)), None)
        if before is None:
            merged.append(run)
        else:
            before.payments += run.payments
            before.extras += run.extras
            before.numbers |= run.numbers
    return merged


def _absorb(runs: Sequence[Run], left: Iterable[Payment]) -> list[Payment]:
    """Single payments that fall into a gap or at an end of a run, of its amount, belong to it."""
    rest = []
    for payment in left:
        run = next((entry for entry in runs if _fits_into(entry, payment)), None)
        if run is None:
            rest.append(payment)
        else:
            run.payments.append(payment)
            run.payments.sort(key=sort_key)
    return rest


def _fits_into(run: Run, payment: Payment) -> bool:
    if payment.record.category != run.payments[-1].record.category:
        return False
    days = run.period.days
    first, last = run.payments[0].day, run.payments[-1].day
    if not first - 2.5 * days <= payment.day <= last + 2.5 * days:
        return False
    nearest = min(run.payments, key=lambda member: abs(member.day - payment.day))
    if abs(nearest.day - payment.day) < 0.6 * days:
        return False
    is_alike = are_equal(payment.cents, nearest.cents) or (
        payment.method.is_repeating and abs(payment.cents - nearest.cents) <= 0.25 * abs(nearest.cents)
    )
    if not is_alike or (payment.numbers.contract and run.numbers):
        return False
    fit = fit_period(draw_timeline(sorted([*run.payments, payment], key=sort_key)), run.period)
    return fit is not None and fit.share == 1.0


def find_runs(payments: Sequence[Payment]) -> tuple[list[Run], list[Payment]]:
    """All agreements among one partner's payments of one direction, and the payments that are in none."""
    usable: list[Payment] = []
    left: list[Payment] = []
    for payment in payments:
        (usable if can_be_basis(payment) else left).append(payment)
    runs: list[Run] = []
    loose: list[Payment] = []
    for (kind, name), stream in _split_by_words(usable).items():
        found, rest = _find_runs_of_stream(stream)
        if kind == "number":
            for run in found:
                run.numbers = frozenset({name})
        runs += found
        loose += rest
    by_category: dict[str, list[Payment]] = {}
    for payment in sorted(loose, key=sort_key):
        by_category.setdefault(payment.record.category, []).append(payment)
    pending: list[Payment] = []
    for pool in by_category.values():
        found, rest = _find_runs_of_stream(pool)
        runs += found
        pending += rest
    runs = merge_runs(runs)
    pending = _absorb(runs, sorted(pending, key=sort_key))
    return runs, sorted([*left, *pending], key=sort_key)


def _find_runs_of_stream(stream: Sequence[Payment]) -> tuple[list[Run], list[Payment]]:
    if not can_be_agreed(stream):
        return [], list(stream)
    run = find_run(stream) if can_be_steady(stream) else None
    if run is not None and not _hides_another(run):
        return [run], []
    runs, rest = _peel_runs(stream)
    if run is not None and sum(len(entry.payments) for entry in runs) <= len(run.payments):
        return [run], []
    return runs, rest


def _hides_another(run: Run) -> bool:
    """Whether the payments beside the run could be an agreement of their own."""
    return len(run.extras) >= max(3, 0.3 * len(run.payments)) and any(
        are_equal(earlier.cents, later.cents) for earlier, later in pairwise(run.extras)
    )
