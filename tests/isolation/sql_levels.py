"""A statement cut into its levels: each (sub)select, with what stands in other parentheses, and no further select."""

import re
from collections.abc import Iterator

QUERY = re.compile(r"\s*(select|insert|update|delete|with)\b", re.IGNORECASE)
UNION = re.compile(r"\bunion(?:\s+all)?\b", re.IGNORECASE)
TEXT = re.compile(r"'(?:[^']|'')*'")
CLAUSE = re.compile(
    r"\b(?:from|using)\s(.*?)(?=\b(?:where|order\s+by|group\s+by|limit|returning|on\s+conflict|for\s+update|set)\b|$)",
    re.IGNORECASE | re.DOTALL,
)
JOIN = re.compile(r"\b(?:left|right|full|inner|cross)?\s*join\b(?:\s+lateral\b)?|,", re.IGNORECASE)
TARGET = re.compile(r"\b(?:update|insert\s+into)\s+(\w+)(?:\s+(?:as\s+)?(?!set\b)(\w+))?", re.IGNORECASE)
ITEM = re.compile(r"\s*(?:only\s+)?(\w+)(?:\s+(?:as\s+)?(?!on\b)(\w+))?", re.IGNORECASE)
QUALIFIER = re.compile(r"\b([a-z_]+)\.[a-z_*]+", re.IGNORECASE)


def split_levels(statement: str) -> Iterator[str]:
    """Texts are emptied, and a select within another is `()` there."""
    own, inner = _cut(TEXT.sub("''", statement))
    yield from filter(str.strip, UNION.split(own))
    for text in inner:
        yield from split_levels(text)


def find_names(level: str) -> list[tuple[str, str | None]]:
    """Tables that a level names, each with its alias."""
    flat = level
    while (flatter := re.sub(r"\([^()]*\)", "", flat)) != flat:
        flat = flatter
    found = [(target[1], target[2]) for target in TARGET.finditer(flat)]
    for clause in CLAUSE.finditer(flat):
        items = [ITEM.match(part) for part in JOIN.split(clause[1])]
        found += [(item[1], item[2]) for item in items if item]
    return [(name.lower(), alias and alias.lower()) for name, alias in found]


def find_tables(level: str) -> set[str]:
    return {name for name, _ in find_names(level)}


def find_foreign_qualifiers(level: str) -> set[str]:
    """What a level takes from the statement around it: qualifiers that none of its own tables has."""
    own = {name for names in find_names(level) for name in names if name}
    own |= {found.lower() for found in re.findall(r"\)\s+(?:as\s+)?(\w+)", level, re.IGNORECASE)}
    return {found[1].lower() for found in QUALIFIER.finditer(level)} - own


def _cut(text: str) -> tuple[str, list[str]]:
    """The text without its selects in parentheses, and those."""
    own, inner, place = "", [], 0
    while place < len(text):
        if text[place] != "(":
            own += text[place]
            place += 1
            continue
        end = _find_end(text, place)
        content = text[place + 1 : end]
        if QUERY.match(content):
            inner.append(content)
            own += "()"
        else:
            outside, further = _cut(content)
            inner += further
            own += f"({outside})"
        place = end + 1
    return own, inner


def _find_end(text: str, start: int) -> int:
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise AssertionError(f"a parenthesis is not closed: {text}")
