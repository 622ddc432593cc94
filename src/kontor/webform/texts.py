"""The web form's texts: one file per language in `texts/`. A further language is a further file."""

from kontor.domain.redirects import FormSession
from kontor.pages import texts as pages_texts
from kontor.pages.browser import AnyRequest
from kontor.pages.texts import Texts

PACKAGE = "kontor.webform"


def load_texts() -> dict[str, Texts]:
    return pages_texts.load_texts(PACKAGE)


def override_texts(texts: Texts, subject: str) -> Texts:
    """With the texts of a subject: `about.delete.payment.title` replaces `payment.title`."""
    prefix = f"about.{subject}."
    own = {key.removeprefix(prefix): text for key, text in texts.texts.items() if key.startswith(prefix)}
    return Texts(texts.language, texts.texts | own)


def choose_texts(request: AnyRequest, session: FormSession | None = None) -> Texts:
    """In the language that the tenant has asked for, unless the user has chosen another one since."""
    return pages_texts.choose_texts(request, PACKAGE, None if session is None else session.options.language)
