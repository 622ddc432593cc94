"""Parts of compound words: what a name means that nobody wrote down, such as `Weinlager` or `Kletterzentrum`.

Asked only where no other knowledge decides, so that it may be slow and need not be certain.
"""

from collections.abc import Mapping

SHORTEST, MIN_WORD_LENGTH = 3, 4
# The last part of a German compound tells what a thing is.
END_BONUS = 1.5


class Stems:
    def __init__(self, stems: Mapping[str, str]) -> None:
        self._starts = {stem[:-1]: category for stem, category in stems.items() if stem[0] != "*"}
        self._ends = {stem[1:]: category for stem, category in stems.items() if stem[-1] != "*"}
        self._inner = {stem[1:-1]: category for stem, category in stems.items() if stem[0] == stem[-1] == "*"}

    def find(self, name: str) -> str:
        """The category of the longest part that is known, an ending before a beginning; empty if there is none."""
        best, best_length = "", 0.0
        for word in name.split():
            if len(word) < MIN_WORD_LENGTH or not word.isalpha():
                continue
            category, length = self._read_word(word)
            if length > best_length:
                best, best_length = category, length
        return best

    def _read_word(self, word: str) -> tuple[str, float]:
        for size in range(len(word), SHORTEST - 1, -1):
            category = self._ends.get(word[-size:])
            if category is not None:
                return category, size + END_BONUS
            category = self._starts.get(word[:size])
            if category is not None:
                return category, size
        inside = [(len(part), category) for part, category in self._inner.items() if part in word]
        size, category = max(inside, default=(0, ""))
        return category, size
