"""Texts that banks, payees or users have written, made harmless for a language model.

Whoever transfers a cent chooses the purpose. Such a text is data: it has a field of its own, stands between two marks
that it cannot contain, has a limited length and one line, and carries no markup and no invisible characters.
"""

import unicodedata

OPENING, CLOSING = "⟦", "⟧"
MAX_CHARACTERS = 140
MAX_NAME_CHARACTERS = 70
# Control, format (bidirectional marks, zero width, tags), surrogates, private use, unassigned, line and paragraph ends.
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# What could close the marks, or be read as markup: links, pictures, code, elements, headings, tables.
_HARMLESS = str.maketrans(
    {
        OPENING: "(", CLOSING: ")", "[": "(", "]": ")", "{": "(", "}": ")", "<": "‹", ">": "›", "`": "'", "|": "/",
        "\\": "/",
    }
)  # fmt: skip
# Variation selectors can hide text; they are marks (Mn), not format characters.
_VARIATIONS = frozenset(chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))


def mark(text: str | None, max_characters: int = MAX_CHARACTERS) -> str | None:
    """The text between marks, or None where there is none."""
    cleaned = _clean(text or "")
    if not cleaned:
        return None
    if len(cleaned) > max_characters:
        cleaned = cleaned[: max_characters - 1].rstrip() + "…"
    return f"{OPENING}{cleaned}{CLOSING}"


def mark_name(text: str | None) -> str | None:
    return mark(text, MAX_NAME_CHARACTERS)


def _clean(text: str) -> str:
    """Compatibility forms first: a fullwidth bracket becomes one, and is replaced like one."""
    normal = unicodedata.normalize("NFKC", text[: 8 * MAX_CHARACTERS])
    visible = (" " if character in "\t\r\n" or _is_invisible(character) else character for character in normal)
    harmless = "".join(visible).translate(_HARMLESS).replace("://", ": //")  # an address that nothing makes a link of
    return " ".join(harmless.split())


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE or character in _VARIATIONS
