"""The texts of pages: in a package's folder `texts/`, a file or a folder of files per language."""

import tomllib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from kontor.domain.languages import DEFAULT_LANGUAGE, FALLBACK_LANGUAGE, REVIEWED_LANGUAGES, list_accepted
from kontor.pages.browser import AnyRequest, read_language
from kontor.pages.formatting import format_count
from kontor.pages.plurals import choose_form


class Texts:
    """All texts of one language."""

    def __init__(self, language: str, texts: dict[str, str]) -> None:
        self.language = language
        self.texts = texts

    @property
    def is_unreviewed(self) -> bool:
        return self.language not in REVIEWED_LANGUAGES

    def __call__(self, key: str, **values: object) -> str:
        """With a whole number `count` in the form for it: `<key>_one`, `<key>_few`, else `<key>`."""
        if not values:
            return self.texts[key]
        count = values.get("count")
        if isinstance(count, int):
            values["count"] = format_count(count, self.language)
            form = f"{key}_{choose_form(count, self.language)}"
            key = form if form in self.texts else key
        return self.texts[key].format_map(values)


@cache
def load_texts(package: str) -> dict[str, Texts]:
    """By language, the default first. What a language has no text for is told in English."""
    own = read_texts(package)
    sorted_names = sorted(own, key=lambda name: (name not in REVIEWED_LANGUAGES, name))
    return {
        name: Texts(name, own[name] if name in REVIEWED_LANGUAGES else _fill_gaps(own[name], own[FALLBACK_LANGUAGE]))
        for name in sorted_names
    }


def _fill_gaps(own: dict[str, str], fallback: dict[str, str]) -> dict[str, str]:
    """Not with a form for a single thing: a language may need none."""
    return {key: text for key, text in fallback.items() if key.removesuffix("_one") not in own} | own


def read_texts(package: str) -> dict[str, dict[str, str]]:
    """As the files have them: `de.toml` holds all texts of a language, or `de/accounts.toml` those of `accounts`."""
    by_language: dict[str, dict[str, str]] = {}
    for entry in resources.files(package).joinpath("texts").iterdir():
        if entry.is_dir():
            texts: dict[str, str] = {}
            for file in entry.iterdir():
                if file.name.endswith(".toml"):
                    texts |= flatten(_read(file), file.name.removesuffix("toml"))
            by_language[entry.name] = texts
        elif entry.name.endswith(".toml"):
            by_language[entry.name.removesuffix(".toml")] = flatten(_read(entry))
    return by_language


def _read(file: Traversable) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def flatten(tree: dict[str, Any], path: str = "") -> dict[str, str]:
    """`[tan] title = …` becomes `tan.title`."""
    flat: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{path}{key}.")
        else:
            flat[f"{path}{key}"] = str(value).strip()
    return flat


def choose_texts(request: AnyRequest, package: str, wanted: str | None = None) -> Texts:
    """What the user switched to, else the wanted language, else the first language of the browser that we have."""
    known = load_texts(package)
    for chosen in (read_language(request), wanted):
        if chosen in known:
            return known[chosen]
    for language in list_accepted(request.headers.get("accept-language", "")):
        if language in known:
            return known[language]
    return known[DEFAULT_LANGUAGE]
