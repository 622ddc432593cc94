"""Who is signed in. The bearer token is the session: it lives in a cookie that no script can read, and nowhere else."""

import base64
import binascii
import re
import time
from enum import StrEnum
from typing import Any

import msgspec
from litestar.response.base import ASGIResponse

from kontor.domain.secrets import Secret
from kontor.pages.browser import AnyRequest, Cookies

DIALOGUE_COOKIE = "kontor-dialogue"
DIALOGUE_SECONDS = 3600
RENEWED = "kontor.console.renewed"  # in a request's scope: the cookie that notes it
NOTED_SECONDS = 30  # so many seconds are not noted, so that most answers set no cookie
_PLACE = re.compile(r"[\w.~%-]{1,300}/[0-9a-f-]{36}", re.ASCII)


class Role(StrEnum):
    USER = "user"
    OPERATOR = "operator"
    ADMIN = "admin"  # a tenant's admin client


class Session(msgspec.Struct, frozen=True):
    """What is said beside the token only decides what is drawn: what may be seen, the API decides by the token."""

    token: str
    role: Role
    name: str
    tenant: str | None = None
    is_adviser: bool = False
    reference: str = ""  # of a user, as the API names it
    seen: int = 0  # when a page was last asked for, in Unix seconds; 0: not known

    def __repr__(self) -> str:
        return f"Session({self.role}, {self.tenant}, {self.name})"

    __str__ = __repr__


class SessionCookies:
    """A user's session and an operator's stand beside each other: whoever runs a service also looks at it."""

    def __init__(self, *, is_https: bool, idle_seconds: int) -> None:
        self._idle_seconds = idle_seconds
        self._user = Cookies("kontor-console", is_https)
        self._operator = Cookies("kontor-operator", is_https)

    def read(self, request: AnyRequest, *, is_operator: bool) -> Session | None:
        cookie = self._choose(is_operator).read(request)
        if cookie is None:
            return None
        try:
            session = msgspec.json.decode(base64.urlsafe_b64decode(cookie.reveal()), type=Session)
        except (binascii.Error, ValueError, msgspec.MsgspecError):
            return None
        return session if session.token.isascii() and session.token.isprintable() else None  # as a header can be

    def is_idle(self, session: Session) -> bool:
        """Nobody has asked for a page for so long that the session ends."""
        return bool(session.seen) and time.time() - session.seen > self._idle_seconds

    def note(self, request: AnyRequest, session: Session) -> None:
        """A page is asked for now. Nothing is noted where the cookie says it well enough."""
        if time.time() - session.seen > NOTED_SECONDS:
            scope: dict[str, Any] = request.scope  # type: ignore[assignment]
            scope[RENEWED] = self.write(session)

    def write(self, session: Session) -> str:
        seen = msgspec.structs.replace(session, seen=int(time.time()))
        value = base64.urlsafe_b64encode(msgspec.json.encode(seen)).decode()
        return self._choose(session.role is not Role.USER).write(Secret(value))

    def forget(self, *, is_operator: bool) -> str:
        return self._choose(is_operator).forget()

    def _choose(self, is_operator: bool) -> Cookies:
        return self._operator if is_operator else self._user


def renew_session(request: AnyRequest, response: ASGIResponse) -> ASGIResponse:
    """The request counts as activity, unless its answer writes a cookie itself, as signing out does."""
    cookie = request.scope.get(RENEWED)
    if isinstance(cookie, str) and "set-cookie" not in response.headers:
        response.headers.add("Set-Cookie", cookie)
    return response


# A dialogue with a bank, for whoever comes back from the bank's own page. It is named, and nothing is said about it.


def write_dialogue(place: str, *, is_https: bool) -> str:
    base = f"{DIALOGUE_COOKIE}={place}; Path=/; Max-Age={DIALOGUE_SECONDS}; HttpOnly; SameSite=Lax"
    return f"__Host-{base}; Secure" if is_https else base


def read_dialogue(request: AnyRequest) -> str | None:
    """`<access>/<consent>`, as they stand in addresses."""
    found = request.cookies.get(f"__Host-{DIALOGUE_COOKIE}") or request.cookies.get(DIALOGUE_COOKIE)
    return found if found and _PLACE.fullmatch(found) else None
