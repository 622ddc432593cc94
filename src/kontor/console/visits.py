"""A visit: one request for one page, with all that a view needs to answer it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from kontor.console.gateway import Gateway
from kontor.console.sessions import Session
from kontor.pages.browser import AnyRequest, BadRequestError
from kontor.pages.texts import Texts

BASE = "/console"
Facts = dict[str, Any]


class RedirectTo(Exception):  # noqa: N818 (not an error)
    """The browser shall go on to another page; `notice` is the key of a text shown there once.

    `kept` is what the browser keeps for a while, for whoever comes back from a bank's own page.
    """

    def __init__(
        self, url: str, notice: str | None = None, *, ends_session: bool = False, kept: str | None = None
    ) -> None:
        super().__init__(url)
        self.url = url
        self.notice = notice
        self.ends_session = ends_session
        self.kept = kept


@dataclass(frozen=True, slots=True)
class Visit:
    request: AnyRequest
    api: Gateway
    session: Session
    texts: Texts
    query: Mapping[str, str]
    base_url: str  # of the API
    own_url: str  # of the console
    today: date
    file: bytes | None = None  # what was sent with the form

    @property
    def language(self) -> str:
        return self.texts.language

    def path(self, name: str) -> str:
        """A part of the address, decoded."""
        return str(self.request.path_params[name])

    def choose(self, name: str, allowed: tuple[str, ...]) -> str:
        """A query parameter out of a few; the first one is the default."""
        value = self.query.get(name) or allowed[0]
        if value not in allowed:
            raise BadRequestError
        return value


Form = Mapping[str, list[str]]
Show = Callable[[Visit], Awaitable[Facts]]
Act = Callable[[Visit, Form], Awaitable[Facts | None]]


@dataclass(frozen=True, slots=True)
class View:
    """A page of the console.

    `name` names its template and its texts (`<name>.title`); `path` is below /console. A view without `group` is not
    in the navigation, and `parent` is marked there instead. A form on the page posts to the page's own address with a
    field `action`, which chooses one of `actions`; an action ends with RedirectTo, or returns facts to draw the page
    again, with the status 422 unless the facts name another `status`.
    """

    name: str
    path: str
    show: Show
    group: str | None = None
    parent: str | None = None
    actions: Mapping[str, Act] = field(default_factory=dict)
    is_operator: bool = False
    is_adviser: bool = False  # of the advisers' area, which has a navigation of its own
    is_advisers_sight: bool = False  # shows customers what advisers would see
    largest_file: int = 0  # bytes of the file that its form may carry
    repeatable: tuple[str, ...] = ()  # fields that its form may have more than once

    @property
    def url(self) -> str:
        return BASE + self.path

    @property
    def is_for_customers(self) -> bool:
        """Else for operators, advisers or developers: in the languages that were reviewed only."""
        return not (self.is_operator or self.is_adviser or self.is_advisers_sight or self.group == "build")


def field_of(form: Form, name: str, default: str = "") -> str:
    return form.get(name, [default])[0]
