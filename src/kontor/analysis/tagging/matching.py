"""Finds all known words of a booking in one pass of an Aho-Corasick automaton.

Whole words are searched for with blanks around them, beginnings and endings with a blank on one side. What lies inside
a longer find is dropped: `Deutsche Post` is no post office box.
"""

from bisect import bisect_left
from itertools import pairwise
from operator import itemgetter

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from kontor.analysis.tagging.knowledge import MIN_COMPLETION_LENGTH, Knowledge

MIN_BRAND_START_LENGTH = 8
MAX_COMPLETION_RATIO = 1.75
BRAND_ENDS = ("bad", "bahn", "bank", "haus", "hof", "hotel", "land", "markt", "park", "werk", "werke", "welt")
MIN_MENDED_LENGTH, MIN_MENDED_NAME_LENGTH = 8, 6

Match = tuple[int, int, int]
read_start = itemgetter(1)


class Matcher:
    """The automaton of all known patterns."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._automaton = AhoCorasick(
            knowledge.texts, matchkind=MatchKind.Standard, implementation=Implementation.ContiguousNFA
        )

    def find(self, text: str) -> list[Match]:
        """All finds, those that begin first and reach farthest first."""
        matches = self._automaton.find_matches_as_indexes(text, overlapping=True)
        if len(matches) > 1:
            # They come by their ends; the reversed and stably sorted list is by start, longest first.
            matches.reverse()
            matches.sort(key=read_start)
        return matches

    def complete(self, name: str) -> str:
        """Known words that a cut name may have gone on with: the whole name's, or else its last word's."""
        completion = self._complete_one(name)
        last = name[name.rfind(" ") + 1 :]
        if completion is None and len(last) >= MIN_COMPLETION_LENGTH and last != name:
            completion = self._complete_one(last)
            # A surname is no beginning of a brand: `LINDNER` is not `Lindner Hotel`, `LOTTE` not `Lotteria`. Neither is
            # a word that needs another one to become it: `Friedrichs` is not the `Friedrichsbad`.
            is_brand = completion in self._knowledge.brands
            is_short = len(last) < MIN_BRAND_START_LENGTH
            if completion and (" " in completion or (is_brand and (is_short or completion.endswith(BRAND_ENDS)))):
                completion = ""
        return completion or ""

    def _complete_one(self, start: str) -> str | None:
        """What begins so; empty if it is known as it is or far shorter, None if nothing does."""
        known = self._knowledge.completions
        place = bisect_left(known, start)
        if place == len(known) or not known[place].startswith(start):
            return None
        completion = known[place]
        if len(start) < MIN_COMPLETION_LENGTH and completion != start:
            return None
        # Of several that begin so none is meant for sure: `stadtwerke schw` may be Schwabach or Schwerin.
        if " " in completion and self._is_one_of_many(completion, start, place):
            return ""
        # What goes on with another word was not cut: `Stadtwerke Neumünster` is not their `Glasfaser`.
        is_whole = completion == start or completion[len(start)] == " "
        return "" if is_whole or len(completion) > len(start) * MAX_COMPLETION_RATIO else completion

    def _is_one_of_many(self, completion: str, start: str, place: int) -> bool:
        known = self._knowledge.completions
        while place < len(known) and known[place].startswith(start):
            if not known[place].startswith(completion):
                return True
            place += 1
        return False

    def mend(self, text: str, shortest: int = MIN_MENDED_LENGTH) -> str:
        """Known words that a line's end tore apart: `LEBENSVERSICHERU NG`. Empty if there are none."""
        known = self._knowledge.words
        mended = [
            first + second
            for first, second in pairwise(text.split())
            if len(first) + len(second) >= shortest
            and first + second in known
            and not (first in known and second in known)
        ]
        return f" {' '.join(mended)}" if mended else ""
