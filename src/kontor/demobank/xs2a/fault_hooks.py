"""Faults in XS2A requests: which kind a request is, and whose."""

from collections.abc import Callable
from dataclasses import replace

from kontor.demobank.faults import FaultInjector, LostAnswerError, RequestKind, SubstitutedAnswerError
from kontor.demobank.xs2a.exchanges import Request, Response

LOST = Response(200, content=b"{", headers={"Content-Type": "application/json"}, is_cut=True)


class Xs2aFaults:
    """Knows the customer of each consent and payment: most requests name only these."""

    def __init__(self, faults: FaultInjector) -> None:
        self._faults = faults
        self._logins: dict[str, str] = {}

    def exchange(self, request: Request, respond: Callable[[Request], Response]) -> Response:
        login = request.login or self._find_login(request)
        if login is None:
            return respond(request)
        visit = self._faults.visit(login, _find_kind(request), "xs2a")

        def answer() -> Response:
            response = respond(replace(request, visit=visit))
            if isinstance(response.body, dict):
                for name in ("consentId", "paymentId"):
                    if name in response.body:
                        self._logins[response.body[name]] = login
            # Sent again later, it still says which request it answered.
            return replace(
                response, headers={"X-Request-ID": request.headers.get("x-request-id", ""), **response.headers}
            )

        try:
            return self._faults.exchange(login, visit, answer)
        except SubstitutedAnswerError as other:
            return Response(other.status, content=other.body, headers={"Content-Type": other.content_type})
        except LostAnswerError:
            return LOST

    def _find_login(self, request: Request) -> str | None:
        names = (request.headers.get("consent-id", ""), *request.path.split("/"))
        return next((self._logins[name] for name in names if name in self._logins), None)


def _find_kind(request: Request) -> RequestKind:
    if request.path.endswith("/transactions"):
        return RequestKind.STATEMENT
    if request.method in ("POST", "PUT") and "/authorisations" in request.path:
        if b'"psuData"' in request.body:
            return RequestKind.LOGIN
        return RequestKind.TAN if b'"scaAuthenticationData"' in request.body else RequestKind.OTHER
    return RequestKind.OTHER
