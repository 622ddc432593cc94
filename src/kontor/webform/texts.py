"""The web form's texts: one file per language in `texts/`. A further language is a further file."""

from kontor.pages import texts
from kontor.pages.browser import AnyRequest
from kontor.pages.texts import Texts

PACKAGE = "kontor.webform"


def load_texts() -> dict[str, Texts]:
    return texts.load_texts(PACKAGE)


def choose_texts(request: AnyRequest) -> Texts:
    return texts.choose_texts(request, PACKAGE)
