"""The `format` of a login field: what a value may look like, in one of two notations.

Token notation: `|` is a letter or digit, `#` a digit, `-` a separator; a number after a token means exactly so many of
it, `~` and a number at most so many. `#~11` is at most eleven digits, `##-##` two pairs with a separator between.
Letters are those of ASCII, a separator is one of hyphen, blank, slash and dot. A text of only these characters is
token notation; any other text is a regular expression, which the whole value must match.

Formats come from data, values from strangers. Token notation therefore runs through a matcher whose time grows with
the length of the value only, regular expressions through RE2, which never backtracks, with a cap on its memory; and no
value longer than 256 characters is looked at. A broken format raises `ValueError` when it is compiled, which is when
the catalogue is loaded, so that matching never fails.
"""

import string
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import re2  # type: ignore[import-untyped]

MAX_VALUE_LENGTH = 256
MAX_FORMAT_LENGTH = 512
_RE2_MEMORY = 1 << 20
_TOKEN_NOTATION = frozenset("|#-~0123456789")
_ANY_FORM = "in der Form, die die Bank vorgibt"


class LoginFormat(ABC):
    """A compiled format."""

    text: str

    def matches(self, value: str) -> bool:
        return len(value) <= MAX_VALUE_LENGTH and self._accepts(value)

    @abstractmethod
    def _accepts(self, value: str) -> bool: ...

    @abstractmethod
    def describe_de(self) -> str:
        """What is asked for, in German, to be put after a colon: "genau 5 Ziffern"."""

    @abstractmethod
    def html_pattern(self) -> str | None:
        """The same as a `pattern` attribute, or None where a browser cannot say it. Valid with the flags u and v."""


@lru_cache(maxsize=256)
def compile_format(text: str) -> LoginFormat:
    if not text:
        raise ValueError("A login format must not be empty")
    if len(text) > MAX_FORMAT_LENGTH:
        raise ValueError(f"A login format must not be longer than {MAX_FORMAT_LENGTH} characters")
    if _TOKEN_NOTATION.issuperset(text):
        return TokenFormat(text, _parse_tokens(text))
    return _compile_expression(text)


# Token notation


@dataclass(frozen=True, slots=True)
class Kind:
    characters: frozenset[str]
    html: str
    one: str
    many: str


_DIGIT = Kind(frozenset(string.digits), "[0-9]", "eine Ziffer", "Ziffern")
_ALNUM = _DIGIT.characters.union(string.ascii_letters)
_ALPHANUMERIC = Kind(_ALNUM, "[A-Za-z0-9]", "ein Buchstabe oder eine Ziffer", "Buchstaben oder Ziffern")
_SEPARATOR = Kind(frozenset("- /."), r"[\- \/.]", "ein Trennzeichen", "Trennzeichen")
_CHARACTER = Kind(frozenset(), r"[^\n]", "ein Zeichen", "Zeichen")
_KINDS = {"#": _DIGIT, "|": _ALPHANUMERIC, "-": _SEPARATOR}


@dataclass(frozen=True, slots=True)
class Part:
    """`most` characters of one kind, or between none and `most` when not `exact`."""

    kind: Kind
    most: int
    exact: bool


