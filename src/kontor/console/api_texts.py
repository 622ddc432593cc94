"""What the API says in German and English alone, in the other languages of the console.

Names of tags and messages are found by the English text, in `api_names/`; its `[sentences]` have placeholders.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from kontor.domain.languages import REVIEWED_LANGUAGES
from kontor.pages.formatting import conventions_of, format_amount

FIELDS = ("displayName", "description", "message")
OWN_CATEGORY = "X_"  # begins the system names of those that users and tenants have named
_SHAPES = {
    "day": r"\d{1,2} [A-Z][a-z]+ \d{4}",
    "amount": r"(?:€|[A-Z]{3} )[\d,]+\.\d\d",
    "before": r"(?:€|[A-Z]{3} )[\d,]+\.\d\d",
    "order": "transfer|order|direct debit|bulk direct debit",
}
_PLACEHOLDER = re.compile(r"\\\{(\w+)\\\}")


@dataclass(frozen=True, slots=True)
class ApiTexts:
    language: str
    names: Mapping[str, str]
    sentences: tuple[tuple[re.Pattern[str], str], ...]

    def tell(self, text: str) -> str:
        """In this language; English where nobody knows the text."""
        known = self.names.get(text)
        if known is not None:
            return known
        for pattern, sentence in self.sentences:
            match = pattern.fullmatch(text)
            if match is not None:
                return sentence.format(**{name: self._show(name, value) for name, value in match.groupdict().items()})
        return text

    def _show(self, name: str, value: str) -> str:
        match name:
            case "day":
                return datetime.strptime(value, "%d %B %Y").date().strftime(conventions_of(self.language).day)  # noqa: DTZ007 (a day)
            case "amount" | "before":
                currency = "EUR" if value[0] == "€" else value[:3]
                return format_amount(Decimal(re.sub(r"[^\d.]", "", value)), currency, self.language)
        return self.names.get(value, value)

    def translate(self, answer: Any) -> Any:
        """JSON of the API, changed in place."""
        if isinstance(answer, list):
            for part in answer:
                self.translate(part)
        elif isinstance(answer, dict):
            is_own = str(answer.get("systemName")).startswith(OWN_CATEGORY)
            for name, value in answer.items():
                if isinstance(value, dict | list):
                    self.translate(value)
                elif name in FIELDS and isinstance(value, str) and not is_own:
                    answer[name] = self.tell(value)
        return answer


@cache
def load_api_texts(language: str) -> ApiTexts | None:
    """Nothing for languages that the API itself speaks."""
    if language in REVIEWED_LANGUAGES:
        return None
    sections = tomllib.loads(
        files("kontor.console").joinpath("api_names", f"{language}.toml").read_text(encoding="utf-8")
    )
    sentences = sections.pop("sentences")
    names = {english: text for section in sections.values() for english, text in section.items()}
    return ApiTexts(language, names, tuple((_compile(english), text) for english, text in sentences.items()))


def tell(text: str, language: str) -> str:
    texts = load_api_texts(language)
    return text if texts is None else texts.tell(text)


def _compile(sentence: str) -> re.Pattern[str]:
    def write_group(placeholder: re.Match[str]) -> str:
        name = placeholder[1]
        return f"(?P<{name}>{_SHAPES.get(name, '.+?')})"

    return re.compile(_PLACEHOLDER.sub(write_group, re.escape(sentence)))
