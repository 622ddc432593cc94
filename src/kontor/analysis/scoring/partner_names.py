"""Short forms of partners' names, which labels use: `Ernsting's` for `Ernsting's family`.

Such a form is the beginning or the end of a name. It counts only where nobody of another house is called so, or has it
anywhere in a name. The tagger does not look for short forms: many are common words.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kontor.analysis.tagging import Partner
from kontor.analysis.tagging.folding import fold

MIN_SHORT_NAME_LENGTH = 4


class ShortNames:
    """Knows which words only the names of one house hold. A house is a group, or a partner without one."""

    def __init__(self, partners: Iterable[Partner]) -> None:
        self._houses: dict[str, set[str]] = defaultdict(set)
        for partner in partners:
            house = fold(partner.group or partner.name)
            for name in partner.own_names:
                for run in list_runs(fold(name).split()):
                    self._houses[run].add(house)

    def find(self, partner: Partner) -> tuple[str, ...]:
        """The short forms of a partner's names, without the names themselves."""
        found: dict[str, None] = {}
        for name in partner.own_names:
            words = fold(name).split()
            for size in range(1, len(words)):
                found[" ".join(words[:size])] = found[" ".join(words[-size:])] = None
        return tuple(run for run in found if len(run) >= MIN_SHORT_NAME_LENGTH and len(self._houses[run]) == 1)


def list_runs(words: Sequence[str]) -> Iterator[str]:
    """All words that stand side by side."""
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            yield " ".join(words[start:end])
