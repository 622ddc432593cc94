"""The words by which a merchant may be named to others: never those of a person, never a number.

A name that is in doubt is left out as a whole. Lists of given names are never complete, so a name may hold one word at
most that no vocabulary has.
"""

import re
from itertools import takewhile

from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.knowledge import LEGAL_FORMS
from kontor.analysis.tagging.lexicons import Rules, load_keywords
from kontor.analysis.tagging.persons import INITIALS, RELATIVES, TITLES, PersonClassifier
from kontor.analysis.tagging.readings import CARD, Reading
from kontor.analysis.tagging.sepa_tags import LABELS, TAGS
from kontor.analysis.tagging.taggings import OwnAccounts
from kontor.domain.transactions import Transaction

MIN_WORD_LENGTH, MAX_WORDS, MAX_NAME_LENGTH = 2, 6, 60
# Shorter words that companies have in their names are also parts of persons' names: `Don`, `Bei`.
MIN_COMPANY_LENGTH = 4
# From here on a word without a vowel is a reference.
MIN_REFERENCE_LENGTH = 5
VOWELS = frozenset("aeiouy")
TAG_WORDS = frozenset(tag.lower() for tag in TAGS)
# Behind them stands a person: `KUPFERKANNE INH. BECK`.
OWNERS = frozenset({"inh", "inhaber", "inhaberin"})
PERSONAL_WORDS = (TITLES - {"und"}) | RELATIVES | INITIALS
# Not the ends of addresses in the internet: `KRASNIQI DE`.
FORMS = LEGAL_FORMS - {"de", "com", "se"}
EMAIL = re.compile(r"@|[(\[] ?at ?[)\]]", re.IGNORECASE)
# In a folded name: `parkhaus muc xy 77`, `parkhaus mucxy77`. A house number behind a short word looks the same.
PLATE = re.compile(r"\b[a-z]{1,4} ?[a-z]{1,2} ?\d{1,4} ?[eh]?\b")
# Behind them stands the number of a customer, a member or a contract, which may be of letters alone.
MARKS = frozenset(LABELS) | {"kd", "kto", "konto", "az", "no", "rg", "re", "ref", "mgl", "abo", "id"}
MARKS_BEGIN = ("kundenn", "kdn", "mitgl", "vertrag", "rechn", "refer", "mandat", "aktenz", "beleg", "bestell")
MARKS_END = ("nr", "nummer", "referenz")


class MerchantNames:
    def __init__(self, rules: Rules, person_classifier: PersonClassifier) -> None:
        self._rules, self._person_classifier = rules, person_classifier
        self._known: frozenset[str] = frozenset()

    def _list_known(self) -> frozenset[str]:
        """Words of companies, places and keywords. Made when they are first needed."""
        if not self._known:
            keywords = {atom for keyword in load_keywords() for atom in keyword.atoms if "*" not in atom}
            self._known = self._rules.companies | self._rules.places | LEGAL_FORMS | keywords
        return self._known

    def name(self, transaction: Transaction, reading: Reading, own: OwnAccounts) -> str:
        """The merchant of a payment; "" where there is none that may be named."""
        if reading.is_incoming or reading.is_unnamed or len(reading.name) > MAX_NAME_LENGTH:
            return ""
        written = fold((transaction.counterparty_name or "").partition("//")[0])
        if has_address(transaction) or has_number(reading.name) or has_number(written):
            return ""
        words = list(takewhile(lambda word: word not in OWNERS, reading.name.split()))
        if len(words) > MAX_WORDS or not TAG_WORDS.isdisjoint(words) or self._is_person(words, own):
            return ""
        kept = [word for word in words if is_plain(word)]
        if not self._tells_something(kept) or not self._is_merchant(reading, words, kept):
            return ""
        return " ".join(kept)

    def _is_person(self, words: list[str], own: OwnAccounts) -> bool:
        """Whether any word may be part of a person's name, wherever it stands."""
        if self._person_classifier.is_person(words) or not PERSONAL_WORDS.isdisjoint(words):
            return True
        if not self._rules.surnames.isdisjoint(words):
            return True
        if any(word in self._rules.given_names or word.removesuffix("s") in self._rules.given_names for word in words):
            return True
        holders = {word for holder in own.holders for word in fold(holder).split() if len(word) > MIN_WORD_LENGTH}
        return any(holder in word for word in words for holder in holders)

    def _is_merchant(self, reading: Reading, words: list[str], kept: list[str]) -> bool:
        """One word that nobody knows may be the merchant's: in front of a legal form, or at a till, where persons are
        not named, alone or with a trade. Two may be somebody's name."""
        known = self._list_known()
        unknown = [word for word in kept if word not in known]
        if len(unknown) > 1:
            return False
        if not FORMS.isdisjoint(words):
            before = list(takewhile(lambda word: word not in FORMS, words))
            return all(word in before for word in unknown)
        is_trade = any(self._is_companys(word) for word in kept)
        # Behind a transfer, a debit or a payment service may be anybody.
        if reading.channel != CARD or reading.has_collector:
            return is_trade and not unknown
        return is_trade or len(kept) == 1

    def _is_companys(self, word: str) -> bool:
        is_long = len(word) >= MIN_COMPANY_LENGTH
        return is_long and (word in self._rules.companies or word.endswith(self._rules.company_endings))

    def _tells_something(self, words: list[str]) -> bool:
        """More than a place or a legal form."""
        others = self._rules.places | LEGAL_FORMS
        return any(len(word) > MIN_WORD_LENGTH and word not in others for word in words)


def has_address(transaction: Transaction) -> bool:
    """Whether an e-mail address stands in any text: it may have become the name."""
    texts = (transaction.counterparty_name, transaction.purpose, transaction.ultimate_counterparty)
    return any(text is not None and EMAIL.search(text) for text in texts)


def has_number(name: str) -> bool:
    """Whether a folded name has the plate of a car, or says that a number of a customer or contract follows."""
    return PLATE.search(name) is not None or any(
        word in MARKS or word.startswith(MARKS_BEGIN) or word.endswith(MARKS_END) for word in name.split()
    )


def is_plain(word: str) -> bool:
    """A word of letters that can be read: no number, and no reference."""
    if not word.isalpha() or len(word) < MIN_WORD_LENGTH or set(word) == {"x"}:
        return False
    return len(word) < MIN_REFERENCE_LENGTH or not VOWELS.isdisjoint(word)