def _parse_tokens(text: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    at = 0
    while at < len(text):
        kind = _KINDS.get(text[at])
        if kind is None:
            raise ValueError(f"Login format {text!r}: no token at position {at + 1}")
        at += 1
        exact = not text.startswith("~", at)
        at = digits_from = at if exact else at + 1
        while at < len(text) and text[at] in string.digits:
            at += 1
        digits = text[digits_from:at]
        if not exact and not digits:
            raise ValueError(f"Login format {text!r}: '~' without a number")
        count = int(digits) if digits else 1
        if not 1 <= count <= MAX_VALUE_LENGTH:
            raise ValueError(f"Login format {text!r}: {count} is not between 1 and {MAX_VALUE_LENGTH}")
        _append(parts, Part(kind, count, exact))
    if sum(part.most for part in parts) > MAX_VALUE_LENGTH:
        raise ValueError(f"Login format {text!r} allows more than {MAX_VALUE_LENGTH} characters")
    return tuple(parts)


def _append(parts: list[Part], part: Part) -> None:
    """Neighbours of one sort are one part, so that `##` and `#2` are the same and read the same."""
    if parts and (parts[-1].kind, parts[-1].exact) == (part.kind, part.exact):
        part = Part(part.kind, parts.pop().most + part.most, part.exact)
    parts.append(part)


@dataclass(frozen=True, slots=True)
class TokenFormat(LoginFormat):
    text: str
    parts: tuple[Part, ...]

    def _accepts(self, value: str) -> bool:
        ends = {0}
        for part in self.parts:
            ends = _ends_after(part, value, ends)
        return len(value) in ends

    def describe_de(self) -> str:
        if len(self.parts) == 1:
            part = self.parts[0]
            return f"{'genau' if part.exact else 'höchstens'} {_count_de(part.kind, part.most)}"
        named = [("" if part.exact else "höchstens ") + _count_de(part.kind, part.most) for part in self.parts]
        return f"nacheinander {', '.join(named[:-1])} und {named[-1]}"

    def html_pattern(self) -> str:
        return "".join(
            part.kind.html + ("" if part.exact and part.most == 1 else f"{{{'' if part.exact else '0,'}{part.most}}}")
            for part in self.parts
        )


def _ends_after(part: Part, value: str, starts: set[int]) -> set[int]:
    """Where a match of `part` can end when it begins at one of `starts`: one pass over the value."""
    ends: set[int] = set()
    run_began = 0  # the run of fitting characters that leads up to `at` began here
    reach = -1  # an inexact part that began earlier may end anywhere up to here
    for at in range(len(value) + 1):
        if at and value[at - 1] not in part.kind.characters:
            run_began = at
            reach = -1
        if part.exact:
            if at - part.most >= run_began and at - part.most in starts:
                ends.add(at)
            continue
        if at in starts:
            reach = at + part.most
        if at <= reach:
            ends.add(at)
    return ends


def _count_de(kind: Kind, count: int) -> str:
    return kind.one if count == 1 else f"{count} {kind.many}"


# Regular-expression notation


@dataclass(frozen=True, slots=True)
class ExpressionFormat(LoginFormat):
    text: str
    fullmatch: Callable[[str], object]
    shape: "Shape | None"

    def _accepts(self, value: str) -> bool:
        try:
            return self.fullmatch(value) is not None
        except UnicodeEncodeError:  # a lone surrogate is no text
            return False

    def describe_de(self) -> str:
        return self.shape.describe_de() if self.shape else _ANY_FORM

    def html_pattern(self) -> str | None:
        return self.shape.html if self.shape else None


def _compile_expression(text: str) -> ExpressionFormat:
    options = re2.Options()
    options.max_mem = _RE2_MEMORY
    options.log_errors = False
    try:
        compiled = re2.compile(text, options)
    except re2.error as error:
        raise ValueError(f"Login format {text!r} is no regular expression: {error}") from None
    except UnicodeEncodeError:
        raise ValueError("A login format must be valid text") from None
    try:
        shape = _Reader(text).read()
    except _NotPlainError:
        shape = None
    return ExpressionFormat(text, compiled.fullmatch, shape)


@dataclass(frozen=True, slots=True)
class Shape:
    """What an expression comes to: its form for a browser, the lengths it accepts, the characters it is made of."""

    html: str
    shortest: int
    longest: int | None
    characters: frozenset[str] | None  # None: any

    def describe_de(self) -> str:
        known = (kind for kind in (_DIGIT, _ALPHANUMERIC) if self.characters and self.characters <= kind.characters)
        kind = next(known, _CHARACTER)
        if self.longest is None:
            return f"mindestens {_count_de(kind, self.shortest)}"
        if self.shortest == self.longest:
            return f"genau {_count_de(kind, self.shortest)}"
        if self.shortest == 0:
            return f"höchstens {_count_de(kind, self.longest)}"
        return f"{self.shortest} bis {self.longest} {kind.many}"

    def then(self, other: "Shape") -> "Shape":
        longest = None if self.longest is None or other.longest is None else self.longest + other.longest
        return Shape(self.html + other.html, self.shortest + other.shortest, longest, self._with(other))

    def otherwise(self, other: "Shape") -> "Shape":
        longest = None if self.longest is None or other.longest is None else max(self.longest, other.longest)
        return Shape(f"{self.html}|{other.html}", min(self.shortest, other.shortest), longest, self._with(other))

    def times(self, least: int, most: int | None, html: str) -> "Shape":
        longest = None if self.longest is None or most is None else self.longest * most
        return Shape(self.html + html, self.shortest * least, longest, self.characters)

    def _with(self, other: "Shape") -> frozenset[str] | None:
        if self.characters is None or other.characters is None:
            return None
        return self.characters | other.characters


class _NotPlainError(Exception):
    """The expression uses something a browser would read differently, or that is not worth reading here."""


_NOTHING = Shape("", 0, 0, frozenset())
_SYNTAX = frozenset(r"^$\.*+?()[]{}|/")
_IN_CLASS = frozenset(r"\]^-()[{}/|")
_COUNTS = ("*", "+", "?", "{")
_WORD = _ALNUM | {"_"}
# RE2 knows these for ASCII only, and its dot stops at line feeds only; browsers differ, so they get the plain sets.
_ESCAPES: dict[str, tuple[str, frozenset[str] | None]] = {
    "d": ("[0-9]", _DIGIT.characters),
    "D": ("[^0-9]", None),
    "w": ("[A-Za-z0-9_]", _WORD),
    "W": ("[^A-Za-z0-9_]", None),
    "s": (r"[\t\n\f\r ]", frozenset("\t\n\f\r ")),
    "S": (r"[^\t\n\f\r ]", None),
}


class _Reader:
    """Reads the plain part of the language: literals, classes, groups, alternatives, counts, outer anchors."""

    def __init__(self, text: str) -> None:
        # Both sides match the whole value, which makes outer anchors say nothing.
        self.text = text.removeprefix("^")
        if self.text.endswith("$") and not self.text.endswith(r"\$"):
            self.text = self.text[:-1]
        self.at = 0

    def read(self) -> Shape:
        shape = self._alternatives()
        if self.at < len(self.text):
            raise _NotPlainError
        return shape

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise _NotPlainError
        self.at += 1
        return character

    def _alternatives(self) -> Shape:
        shape = self._sequence()
        while self._peek() == "|":
            self.at += 1
            shape = shape.otherwise(self._sequence())
        return shape

    def _sequence(self) -> Shape:
        shape = _NOTHING
        while self._peek() not in ("", "|", ")"):
            shape = shape.then(self._counted())
        return shape

    def _counted(self) -> Shape:
        shape = self._atom()
        if self._peek() not in _COUNTS:
            return shape
        least, most, html = self._count()
        if self._peek() in _COUNTS:  # lazy counts: they mean the same here, but are not worth reading
            raise _NotPlainError
        return shape.times(least, most, html)

    def _count(self) -> tuple[int, int | None, str]:
        sign = self._take()
        if sign != "{":
            return {"*": (0, None, "*"), "+": (1, None, "+"), "?": (0, 1, "?")}[sign]
        end = self.text.find("}", self.at)
        least, comma, most = self.text[self.at : end].partition(",")
        if end < 0 or not least or not _DIGIT.characters.issuperset(least + most):
            raise _NotPlainError
        self.at = end + 1
        if not comma:
            return int(least), int(least), f"{{{least}}}"
        return int(least), int(most) if most else None, f"{{{least},{most}}}"

    def _atom(self) -> Shape:
        character = self._take()
        if character == "(":
            return self._group()
        if character == "[":
            return self._character_class()
        if character == ".":
            return Shape(_CHARACTER.html, 1, 1, None)
        if character == "\\":
            character = self._take()
            if character in _ESCAPES:
                html, characters = _ESCAPES[character]
                return Shape(html, 1, 1, characters)
            if character not in string.punctuation:
                raise _NotPlainError
        elif character in _SYNTAX and character != "/":
            raise _NotPlainError
        return Shape(f"\\{character}" if character in _SYNTAX else character, 1, 1, frozenset(character))

    def _group(self) -> Shape:
        if self._peek() == "?":
            if not self.text.startswith("?:", self.at):
                raise _NotPlainError
            self.at += 2
        inner = self._alternatives()
        if self._take() != ")":
            raise _NotPlainError
        return Shape(f"(?:{inner.html})", inner.shortest, inner.longest, inner.characters)

    def _character_class(self) -> Shape:
        negated = self._peek() == "^"
        self.at += negated
        if self._peek() in ("]", "["):
            raise _NotPlainError
        members: set[str] = set()
        while (character := self._take()) != "]":
            if character == "[":
                raise _NotPlainError
            first = self._member(character, members)
            if first and self._peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self._member(self._take(), members)
                if not first <= last <= "\x7f":
                    raise _NotPlainError
                members.update(map(chr, range(ord(first), ord(last) + 1)))
        html = f"[{'^' if negated else ''}{_members_html(members)}]"
        return Shape(html, 1, 1, None if negated else frozenset(members))

    def _member(self, character: str, members: set[str]) -> str:
        """Adds one member of a class; the empty string when it was a set such as `\\d`."""
        if character == "\\":
            character = self._take()
            characters = _ESCAPES.get(character, ("", None))[1]
            if characters is not None:
                members.update(characters)
                return ""
            if character not in string.punctuation:
                raise _NotPlainError
        members.add(character)
        return character


def _members_html(members: set[str]) -> str:
    """Members in order, each once, runs as ranges: doubled signs would mean set operations under the flag v."""
    codes = sorted(map(ord, members))
    html = ""
    while codes:
        length = 1
        while length < len(codes) and codes[length] == codes[0] + length:
            length += 1
        run, codes = codes[:length], codes[length:]
        ends = run if length < 3 else [run[0], run[-1]]
        html += ("" if length < 3 else "-").join(f"\\{chr(c)}" if chr(c) in _IN_CLASS else chr(c) for c in ends)
    return html
