"""Faults in FinTS messages: which kind a message is, and whose."""

from collections.abc import Callable

from kontor.demobank.faults import FaultInjector, RequestKind, Visit
from kontor.demobank.fints.messages import Request

STATEMENTS = frozenset(("HKKAZ", "HKCAZ", "DKKKU"))


def answer_with_faults(faults: FaultInjector, request: Request, respond: Callable[[Visit], bytes]) -> bytes:
    """Anonymous dialogues are nobody's: nothing goes wrong in them."""
    if request.signature is None:
        return respond(Visit(0, RequestKind.OTHER))
    login = request.signature.login
    visit = faults.visit(login, _find_kind(request), "fints")
    return faults.exchange(login, visit, lambda: respond(visit))


def _find_kind(request: Request) -> RequestKind:
    codes = {segment.code for segment in request.segments}
    if "HKIDN" in codes:
        return RequestKind.LOGIN
    if codes & STATEMENTS:
        return RequestKind.STATEMENT
    return RequestKind.TAN if codes <= {"HKTAN", "HKVPA"} else RequestKind.OTHER
