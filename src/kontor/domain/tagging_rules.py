"""Rules that give transactions a category: for which transactions a rule holds, and which of several decides."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from uuid import UUID

from kontor.domain.own_categories import OwnCategories, fits_basis, leave_basis
from kontor.domain.tags import fold_iban, fold_name
from kontor.domain.transactions import Transaction

MAX_RULES = 500
_WORD = re.compile(r"[^\W_]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


class Sign(StrEnum):
    INCOMING = "+"
    OUTGOING = "-"


@dataclass(frozen=True, slots=True)
class RuleConditions:
    """All that is given must hold. `text` is words that all occur; amounts are without a sign."""

    text: str = ""
    partner: str = ""
    amount_from: Decimal | None = None
    amount_to: Decimal | None = None
    sign: Sign | None = None
    product_id: UUID | None = None

    @property
    def count(self) -> int:
        amounts = (self.amount_from, self.amount_to, self.sign, self.product_id)
        return bool(self.text) + bool(self.partner) + sum(value is not None for value in amounts)


NO_CONDITIONS = RuleConditions()


@dataclass(frozen=True, slots=True)
class TaggingRule:
    """Transactions that fit counterparty and conditions have this category. What is empty is not compared.

    A rule that is not for all transactions leaves those alone that were there before it.
    """

    id: UUID
    category: str
    counterparty_iban: str = ""
    counterparty_name: str = ""
    conditions: RuleConditions = NO_CONDITIONS
    name: str = ""
    is_active: bool = True
    is_for_all: bool = True
    own_category: str = ""  # a category of the user or tenant; `category` is its basis

    @property
    def keys(self) -> tuple[str, str]:
        return fold_iban(self.counterparty_iban), fold_name(self.counterparty_name)

    @property
    def count(self) -> int:
        """How many conditions it has, with those of the counterparty."""
        return sum(map(bool, self.keys)) + self.conditions.count


@dataclass(frozen=True)
class RuledTransaction:
    """A transaction as rules see it. `partner` is what the tagger says.

    `is_settled`: it had tags before, and `rule_id` is the rule that decided them, if one did.
    """

    product_id: UUID
    transaction: Transaction
    partner: str
    is_settled: bool = False
    rule_id: UUID | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        booked = self.transaction
        texts = (booked.counterparty_name, booked.purpose, booked.booking_text, booked.counterparty_iban)
        return split_words(" ".join(text for text in texts if text))


class RuleBook:
    """Rules, found by what they require. Each group of rules is in order, the oldest first.

    A rule of an earlier group wins over all of later groups; within a group that with more conditions, then the newer.
    """

    def __init__(self, *groups: Sequence[TaggingRule]) -> None:
        ranked = [
            (-place, rule.count, age, rule)
            for place, group in enumerate(groups)
            for age, rule in enumerate(group)
            if rule.is_active
        ]
        ranked.sort(key=lambda entry: entry[:3], reverse=True)
        self._rules: dict[tuple[str, ...], list[tuple[int, TaggingRule, frozenset[str]]]] = {}
        for rank, (*_, rule) in enumerate(ranked):
            words = split_words(rule.conditions.text)
            self._rules.setdefault(_find_key(rule, words), []).append((rank, rule, words))
        self._has_words = any(key[0] == "word" for key in self._rules)

    def find(self, row: RuledTransaction) -> TaggingRule | None:
        """The rule that decides the category of this transaction."""
        if not self._rules:
            return None
        chosen: tuple[int, TaggingRule] | None = None
        for key in self._list_keys(row):
            for rank, rule, words in self._rules.get(key, ()):
                if chosen is not None and rank > chosen[0]:
                    break
                if _holds(rule, words, row):
                    chosen = rank, rule
                    break
        return None if chosen is None else chosen[1]

    def _list_keys(self, row: RuledTransaction) -> Iterable[tuple[str, ...]]:
        iban = fold_iban(row.transaction.counterparty_iban)
        name = fold_name(row.transaction.counterparty_name)
        keys: list[tuple[str, ...]] = [("any",), ("partner", row.partner)]
        keys += [("counterparty", iban, name), ("counterparty", iban, ""), ("counterparty", "", name)]
        if self._has_words:
            keys += [("word", word) for word in row.words]
        return dict.fromkeys(keys)


def follow_categories(rule: TaggingRule, known: OwnCategories) -> TaggingRule:
    """With the basis that its own category has now; a category that is gone leaves its basis behind."""
    if not rule.own_category:
        return rule
    category = known.get(rule.own_category)
    if category is None:
        return replace(rule, category=leave_basis(rule.category), own_category="")
    return replace(rule, category=category.basis)


def split_words(text: str) -> frozenset[str]:
    """Words of letters and digits, without regard to case and to how umlauts are spelled."""
    folded = unicodedata.normalize("NFC", text).casefold().translate(_UMLAUTS)
    return frozenset(_WORD.findall(folded))


def _find_key(rule: TaggingRule, words: frozenset[str]) -> tuple[str, ...]:
    """Something that every transaction of the rule has."""
    if any(rule.keys):
        return "counterparty", *rule.keys
    if words:
        return "word", max(words, key=lambda word: (len(word), word))
    return ("partner", rule.conditions.partner) if rule.conditions.partner else ("any",)


def _holds(rule: TaggingRule, words: frozenset[str], row: RuledTransaction) -> bool:
    amount, conditions = row.transaction.amount, rule.conditions
    if not rule.is_for_all and row.is_settled and row.rule_id != rule.id:
        return False
    if not fits_basis(rule.category, amount) or not _fits_amount(conditions, amount):
        return False
    iban, name = rule.keys
    if iban and iban != fold_iban(row.transaction.counterparty_iban):
        return False
    if name and name != fold_name(row.transaction.counterparty_name):
        return False
    if conditions.partner and conditions.partner != row.partner:
        return False
    if conditions.product_id is not None and conditions.product_id != row.product_id:
        return False
    return not words or words <= row.words


def _fits_amount(conditions: RuleConditions, amount: Decimal) -> bool:
    if conditions.sign is Sign.INCOMING and amount <= 0:
        return False
    if conditions.sign is Sign.OUTGOING and amount >= 0:
        return False
    if conditions.amount_from is not None and abs(amount) < conditions.amount_from:
        return False
    return conditions.amount_to is None or abs(amount) <= conditions.amount_to
