"""Finding a bank by what a person types: parts of its name, its city, a nickname, its bank code or its BIC.

Everything is compared in a folded form in which `Köln`, `koeln` and `KOLN` are one word. Every word that is typed has
to begin a word of the bank, in any order. What begins the name comes before what is only found in it, banks for
private customers before others, head offices before branches. A word that nothing begins with may have one typing
error.
"""

import re
import string
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

from kontor.connectors.catalogue.aliases import HEAD_OFFICES, SYNONYMS
from kontor.domain.providers import Provider

_Rank: TypeAlias = tuple[bool | int | str, ...]

MAX_QUERY_LENGTH = 100
_MIN_BIC_LENGTH = 4  # shorter beginnings would find every bank of a network
_MIN_LENGTH_WITH_ERROR = 4

_PLAIN = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "á": "a", "é": "e", "è": "e", "ó": "o", "ø": "o", "č": "c"})
_SPELT_OUT = re.compile("([aou])e")
_WORD = re.compile(r"[^\W_]+")
_INNER_WORDS = re.compile(r"[A-ZÄÖÜ]*[a-zäöüß]+|[A-ZÄÖÜ]+|\d+")
# Compounds that people know by their second half: Kreissparkasse, Stadtsparkasse, Ostseesparkasse.
_SECOND_HALVES = ("sparkasse", "volksbank", "raiffeisenbank", "bausparkasse")


def fold(text: str) -> str:
    """Lower case without umlauts; `ae`, `oe` and `ue` count as umlauts wherever they stand, on both sides alike."""
    text = text.casefold()
    if not text.isascii():
        text = text.translate(_PLAIN)
    return _SPELT_OUT.sub(r"\1", text) if "e" in text else text


def _words(text: str) -> list[str]:
    return [fold(word) for word in _WORD.findall(text)]


def _further_words(chunk: str, words: Iterable[str]) -> Iterator[str]:
    """KölnBonn is found by Bonn, VR-Bank by vrbank, Kreissparkasse by sparkasse."""
    if "-" in chunk:
        yield fold(chunk.replace("-", ""))
    inner = _INNER_WORDS.findall(chunk)
    if len(inner) > 1:
        yield from map(fold, inner)
    for word in words:
        yield from (half for half in _SECOND_HALVES if word.endswith(half) and word != half)


class _Vocabulary:
    """The folded words of texts, each chunk between blanks worked out once: a few thousand make up all names."""

    def __init__(self) -> None:
        self._chunks: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {}

    def words(self, text: str) -> list[str]:
        return [word for chunk in text.split() for word in self._of(chunk)[0]]

    def all_words(self, text: str) -> Iterator[str]:
        for chunk in text.split():
            yield from self._of(chunk)[1]

    def _of(self, chunk: str) -> tuple[tuple[str, ...], frozenset[str]]:
        known = self._chunks.get(chunk)
        if known is None:
            words = tuple(_words(chunk))
            known = self._chunks[chunk] = (words, frozenset((*words, *_further_words(chunk, words))))
        return known


class _WordIndex:
    """Which entries have a word, or a word that begins so."""

    def __init__(self, owners: Mapping[str, set[int]]) -> None:
        self._owners = owners
        self._sorted = sorted(owners)

    def whole(self, word: str) -> set[int]:
        return self._owners.get(word, set())

    def beginning(self, prefix: str) -> set[int]:
        owners: set[int] = set()
        for at in range(bisect_left(self._sorted, prefix), len(self._sorted)):
            if not self._sorted[at].startswith(prefix):
                break
            owners |= self._owners[self._sorted[at]]
        return owners

    def has_beginning(self, prefix: str) -> bool:
        at = bisect_left(self._sorted, prefix)
        return at < len(self._sorted) and self._sorted[at].startswith(prefix)


