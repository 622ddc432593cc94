"""Transactions of the API with their tags, read for the pages that list them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from kontor.console.gateway import segment

# What a tree says where it has nothing to say.
MEANINGLESS = {"UNKNOWN", "UNRELATED_OTHER", "UNRELATED"}
MAX_PURPOSE_LENGTH = 90
MAX_TITLE_LENGTH = 60
MAX_SEARCHED = 10**15  # the API searches for amounts below
LOW_CONFIDENCE = Decimal("0.75")  # below, a category is shown as unsure
SURE_PARTNER = Decimal("0.5")
# Who decided, when it was not the tagger.
DECIDERS = ("user", "rule")
_FIELD = r"(?:EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|IBAN|BIC|PURP)\+"
_PURPOSE_FIELD = re.compile(rf"SVWZ\+(.*?)(?={_FIELD}|$)", re.DOTALL)
_PLACE = re.compile(r"\s*(?://|/\d{4}-).*", re.DOTALL)  # terminals write the town behind the name
_PAYMENT_SERVICE = re.compile(r"^(?:zettle|sumup|izettle|sq|paypal)[\s_]*\*\s*", re.IGNORECASE)
_BRANCH = re.compile(r"(?:\s+(?:(?:FIL|NR)\.?\s*)?[\d/.-]{3,})+$", re.IGNORECASE)
# Words that are short and no abbreviations, and legal forms.
_SHORT_WORDS = {
    "GMBH": "GmbH", "MBH": "mbH", "EV": "e.V.", "E.V.": "e.V.", "UND": "und", "VON": "von", "VAN": "van", "AM": "am",
    "AN": "an", "IM": "im", "IN": "in", "DER": "der", "DIE": "die", "DAS": "das", "ZUM": "zum", "ZUR": "zur",
}  # fmt: skip
MAX_ABBREVIATION_LENGTH = 3
# References follow the words that were meant for people.
_REFERENCES = re.compile(
    r"\s*(?:End-to-End-Ref|EREF|KREF|MREF|CRED|CORE / Mandatsref|Mandatsref|Gläubiger-ID)\b.*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Tag:
    """An item of a tree that a transaction was given. `facts` is the item as the API told it."""

    name: str
    system_name: str
    confidence: Decimal
    evidence: Sequence[Mapping[str, Any]]
    facts: Mapping[str, Any]

    @property
    def is_meaningful(self) -> bool:
        return self.system_name not in MEANINGLESS


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    day: date | None
    amount: Decimal | None
    currency: str
    name: str | None
    purpose: str
    is_pending: bool
    category: Tag | None
    partner: Tag | None
    insurance: Tag | None
    facts: Mapping[str, Any]
    own_category: Tag | None = None

    @property
    def known_partner(self) -> Tag | None:
        return self.partner if self.partner is not None and self.partner.confidence >= SURE_PARTNER else None

    @property
    def title(self) -> str:
        """Who it was: as the partner is called, else as the bank says, else what it was for."""
        if self.known_partner is not None:
            return self.known_partner.name
        if self.name:
            return shorten(clean_name(self.name), MAX_TITLE_LENGTH)
        if self.partner is not None:
            return self.partner.name
        return shorten(self.purpose, MAX_TITLE_LENGTH) or self.facts.get("buchungstext") or "–"

    @property
    def monogram(self) -> str:
        """One or two letters or digits, for where a logo would be."""
        words = re.findall(r"\w+", self.title)
        return "".join(word[0] for word in words[:2]).upper() or "·"

    @property
    def hint(self) -> str:
        """The user's note, else what it was for where nobody knows the partner; nothing that the title says already."""
        if self.note:
            return shorten(self.note, MAX_PURPOSE_LENGTH)
        is_said = self.known_partner is not None or (self.name and self.purpose.startswith(self.name))
        text = "" if is_said else shorten(self.purpose, MAX_PURPOSE_LENGTH)
        return "" if text == self.title else text

    @property
    def note(self) -> str:
        return str(self.facts.get("notiz") or "")

    @property
    def keywords(self) -> Sequence[str]:
        keywords: Sequence[str] = self.facts.get("schlagworte") or ()
        return keywords

    @property
    def part_count(self) -> int:
        return len(self.facts.get("teile") or ())

    @property
    def is_unsure(self) -> bool:
        return self.category is not None and self.category.confidence < LOW_CONFIDENCE and self.decided_by is None

    @property
    def decided_by(self) -> str | None:
        return find_decider(self.category)

    def find_url(self, access_id: str | None = None, product_id: str | None = None, back: str = "") -> str:
        """The page about it. The API finds it by day and amount. Lists over all accounts say where it is."""
        access_id, product_id = access_id or self.facts["zugangId"], product_id or self.facts["produktId"]
        amount = self.amount if self.amount is not None and abs(self.amount) < MAX_SEARCHED else None
        asked = {"on": None if self.day is None else self.day.isoformat(), "amount": amount, "back": back or None}
        query = urlencode({name: str(value) for name, value in asked.items() if value is not None})
        return f"/console/transactions/{segment(access_id)}/{segment(product_id)}/{segment(self.id)}?{query}"


