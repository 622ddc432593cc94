"""What there is to say about how a fetch went."""

from collections.abc import Sequence

from kontor.connectors.base import FailureKind, Problem, ProblemKind
from kontor.domain.accesses import Notice, NoticeKind
from kontor.services.banks import REFUSALS

FAILURES = REFUSALS | {
    FailureKind.UNREACHABLE: NoticeKind.UNREACHABLE,
    FailureKind.INTERNAL: NoticeKind.INTERNAL,
}
_PARTS = (ProblemKind.PRODUCT, ProblemKind.TRANSACTIONS, ProblemKind.POSITIONS)


def make_notices(problems: Sequence[Problem]) -> list[Notice]:
    """A failing part means that the access as a whole is incomplete, which is said first."""
    notices = [Notice(NoticeKind(problem.kind.value), _join(problem), problem.count) for problem in problems]
    if any(problem.kind in _PARTS for problem in problems):
        notices.insert(0, Notice(NoticeKind.ACCESS_INCOMPLETE))
    return notices


def _join(problem: Problem) -> str | None:
    return ": ".join(part for part in (problem.product_key, problem.detail) if part) or None