class SearchIndex:
    def __init__(self, providers: Iterable[Provider], cities: Mapping[str, str]) -> None:
        vocabulary = _Vocabulary()
        standing = [
            (_standing(provider, words := vocabulary.words(provider.name)), " ".join(words), provider)
            for provider in providers
        ]
        standing.sort(key=itemgetter(0))
        self._names = [name for _, name, _ in standing]
        self._providers = [provider for _, _, provider in standing]
        self._by_code = {provider.bank_code: at for at, provider in enumerate(self._providers)}
        in_name: dict[str, set[int]] = defaultdict(set)
        elsewhere: dict[str, set[int]] = defaultdict(set)
        bics: dict[str, set[int]] = defaultdict(set)
        for at, provider in enumerate(self._providers):
            for word in vocabulary.all_words(provider.name):
                in_name[word].add(at)
            for word in vocabulary.words(f"{cities.get(provider.bank_code or '', '')} {provider.group or ''}"):
                elsewhere[word].add(at)
            elsewhere[provider.bank_code or ""].add(at)
            bics[fold(provider.bic or "")].add(at)
        self._in_name = _WordIndex(in_name)
        self._elsewhere = _WordIndex(elsewhere)
        self._bics = _WordIndex(bics)

    def search(self, query: str) -> tuple[Provider, ...]:
        words = _query_words(query)
        if not words:
            return ()
        ranks: dict[int, _Rank] = {}
        for reading in _readings(words):
            self._rank(reading, ranks)
        if not ranks:
            for reading in self._corrected(words):
                self._rank(reading, ranks)
        return tuple(self._providers[at] for at in sorted(ranks, key=ranks.__getitem__))

    def _rank(self, words: Sequence[str], ranks: dict[int, _Rank]) -> None:
        """Puts what fits these words into `ranks`, unless a better place was found for it already."""
        in_name = [self._in_name.beginning(word) for word in words]
        found = set.intersection(*(names | self._others(word) for names, word in zip(in_name, words, strict=True)))
        if not found:
            return
        named = set.intersection(*in_name)
        whole = [self._in_name.whole(word) | self._elsewhere.whole(word) for word in words]
        phrase = " ".join(words)
        heads = HEAD_OFFICES.get(phrase, ())
        first = {at: place for place, code in enumerate(heads) if (at := self._by_code.get(code)) is not None}
        by_code = phrase.isdecimal()
        for at in found:
            name = self._names[at]
            kind = 1 if name.startswith(phrase) else 2 if at in named else 3
            provider = self._providers[at]
            rank: _Rank = (
                at not in first,
                first.get(at, 0),
                not by_code and not provider.is_consumer_relevant,
                name != phrase,
                -sum(at in owners for owners in whole),
                kind,
                provider.bank_code or "" if by_code else "",
                at,
            )
            if at not in ranks or rank < ranks[at]:
                ranks[at] = rank

    def _others(self, word: str) -> set[int]:
        found = self._elsewhere.beginning(word)
        return found | self._bics.beginning(word) if len(word) >= _MIN_BIC_LENGTH else found

    def _corrected(self, words: Sequence[str]) -> Iterator[list[str]]:
        """The query with one error corrected in the one word that nothing begins with."""
        unknown = [at for at, word in enumerate(words) if not self._begins_something(word)]
        if len(unknown) != 1 or len(words[unknown[0]]) < _MIN_LENGTH_WITH_ERROR or words[unknown[0]].isdecimal():
            return
        for word in _one_error_away(words[unknown[0]]):
            if self._begins_something(word):
                yield [*words[: unknown[0]], word, *words[unknown[0] + 1 :]]

    def _begins_something(self, word: str) -> bool:
        return self._in_name.has_beginning(word) or self._elsewhere.has_beginning(word) or bool(self._others(word))


def _standing(provider: Provider, words: Sequence[str]) -> _Rank:
    """The order of equals: for private customers, reachable, a head office, then by name."""
    return (
        not provider.is_consumer_relevant,
        provider.connector == "none",
        not (provider.bic or "").endswith("XXX"),
        len(words),
        *words,
        provider.bank_code or "",
    )


def _query_words(query: str) -> list[str]:
    """Bank codes are written in groups, `370 501 98`: neighbouring numbers are one."""
    words: list[str] = []
    for word in _words(query[:MAX_QUERY_LENGTH]):
        if words and word.isdecimal() and words[-1].isdecimal():
            words[-1] += word
        else:
            words.append(word)
    return words


def _readings(words: list[str]) -> Iterator[list[str]]:
    yield words
    spelt_out = [part for word in words for part in SYNONYMS.get(word, (word,))]
    if spelt_out != words:
        yield spelt_out


def _one_error_away(word: str) -> set[str]:
    halves = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    letters = string.ascii_lowercase
    return {
        *(left + right[1:] for left, right in halves if right),
        *(left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1),
        *(left + letter + right[1:] for left, right in halves if right for letter in letters),
        *(left + letter + right for left, right in halves for letter in letters),
    }
