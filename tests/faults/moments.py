"""Which moments a payment has: the spans between two changes that others can see."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from deployments import Moment

Record = list[dict[str, str]]


def split_record(record: Record, *, is_coarse: bool = False) -> list[list[dict[str, str]]]:
    """Spans within which nothing changes for anybody else. Coarse ones end with a commit, not with every message.

    A lease that is to be taken begins a span: before it, the caller may have got an answer.
    """
    spans: list[list[dict[str, str]]] = [[]]
    for entry in record:
        is_change = entry["kind"] == "effect" and (not is_coarse or entry["name"].startswith("after "))
        if spans[-1] and (is_change or entry["name"] == "before write of take_lease"):
            spans.append([])
        spans[-1].append(entry)
    return spans


def list_moments(record: Record, *, is_coarse: bool = False, request: int | None = None) -> list[Moment]:
    """One moment of each span: the last one that the services name, else the last one at all.

    With `request` only those of the caller's request of that number, from 1 on.
    """
    counts: Counter[str] = Counter()
    moments = []
    for span in split_record(record, is_coarse=is_coarse):
        found: dict[str, Moment] = {}
        for entry in span:
            counts[entry["name"]] += 1
            found["point" if entry["kind"] == "point" else "other"] = Moment(entry["name"], counts[entry["name"]])
        if request in (None, counts["before write of take_lease"]):
            moments.append(found.get("point") or found["other"])
    return moments


def find_unnamed(record: Record, is_ours: Iterable[str]) -> list[str]:
    """Commits, messages to the bank and answers of it that the services do not name, before and after.

    Only what the services do themselves: `is_ours` are the beginnings of such names.
    """
    ours = tuple(is_ours)
    missing = []
    spans = split_record(record)
    for before, after in pairwise(spans):
        change = after[0]
        if not change["name"].startswith(ours):
            continue
        # While the bank is at work, what comes next is the bank's own business.
        is_named_before = has_point(before) or change["name"].startswith("receive ")
        is_named_after = has_point(after) or change["name"].startswith("send ")
        if not (is_named_before and is_named_after):
            missing.append(change["name"])
    return missing


def has_point(span: Record) -> bool:
    return any(entry["kind"] == "point" for entry in span)
