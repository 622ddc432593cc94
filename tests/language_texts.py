"""What tests of languages share: placeholders, forms for numbers, and words that give a language away."""

import re
from string import Formatter

FORMS = re.compile(r"_(one|few)$")
# Languages with a form of their own for 2, 3 and 4.
WITH_FEW = ("pl", "uk")
# Where the number stands apart from the sentence, no form depends on it.
_APART = re.compile(r"\(\{count\}\)|: ?\{count\}")


def list_placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def strip_form(key: str, texts: dict[str, str]) -> str:
    """`found` of `found_one`; a key that only looks so, as `restore_one` without `restore`, is kept."""
    base = FORMS.sub("", key)
    return base if base in texts else key


def list_forms(texts: dict[str, str]) -> set[str]:
    """Keys of texts that are told with a number."""
    counted = {FORMS.sub("", key) for key in texts if FORMS.search(key) and FORMS.sub("", key) in texts}
    return counted | {
        key for key, text in texts.items() if "count" in list_placeholders(text) and not FORMS.search(key)
    }


def is_apart(text: str) -> bool:
    return _APART.search(text) is not None
