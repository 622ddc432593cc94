"""What differs between the pages of a session that is about an access and of one that is about a payment."""

from collections.abc import Callable, Mapping
from typing import Any

from kontor.domain.sca_machine import ScaState
from kontor.pages.texts import Texts
from kontor.services.redirects import FormView
from kontor.webform.authorisations import Authorisation

SCA_PAGES = {
    ScaState.METHOD: "method",
    ScaState.MEDIUM: "medium",
    ScaState.TAN: "tan",
    ScaState.CONFIRMATION: "confirmation",
    ScaState.REDIRECT: "redirect",
}


class FlowPages:
    """Of a session whose subject is gone: nothing but its end can be shown. `AccessPages` and `PaymentPages` know more.

    `facts` make what a page of that name shows, beyond what it shows in every flow.
    """

    def __init__(self, view: FormView) -> None:
        self.session = view.session

    @property
    def facts(self) -> Mapping[str, Callable[[Texts], dict[str, Any]]]:
        return {}

    def override_texts(self, texts: Texts) -> Texts:
        """The texts, in words for what the session is about."""
        return texts

    def find_name(self) -> str:
        return self.session.step.lower()

    def make_key(self, name: str) -> str:
        """Names this very moment, so that a page that is older can be told apart."""
        return name

    def describe(self, name: str, texts: Texts) -> dict[str, Any]:
        """What every page of the flow shows."""
        return {}

    def find_authorisation(self) -> Authorisation | None:
        """None where nothing has been begun at the bank."""
        return None

    def describe_end(self, texts: Texts) -> dict[str, Any]:
        """`done` is what has come of it, where something has."""
        return {"texts": "end", "kind": None, "done": {}}
