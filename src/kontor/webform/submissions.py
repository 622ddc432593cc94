"""One form that a user has sent."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kontor.pages.texts import Texts
from kontor.services.redirects import FormView, Redirects
from kontor.webform.pages import Page


@dataclass(frozen=True, slots=True)
class FormSubmission:
    """From the page that is the current one."""

    redirects: Redirects
    view: FormView
    texts: Texts
    form: dict[str, list[str]]

    def value(self, name: str) -> str:
        return self.form.get(name, [""])[0]


# The page again, with what is wrong, or None when the session has moved on.
Action = Callable[[FormSubmission], Awaitable[Page | None]]
