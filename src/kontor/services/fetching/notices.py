"""What there is to say about how a fetch went."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from kontor.connectors.base import FailureKind, Problem, ProblemKind
from kontor.domain.accesses import Notice, NoticeKind
from kontor.services.banks import REFUSALS

FAILURES = REFUSALS | {
    FailureKind.UNREACHABLE: NoticeKind.UNREACHABLE,
    FailureKind.INTERNAL: NoticeKind.INTERNAL,
}
_PARTS = (ProblemKind.PRODUCT, ProblemKind.TRANSACTIONS, ProblemKind.POSITIONS)


def make_notices(problems: Sequence[Problem], named: Mapping[str, tuple[UUID, str]]) -> list[Notice]:
    """A failing part means that the access as a whole is incomplete, which is said first.

    `named` has ids and names of products by the bank's keys.
    """
    notices = [_make_notice(problem, named) for problem in problems]
    if any(problem.kind in _PARTS for problem in problems):
        notices.insert(0, Notice(NoticeKind.ACCESS_INCOMPLETE))
    return notices


def _make_notice(problem: Problem, named: Mapping[str, tuple[UUID, str]]) -> Notice:
    kind = NoticeKind(problem.kind.value)
    if problem.product_key is not None and problem.product_key in named:
        product_id, name = named[problem.product_key]
        return Notice(kind, problem.detail, problem.count, product_id, name)
    detail = ": ".join(part for part in (problem.product_key, problem.detail) if part)
    return Notice(kind, detail or None, problem.count)
