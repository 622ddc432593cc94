"""The words by which a merchant may be named to others: never those of a person, never a number.

What is in doubt is left out: a shop that is named after a person is not named at all.
"""

from itertools import takewhile

from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.knowledge import LEGAL_FORMS
from kontor.analysis.tagging.lexicons import Rules
from kontor.analysis.tagging.persons import INITIALS, RELATIVES, TITLES, Acquaintances
from kontor.analysis.tagging.readings import CARD, DEBIT, Reading
from kontor.analysis.tagging.sepa_tags import TAGS
from kontor.analysis.tagging.taggings import OwnAccounts

SHORTEST_WORD, MOST_WORDS, LONGEST_NAME = 2, 6, 60
# Shorter words that companies have in their names are also parts of persons' names: `Don`, `Bei`.
SHORTEST_COMPANY = 4
# From here on a word without a vowel is a reference.
SHORTEST_REFERENCE = 5
VOWELS = frozenset("aeiouy")
TAG_WORDS = frozenset(tag.lower() for tag in TAGS)
# Behind them stands a person: `KUPFERKANNE INH. BECK`.
OWNERS = frozenset({"inh", "inhaber", "inhaberin"})
PERSONAL_WORDS = (TITLES - {"und"}) | RELATIVES | INITIALS


class MerchantNames:
    def __init__(self, rules: Rules, acquaintances: Acquaintances) -> None:
        self._rules, self._acquaintances = rules, acquaintances

    def name(self, reading: Reading, own: OwnAccounts) -> str:
        """The merchant of a payment; "" where there is none that may be named."""
        if reading.is_incoming or reading.is_unnamed or len(reading.name) > LONGEST_NAME:
            return ""
        words = list(takewhile(lambda word: word not in OWNERS, reading.name.split()))
        if len(words) > MOST_WORDS or not TAG_WORDS.isdisjoint(words) or self._is_person(words, own):
            return ""
        if not self._is_merchant(reading, words):
            return ""
        kept = [word for word in words if is_plain(word)]
        return " ".join(kept) if self._tells_something(kept) else ""

    def _is_person(self, words: list[str], own: OwnAccounts) -> bool:
        """Whether any word may be part of a person's name, wherever it stands."""
        if self._acquaintances.is_person(words) or not PERSONAL_WORDS.isdisjoint(words):
            return True
        if any(word in self._rules.given_names or word.removesuffix("s") in self._rules.given_names for word in words):
            return True
        holders = {word for holder in own.holders for word in fold(holder).split() if len(word) > SHORTEST_WORD}
        return any(holder in word for word in words for holder in holders)

    def _is_merchant(self, reading: Reading, words: list[str]) -> bool:
        """Persons have no tills, and collect no debits. Behind a payment service or a transfer may be anybody."""
        if any(self._is_companys(word) for word in words):
            return True
        is_till = reading.channel in (CARD, DEBIT) or bool(reading.creditor_id)
        return is_till and not reading.has_collector

    def _is_companys(self, word: str) -> bool:
        if word in self._rules.surnames:
            return False
        is_long = len(word) >= SHORTEST_COMPANY
        return word in LEGAL_FORMS or (
            is_long and (word in self._rules.companies or word.endswith(self._rules.company_endings))
        )

    def _tells_something(self, words: list[str]) -> bool:
        """More than a place, a legal form or a surname."""
        others = self._rules.places | LEGAL_FORMS | self._rules.surnames
        return any(len(word) > SHORTEST_WORD and word not in others for word in words)


def is_plain(word: str) -> bool:
    """A word of letters that can be read: no number, and no reference."""
    if not word.isalpha() or len(word) < SHORTEST_WORD or set(word) == {"x"}:
        return False
    return len(word) < SHORTEST_REFERENCE or not VOWELS.isdisjoint(word)
