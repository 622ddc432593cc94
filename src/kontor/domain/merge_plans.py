"""What a delivery of bookings does to a product: the merge, and what balances say about the bookings after it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kontor.domain.balances import BalanceGap, BalanceSpan, find_gap, find_newest_gap
from kontor.domain.merging import Merge, StoredTransaction, apply_merge, merge_transactions
from kontor.domain.transactions import Transaction


@dataclass(frozen=True, slots=True)
class MergePlan:
    """`gap_before` is the product's balance gap as stored, `gap` the one from now on.

    `span_gaps` are those of the spans that came with these bookings.
    """

    merge: Merge
    gap_before: BalanceGap | None
    gap: BalanceGap | None
    span_gaps: tuple[BalanceGap, ...]


def plan_merge(
    stored: Sequence[StoredTransaction],
    gap: BalanceGap | None,
    rows: Sequence[Transaction],
    spans: Sequence[BalanceSpan],
    *,
    keeps_pending: bool = False,
) -> MergePlan:
    """With `keeps_pending`, pending rows that do not come again stay: only the bank knows what became of them."""
    merge = merge_transactions(stored, rows)
    if keeps_pending:
        merge = replace(merge, vanished=())
    after = apply_merge(stored, merge)
    open_spans = [*spans]
    if gap is not None and not any(_covers(span, gap.span) for span in spans):
        open_spans.append(gap.span)
    span_gaps = (find_gap(span, after) for span in spans)
    return MergePlan(
        merge,
        gap,
        find_newest_gap(open_spans, after),
        tuple(span_gap for span_gap in span_gaps if span_gap is not None),
    )


def plan_first(rows: Sequence[Transaction]) -> MergePlan:
    """As `plan_merge` for rows without balances, where nothing is stored: all are new."""
    return MergePlan(Merge(tuple(rows), (), ()), None, None, ())


def _covers(span: BalanceSpan, other: BalanceSpan) -> bool:
    return span.currency == other.currency and span.first.day <= other.first.day and other.last.day <= span.last.day