def find_decider(category: Tag | None) -> str | None:
    """`user` or `rule`; None where the tagger decided, or where nobody asked for reasons."""
    kinds = [evidence["kind"] for evidence in category.evidence] if category is not None else []
    return next((decider for decider in DECIDERS if decider in kinds), None)


def read_entries(
    rows: Sequence[Mapping[str, Any]],
    partners: Sequence[Mapping[str, Any]] = (),
    insurances: Sequence[Mapping[str, Any]] = (),
    own_categories: Sequence[Mapping[str, Any]] = (),
) -> list[Entry]:
    """Transactions with their categories, and what other tag views of the same list say about them."""
    indexes = [_index(view) for view in (partners, insurances, own_categories)]
    return [_read_entry(row, *(index.get(row["id"]) for index in indexes)) for row in rows]


def _index(rows: Sequence[Mapping[str, Any]]) -> dict[str, Tag]:
    tags = {row["id"]: read_tag(row) for row in rows}
    return {key: tag for key, tag in tags.items() if tag is not None and tag.is_meaningful}


def _read_entry(row: Mapping[str, Any], partner: Tag | None, insurance: Tag | None, own_category: Tag | None) -> Entry:
    amount = row.get("betrag")
    return Entry(
        row["id"],
        read_booking_day(row),
        None if amount is None else Decimal(str(amount)),
        row.get("waehrung") or "EUR",
        row.get("gegenkontoInhaber"),
        find_purpose(row.get("verwendungszweck") or ""),
        row.get("vorgemerkt", False),
        read_tag(row),
        partner,
        insurance,
        row,
        own_category,
    )


def read_tag(row: Mapping[str, Any]) -> Tag | None:
    tag = next(iter(row.get("tags", [])), None)
    if tag is None:
        return None
    item, details = tag["tagTreeItem"], tag["details"]
    confidence = Decimal(str(details["confidenceLevel"]))
    return Tag(item["displayName"], item["systemName"], confidence, details.get("evidence", []), item)


def read_booking_day(row: Mapping[str, Any]) -> date | None:
    """The first part of a timestamp is the day in Berlin."""
    text = row.get("buchungsdatum") or row.get("wertstellungsdatum")
    return None if text is None else date.fromisoformat(text[:10])


def find_purpose(text: str) -> str:
    """What a person wrote, without the references around it."""
    field = _PURPOSE_FIELD.search(text)
    purpose = field[1].strip() if field else _REFERENCES.sub("", text).strip()
    return " ".join((purpose or text).split())


def clean_name(text: str) -> str:
    """A counterparty as people write it: without town and number of the branch, and not in capitals."""
    name = " ".join((_PLACE.sub("", text) or text).split())
    name = _PAYMENT_SERVICE.sub("", name) or name
    name = _BRANCH.sub("", name) or name
    if not name.isupper():
        return name
    written = " ".join(_write_word(word) for word in name.split(" "))
    return written[:1].upper() + written[1:]


def _write_word(word: str) -> str:
    if word in _SHORT_WORDS:
        return _SHORT_WORDS[word]
    letters = sum(map(str.isalpha, word))
    return word if letters <= MAX_ABBREVIATION_LENGTH or letters < len(word) - 1 else word.title()


def shorten(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    whole = cut.rpartition(" ")[0]
    return f"{whole if len(whole) > length // 2 else cut}…"


def group_by_day(entries: Sequence[Entry]) -> list[tuple[date | None, list[Entry]]]:
    """In their order, which is that of the days."""
    return [(day, list(group)) for day, group in groupby(entries, key=lambda entry: entry.day)]
