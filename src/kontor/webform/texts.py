"""The texts of the pages: one file per language in `texts/`. A further language is a further file."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from kontor.webform.browser import LANGUAGE_COOKIE, AnyRequest

DEFAULT_LANGUAGE = "de"


class Texts:
    """All texts of one language."""

    def __init__(self, language: str, texts: dict[str, str]) -> None:
        self.language = language
        self.texts = texts

    def __call__(self, key: str, **values: object) -> str:
        return self.texts[key].format_map(values) if values else self.texts[key]


@cache
def load_texts() -> dict[str, Texts]:
    """By language, the default first."""
    found = {}
    for file in resources.files("kontor.webform").joinpath("texts").iterdir():
        language, dot, ending = file.name.rpartition(".")
        if dot and ending == "toml":
            found[language] = Texts(language, flatten(tomllib.loads(file.read_text(encoding="utf-8"))))
    return dict(sorted(found.items(), key=lambda one: (one[0] != DEFAULT_LANGUAGE, one[0])))


def flatten(tree: dict[str, Any], path: str = "") -> dict[str, str]:
    """`[tan] title = …` becomes `tan.title`."""
    flat: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{path}{key}.")
        else:
            flat[f"{path}{key}"] = str(value).strip()
    return flat


def choose_texts(request: AnyRequest) -> Texts:
    """What the user switched to, else the first language of the browser that we have."""
    known = load_texts()
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    if chosen in known:
        return known[chosen]
    for language in _accepted(request.headers.get("accept-language", "")):
        if language in known:
            return known[language]
    return known[DEFAULT_LANGUAGE]


def _accepted(header: str) -> list[str]:
    weighted = []
    for place, part in enumerate(header.split(",")[:20]):
        name, _, weight = part.strip().partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            quality = 0.0
        if quality > 0:
            weighted.append((-quality, place, name.strip().lower().partition("-")[0]))
    return [name for _, _, name in sorted(weighted)]
