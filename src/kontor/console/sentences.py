"""What the API says in English, told again in the words of the page's language.

The API explains itself to programs and their authors. A module lists the sentences it knows, each by its text key;
one that is said is recognised by its pattern, and its values are written as people read them.
"""

import re
from collections.abc import Callable, Mapping
from decimal import InvalidOperation
from functools import cached_property

from kontor.pages.texts import Texts

_PLACEHOLDER = re.compile(r"\\\{(\w+)\\\}")
_ANYTHING = ".+?"
# From the name and the value of a placeholder to what the reader sees; raises if there is no such number, day or word.
Show = Callable[[str, str], str]


class Sentences:
    """`section` is the file of their texts; `shapes` says by name what a placeholder takes, by default anything.

    The first sentence that fits is told, so one that takes nearly anything stands last.
    """

    def __init__(self, section: str, sentences: Mapping[str, str], shapes: Mapping[str, str] | None = None) -> None:
        self._section = section
        self._sentences = sentences
        self._shapes = shapes or {}

    @cached_property
    def _patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        return [
            (key, re.compile(_PLACEHOLDER.sub(self._write_group, re.escape(text))))
            for key, text in self._sentences.items()
        ]

    def _write_group(self, placeholder: re.Match[str]) -> str:
        name = placeholder[1]
        return f"(?P<{name}>{self._shapes.get(name, _ANYTHING)})"

    def tell(self, sentence: str, texts: Texts, show: Show) -> str | None:
        """In the texts' language, or nothing where nobody knows the sentence."""
        for key, pattern in self._patterns:
            match = pattern.fullmatch(sentence)
            if match is not None:
                try:
                    values = {name: show(name, value) for name, value in match.groupdict().items()}
                    return fill_text(texts, self._section, key, values)
                except (ValueError, InvalidOperation, KeyError):
                    continue  # no number, day or word where one should be: another sentence
        return None


def fill_text(texts: Texts, section: str, key: str, values: Mapping[str, str]) -> str | None:
    """The text with its values, in the form for its `count`; nothing where there is no such text."""
    name = f"{section}.{key}"
    if name not in texts.texts:
        return None
    counted = {"count": int(values["count"])} if "count" in values else {}
    return texts(name, **{**values, **counted})


def read_system_name(name: str) -> str:
    """`STADTWERKE_KIEL` as people read it."""
    return name.replace("_", " ").title()
