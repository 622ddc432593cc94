"""Whom the demo bank's customers pay: test IBANs that misbehave, and whether a name fits an IBAN."""

import re
import unicodedata
from collections.abc import Mapping
from difflib import SequenceMatcher
from enum import StrEnum

from kontor.connectors.demo.people.numbers import DEMO_BANK_CODE, make_iban
from kontor.domain.direct_debits import SEPA_COUNTRIES
from kontor.domain.payments import Order, PayeeMatch, PayeeResult


class PayeeScenario(StrEnum):
    """What paying a test IBAN leads to; `docs/guides/demo-bank.md` lists them for users."""

    REFUSES = "REFUSES"
    IS_CLOSED = "IS_CLOSED"
    ANSWERS_LATE = "ANSWERS_LATE"
    DIES_AFTER_BOOKING = "DIES_AFTER_BOOKING"
    DIES_BEFORE_BOOKING = "DIES_BEFORE_BOOKING"
    IS_HELD_UP = "IS_HELD_UP"
    HAS_NO_INSTANT = "HAS_NO_INSTANT"
    NAME_IS_CLOSE = "NAME_IS_CLOSE"
    NAME_IS_OTHER = "NAME_IS_OTHER"
    NAME_IS_UNKNOWN = "NAME_IS_UNKNOWN"


# Numbers of the bank's customers have ten digits, so nobody's account is among these.
TEST_IBANS = {make_iban(DEMO_BANK_CODE, str(number)): scenario for number, scenario in enumerate(PayeeScenario, 1)}

CLOSE_NAMES = 0.8  # share of equal letters from which on two names are close
_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_WORD = re.compile(r"[a-z0-9]+")
_TITLES = frozenset(("herr", "frau", "dr", "prof", "und", "u"))


def find_payee_scenario(order: Order) -> PayeeScenario | None:
    return TEST_IBANS.get(order.iban)


def is_sepa(order: Order) -> bool:
    return order.iban[:2] in SEPA_COUNTRIES


def check_payee(order: Order, forced: PayeeMatch | None, holders: Mapping[str, str]) -> PayeeResult:
    """`forced` is what the payer's login asks for, `holders` are the names that belong to known IBANs."""
    by_scenario = {
        PayeeScenario.NAME_IS_CLOSE: PayeeMatch.CLOSE_MATCH,
        PayeeScenario.NAME_IS_OTHER: PayeeMatch.NO_MATCH,
        PayeeScenario.NAME_IS_UNKNOWN: PayeeMatch.NOT_POSSIBLE,
    }
    scenario = find_payee_scenario(order)
    match = by_scenario.get(scenario) if scenario is not None else None
    match = match or forced
    if match is None and not is_sepa(order):
        match = PayeeMatch.NOT_POSSIBLE
    if match is None:
        holder = holders.get(order.iban)
        return PayeeResult(PayeeMatch.MATCH) if holder is None else compare_names(order.recipient, holder)
    if match is PayeeMatch.CLOSE_MATCH:
        return PayeeResult(match, _invent_close_name(order.recipient))
    return PayeeResult(match)


def compare_names(given: str, holder: str) -> PayeeResult:
    """Order of names, titles, capitals and the spelling of umlauts do not matter."""
    ours, theirs = _read_words(given), _read_words(holder)
    is_joint = " und " in holder
    if sorted(ours) == sorted(theirs) or (is_joint and len(ours) > 1 and set(ours) < set(theirs)):
        return PayeeResult(PayeeMatch.MATCH)
    likeness = SequenceMatcher(None, " ".join(sorted(ours)), " ".join(sorted(theirs))).ratio()
    has_same_surname = bool(ours) and bool(theirs) and ours[-1] == theirs[-1] and ours[0][0] == theirs[0][0]
    common = set(ours) & set(theirs)
    is_part = len(common) > 1 and common in (set(ours), set(theirs))
    if likeness >= CLOSE_NAMES or has_same_surname or is_part:
        return PayeeResult(PayeeMatch.CLOSE_MATCH, holder)
    return PayeeResult(PayeeMatch.NO_MATCH)


def _read_words(name: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_LETTERS))
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return [word for word in _WORD.findall(plain) if word not in _TITLES]


def _invent_close_name(recipient: str) -> str:
    """What the holder might really be called: with a second given name, or as a company."""
    first, _, rest = recipient.strip().partition(" ")
    return f"{first} Maria {rest}" if rest else f"{first} GmbH"
