"""Strong customer authentication, driven to its end: the service says what is asked, an `Authenticator` answers."""

import time
from collections.abc import Awaitable
from typing import Any, Protocol, TypeVar

from kontor_client.errors import ApiError, Message, TimeLimitError
from kontor_client.models.authentication import Challenge, ScaMedium, ScaMethod, ScaStatus
from kontor_client.plans import Call, Pause, Plan, ask, fetch, send

S = TypeVar("S", bound=ScaStatus)
POLL_SECONDS = 2.0
BUSY_SECONDS = 0.5
MAX_CONFLICTS = 20


class Authenticator(Protocol):
    """The user, as your program talks to them.

    Methods may be coroutines where an `AsyncKontor` drives them. None as an answer cancels.
    """

    def choose_method(self, methods: list[ScaMethod]) -> int | Awaitable[int | None] | None:
        """The code of one of the methods."""

    def choose_medium(self, media: list[ScaMedium]) -> str | Awaitable[str | None] | None:
        """The name of one of the media."""

    def enter_tan(self, challenge: Challenge, is_repeated: bool) -> str | Awaitable[str | None] | None:
        """The TAN. `is_repeated`: the one before was wrong; the third wrong one ends it."""

    def confirm(self, challenge: Challenge) -> bool | Awaitable[bool | None] | None:
        """Tell the user to confirm in the bank's app. Called once; then the bank is asked until it is done."""

    def follow_redirect(self, url: str) -> str | Awaitable[str | None] | None:
        """Send the user to the bank's page; the query string that came back at your callback URL."""

    def decide_payee(self, message: Message) -> bool | Awaitable[bool | None] | None:
        """The payee's name does not fit the IBAN, as the message says: True pays nevertheless."""


def authenticate(status: S, expected: type[S], authenticator: Authenticator, timeout_seconds: float) -> Plan[S]:
    """Answer until nothing is asked any more; the last status is returned, whatever it says."""
    driver = _Driver(authenticator)
    end = time.monotonic() + timeout_seconds
    address = status.href("self")
    conflicts = 0
    while True:
        if time.monotonic() >= end:
            raise TimeLimitError(f"The authentication was not finished within {timeout_seconds} seconds.")
        try:
            call = yield from driver.choose_answer(status)
            if call is None:
                return status
            answer = yield from send(call)
            status = answer.decode(expected)
        except ApiError as error:
            # The step was answered elsewhere, or the credentials are in use at this moment: look again.
            conflicts += 1
            if error.status != 409 or conflicts > MAX_CONFLICTS:
                raise
            yield Pause(BUSY_SECONDS)
            status = yield from fetch(expected, address)


class _Driver:
    """Finds the answer to a status."""

    def __init__(self, authenticator: Authenticator) -> None:
        self.authenticator = authenticator
        self.is_confirming = False

    def choose_answer(self, status: ScaStatus) -> Plan[Call | None]:
        """The call that answers what is asked; None at the end."""
        offered = {relation.rel for relation in status.relations}
        if "confirm_vop" in offered:
            return (yield from self._decide_payee(status))
        if "set_method" in offered:
            return (yield from self._choose_method(status))
        if "set_medium" in offered:
            return (yield from self._choose_medium(status))
        if "redirect_url" in offered:
            url = status.href("redirect_url")
            query = yield from ask(str, self.authenticator.follow_redirect, url)
            return _answer(status, "authenticate", "scaAuthenticationData", query)
        if "poll" in offered:
            return (yield from self._confirm(status))
        if "authenticate" in offered:
            tan = yield from ask(str, self.authenticator.enter_tan, status.challenge, status.is_tan_wrong)
            return _answer(status, "authenticate", "scaAuthenticationData", tan)
        if "get_webform" in offered:  # the user goes on there
            return None
        if not status.messages:  # the bank is being asked at this very moment
            yield Pause(BUSY_SECONDS)
            return Call("GET", status.href("self"))
        return None

    def _choose_method(self, status: ScaStatus) -> Plan[Call]:
        code = yield from ask(int, self.authenticator.choose_method, status.methods)
        return _answer(status, "set_method", "chosenScaMethodId", code)

    def _choose_medium(self, status: ScaStatus) -> Plan[Call]:
        name = yield from ask(str, self.authenticator.choose_medium, status.media)
        return _answer(status, "set_medium", "chosenScaMedia", name)

    def _decide_payee(self, status: ScaStatus) -> Plan[Call]:
        is_wanted = yield from ask(bool, self.authenticator.decide_payee, status.messages[-1])
        return Call("POST", status.href("confirm_vop" if is_wanted else "cancel"))

    def _confirm(self, status: ScaStatus) -> Plan[Call]:
        if not self.is_confirming:
            self.is_confirming = True
            said = yield from ask(bool, self.authenticator.confirm, status.challenge)
            if said is False:
                return Call("POST", status.href("cancel"))
        yield Pause(POLL_SECONDS)
        return Call("GET", status.href("poll"))


def _answer(status: ScaStatus, rel: str, field: str, value: Any) -> Call:
    if value is None:
        return Call("POST", status.href("cancel"))
    return Call("POST", status.href(rel), json={field: value})
