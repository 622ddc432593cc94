"""What there is to say about how a fetch went."""

from collections.abc import Sequence

from kontor.connectors.base import FailureKind, Problem, ProblemKind
from kontor.domain.accesses import Notice, NoticeKind

FAILURES = {
    FailureKind.WRONG_CREDENTIALS: NoticeKind.WRONG_CREDENTIALS,
    FailureKind.LOCKED: NoticeKind.LOCKED,
    FailureKind.INCOMPLETE_CREDENTIALS: NoticeKind.INCOMPLETE_CREDENTIALS,
    FailureKind.UNREACHABLE: NoticeKind.UNREACHABLE,
    FailureKind.INTERNAL: NoticeKind.INTERNAL,
}
# Nobody tries again on his own with credentials that the bank refused.
CREDENTIAL_FAILURES = frozenset((FailureKind.WRONG_CREDENTIALS, FailureKind.LOCKED, FailureKind.INCOMPLETE_CREDENTIALS))
_PARTS = (ProblemKind.PRODUCT, ProblemKind.TRANSACTIONS, ProblemKind.POSITIONS)


def make_notices(problems: Sequence[Problem]) -> list[Notice]:
    """A failing part means that the access as a whole is incomplete, which is said first."""
    notices = [Notice(NoticeKind(one.kind.value), _join(one), one.count) for one in problems]
    if any(one.kind in _PARTS for one in problems):
        notices.insert(0, Notice(NoticeKind.ACCESS_INCOMPLETE))
    return notices


def _join(problem: Problem) -> str | None:
    return ": ".join(part for part in (problem.product_key, problem.detail) if part) or None
