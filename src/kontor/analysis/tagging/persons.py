"""Who the counterparty is to the customer: the customer, family, another person, or none of these."""

from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.lexicons import Rules
from kontor.analysis.tagging.readings import CARD, DEBIT, Reading
from kontor.analysis.tagging.taggings import OwnAccounts

STRANGER, PERSON, FAMILY, OWN, OWN_SAVINGS = "", "person", "family", "own", "savings"
ADDRESSES = frozenset(["herr", "herrn", "hr", "frau", "fr", "fam", "familie", "eheleute"])
DEGREES = frozenset(["dr", "prof", "dipl", "ing", "med", "rer", "nat", "jur", "phil", "kfm", "mag"])
TITLES = ADDRESSES | DEGREES | {"von", "und", "u", "oder"}
# Not those of `E-Bikes`, `T-Shirts`, `U-Bahn` and `X-Ray`, nor what hardly any given name begins with.
INITIALS = frozenset("abcdfghijklmnprsvwz")
# Who is called so is family, whatever the surname.
KIN = frozenset(
    [
        "mama",
        "papa",
        "mutter",
        "vater",
        "oma",
        "opa",
        "schwester",
        "bruder",
        "onkel",
        "tante",
        "sohn",
        "tochter",
        "enkel",
    ]
)
# Passed over where a given name is looked for; not all of them are close family.
RELATIVES = KIN | {"cousin", "cousine", "neffe", "nichte", "schwager", "schwaegerin", "pate", "patin"}
MAX_WORDS = 5
MIN_SURNAME_LENGTH = 3
MIN_CUT_NAME_LENGTH = 12


def normalise_iban(iban: str) -> str:
    return iban.replace(" ", "").upper()


class Customer:
    """The own accounts, prepared once for many bookings."""

    def __init__(self, own: OwnAccounts) -> None:
        self.savings_ibans = frozenset(map(normalise_iban, own.savings_ibans))
        self.ibans = frozenset(map(normalise_iban, own.ibans)) | self.savings_ibans
        names = [[word for word in fold(holder).split() if word not in TITLES] for holder in own.holders]
        self.holders = frozenset(frozenset(words) for words in names if len(words) > 1)
        self.spellings = tuple(" ".join(words) for words in names if len(words) > 1)
        self.surnames = frozenset(words[-1] for words in names if words and len(words[-1]) >= MIN_SURNAME_LENGTH)

    def is_holder(self, name: str, words: list[str]) -> bool:
        if not self.holders or len(words) < 2:
            return False
        if frozenset(word for word in words if word not in TITLES) in self.holders:
            return True
        return len(name) >= MIN_CUT_NAME_LENGTH and any(
            name.startswith(spelling) or spelling.startswith(name) for spelling in self.spellings
        )


class PersonClassifier:
    """Tells persons from companies by given names and by companies' words."""

    def __init__(self, rules: Rules, brands: frozenset[str] = frozenset()) -> None:
        self._brands = brands
        self._given_names, self._companies = rules.given_names, rules.companies
        self._endings = rules.company_endings

    def is_person(self, words: list[str]) -> bool:
        if not 2 <= len(words) <= MAX_WORDS:
            return False
        return (
            self._is_named(words)
            and self._companies.isdisjoint(words)
            and all(word.isalpha() and not word.endswith(self._endings) for word in words)
        )

    def _is_named(self, words: list[str]) -> bool:
        """Whether given names stand where persons have them: in front, or behind the surname (`Weber Anna Maria`). What
        comes before them otherwise is a trade: `Hufpflege Ina Bach`. Where somebody is addressed, or has but an
        initial, none is needed."""
        given = self._given_names
        if given.isdisjoint(words):
            is_short = len(words) == 2 and words[0] in INITIALS and len(words[1]) > 3
            return words[0] in ADDRESSES or (is_short and " ".join(words) not in self._brands)
        names = [word for word in words if word not in TITLES and word not in RELATIVES and len(word) > 1]
        first = next((place for place, word in enumerate(names) if word in given), 0)
        return first == 0 or first == len(names) - 1 or all(word in given for word in names[first:])

    def relate(self, reading: Reading, iban: str | None, customer: Customer) -> str:
        """What the counterparty is to the customer."""
        if iban is not None and customer.ibans:
            normal = normalise_iban(iban)
            if normal in customer.savings_ibans:
                return OWN_SAVINGS
            if normal in customer.ibans:
                return OWN
        name = reading.name
        if not name or reading.channel == CARD or reading.channel == DEBIT or reading.creditor_id:
            return STRANGER
        words = name.split()
        if customer.is_holder(name, words):
            return OWN
        if len(words) == 1 and words[0] in KIN:
            return FAMILY
        if not self.is_person(words):
            return STRANGER
        if words[0] in KIN or words[-1] in customer.surnames or words[0] in customer.surnames:
            return FAMILY
        return PERSON
