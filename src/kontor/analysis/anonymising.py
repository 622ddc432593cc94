"""A person's bookings without the person: what analyses need stays, who it was does not.

Days, amounts, codes and tags stay. Of texts, only words of the tagger's own vocabulary do; names, IBANs and numbers are
replaced by others, the same one always by the same, so that bookings that belonged together still do.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from msgspec import structs

from kontor.analysis.records import NO_PARTNER, Account, Record
from kontor.analysis.tagging import find_partner
from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.partners import list_files, list_lines

_WORD = re.compile(r"[A-Za-zÀ-ÿ]+|\d+")
_COMPANY = re.compile(r"\b(gmbh|ag|kg|ohg|ug|se|e\.?v|eg|mbh|ltd|inc|stiftung|amt|verein|praxis)\b", re.IGNORECASE)
_SHORT_NUMBER = 4  # years and months stay readable
_TAGS = frozenset(("eref", "mref", "cred", "svwz", "kref", "purp", "debt", "abwa", "abwe", "iban", "bic"))
_MONTHS = frozenset(
    (
        "januar", "februar", "maerz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november",
        "dezember", "jan", "feb", "mrz", "apr", "jun", "jul", "aug", "sep", "okt", "nov", "dez",
    )
)  # fmt: skip


@lru_cache(maxsize=1)
def load_vocabulary() -> frozenset[str]:
    """Words that say what a booking is, and nothing of whom."""
    words: set[str] = set()
    for file in list_files(files("kontor.analysis") / "data" / "keywords"):
        for line in list_lines(file):
            words |= {word for word in fold(line.partition("|")[0].replace("*", "")).split() if len(word) > 2}
    return frozenset(words | _TAGS | _MONTHS)


class Replacements:
    """Other words for words, the same for the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def find(self, kind: str, text: str, pattern: str) -> str:
        key = (kind, text)
        if key not in self._known:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._known[key] = pattern.format(self._counts[kind])
        return self._known[key]


def anonymise(records: Sequence[Record], accounts: Sequence[Account]) -> tuple[list[Record], list[Account]]:
    """Bookings in the order of their days, numbered anew, and their accounts."""
    words = Replacements()
    shown_accounts = [_hide_account(account, words) for account in accounts]
    ordered = sorted(records, key=lambda record: (record.day, record.id))
    return [_hide_record(record, words) for record in ordered], shown_accounts


def _hide_account(account: Account, words: Replacements) -> Account:
    return structs.replace(
        account,
        id=words.find("account", account.id, "account {}"),
        name="",
        holder=words.find("holder", fold(account.holder), "Inhaber {}") if account.holder else "",
        iban=_hide_iban(account.iban, words),
        balance=account.balance,
    )


def _hide_record(record: Record, words: Replacements) -> Record:
    return structs.replace(
        record,
        id=words.find("booking", record.id, "t{}"),
        account=words.find("account", record.account, "account {}"),
        purpose=_hide_text(record.purpose, words),
        counterparty_name=_hide_name(record.counterparty_name, record.partner, words),
        ultimate_counterparty=_hide_name(record.ultimate_counterparty, record.partner, words),
        counterparty_iban=_hide_iban(record.counterparty_iban, words),
        counterparty_bic="",
    )


def _hide_name(name: str, partner: str, words: Replacements) -> str:
    """A known partner is no secret; whoever else it is becomes a number."""
    if not name:
        return ""
    known = None if partner == NO_PARTNER else find_partner(partner)
    if known is not None:
        return known.name
    if _COMPANY.search(name):
        return words.find("company", fold(name), "Firma {} GmbH")
    return words.find("person", fold(name), "Person {}")


def _hide_iban(iban: str, words: Replacements) -> str:
    if not iban:
        return ""
    body = words.find("iban", iban.replace(" ", "").upper(), "99999999{:010d}")
    return f"DE{98 - int(body + '131400') % 97:02d}{body}"


def _hide_text(text: str, words: Replacements) -> str:
    vocabulary = load_vocabulary()

    def hide(match: re.Match[str]) -> str:
        word = match[0]
        if word.isdigit():
            if len(word) <= _SHORT_NUMBER:
                return word
            return words.find("number", word, f"{{:0{len(word)}d}}")
        return word if len(word) <= 2 or fold(word) in vocabulary else words.find("word", fold(word), "wort{}")

    return _WORD.sub(hide, text)
