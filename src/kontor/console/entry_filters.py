"""What the list of transactions is narrowed to: read from an address, written into addresses and into calls of the API.

`link_entries` is how other pages link to the list; templates know it as `entries_url`.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from kontor.pages.browser import BadRequestError

PAGE = "/console/transactions"
DIRECTIONS = {"in": "EIN", "out": "AUS"}
# Names in an address, and the field of each.
NAMES = {
    "account": "accounts", "search": "search", "as": "meaning", "category": "category", "keyword": "keyword",
    "direction": "direction", "month": "month", "from": "since", "to": "until", "min": "least", "max": "most",
}  # fmt: skip
FIRST_MONTH, LAST_MONTH = "1900-01", "2999-12"
MAX_AMOUNT = 10**15  # the API searches for amounts below
_SIGNS = re.compile(r"\s|€|EUR|^[-+−]", re.IGNORECASE)
_PLAIN = re.compile(r"\d+(?:[.,]\d{1,2})?")
_GERMAN, _ENGLISH = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?"), re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?")
# Among other words, a point may be in a date: only this is an amount there.
_SPACED_CURRENCY = re.compile(r"(?<=\d)\s+(€|EUR\b)", re.IGNORECASE)
_AMOUNT_WORD = re.compile(r"[-−]?[\d.]+,\d{2}(?:€|EUR)?|[-−]?[\d.,]+(?:€|EUR)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Empty texts ask for nothing. `accounts` are ids of products, `month` is `2026-11` and stands for its days.

    `least` and `most` are amounts without a sign, of spending unless `direction` says `in`. `meaning` is `text` where
    the words that are searched for are no amount, whatever they look like.
    """

    accounts: tuple[str, ...] = ()
    search: str = ""
    meaning: str = ""
    category: str = ""
    keyword: str = ""
    direction: str = ""
    month: str = ""
    since: str = ""
    until: str = ""
    least: str = ""
    most: str = ""

    @property
    def words(self) -> str:
        return self.search if self.meaning else split_search(self.search)[0]

    @property
    def amount(self) -> Decimal | None:
        """What the search field says about the amount."""
        return None if self.meaning else split_search(self.search)[1]

    @property
    def is_narrowed(self) -> bool:
        return self != EntryFilter()

    @property
    def first_day(self) -> date | None:
        return date.fromisoformat(f"{self.month}-01") if self.month else None

    def change(self, **changes: Any) -> "EntryFilter":
        return replace(self, **changes)

    def toggle_account(self, product_id: str) -> "EntryFilter":
        """With this account, or without it."""
        kept = tuple(account for account in self.accounts if account != product_id)
        return replace(self, accounts=kept if product_id in self.accounts else (*kept, product_id))

    def write(self) -> dict[str, str]:
        """As an address has it."""
        values = {name: getattr(self, field) for name, field in NAMES.items()}
        values["account"] = ",".join(self.accounts)
        return {name: value for name, value in values.items() if value}

    def url(self, **changes: Any) -> str:
        query = urlencode(replace(self, **changes).write())
        return f"{PAGE}?{query}" if query else PAGE

    def for_api(self) -> dict[str, str]:
        """The filters of the API's list over all accounts."""
        since, until = self.since, self.until
        if first := self.first_day:
            since, until = first.isoformat(), first.replace(day=monthrange(first.year, first.month)[1]).isoformat()
        values: dict[str, Any] = {
            "produkt": ",".join(self.accounts), "search": self.words, "betrag": self.amount,
            "category": self.category, "schlagwort": self.keyword, "richtung": DIRECTIONS.get(self.direction),
            "from": since, "to": until,
        }  # fmt: skip
        return {name: str(value) for name, value in (values | self._bound_amounts()).items() if value not in ("", None)}

    def _bound_amounts(self) -> dict[str, Any]:
        least, most = self.least or None, self.most or None
        if least is None and most is None:
            return {}
        if (least or "").startswith("-"):  # an address from before: signed, in both directions
            return {"minAmount": least, "maxAmount": most}
        if self.direction == "in":
            return {"minAmount": least, "maxAmount": most}
        return {"richtung": "AUS", "minAmount": most and f"-{most}", "maxAmount": least and f"-{least}"}


def read_filter(query: Mapping[str, str]) -> EntryFilter:
    """BadRequestError for what no form of ours sends."""
    values: dict[str, Any] = {field: query.get(name, "").strip() for name, field in NAMES.items()}
    values["accounts"] = tuple(dict.fromkeys(filter(None, query.get("account", "").split(","))))
    if values["direction"] not in ("", *DIRECTIONS) or values["meaning"] not in ("", "text"):
        raise BadRequestError
    for field in ("least", "most"):
        values[field] = _read_bound(values[field])
    if values["month"]:
        values["month"] = _read_day(f"{values['month']}-01")[:7]
        if not FIRST_MONTH <= values["month"] <= LAST_MONTH:
            raise BadRequestError
        values["since"] = values["until"] = ""
    for field in ("since", "until"):
        values[field] = values[field] and _read_day(values[field])
    return EntryFilter(**values)


def find_newer_query(query: Mapping[str, str]) -> dict[str, str] | None:
    """Addresses of before: an account with its access, and signed amounts. None where nothing is to be changed."""
    newer = dict(query)
    if "/" in newer.get("account", ""):
        newer["account"] = newer["account"].rpartition("/")[2]
    if newer.get("max", "").startswith("-"):
        least, most = newer.pop("max")[1:], newer.pop("min", "").removeprefix("-")
        newer |= {"direction": "out", "min": least, "max": most}
    return None if newer == dict(query) else {name: value for name, value in newer.items() if value}


def _read_bound(text: str) -> str:
    sign, amount = ("-" if text.startswith("-") else ""), read_typed_amount(text)
    if text and (amount is None or amount >= MAX_AMOUNT):
        raise BadRequestError
    return "" if amount is None else f"{sign}{amount:f}"


def _read_day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise BadRequestError from None


def read_typed_amount(text: str) -> Decimal | None:
    """`12,50`, `1.234,56 €`, `12.5` and `1,234.56` without their sign; None for what is no amount."""
    bare = _SIGNS.sub("", text.strip())
    if _GERMAN.fullmatch(bare):
        bare = bare.replace(".", "").replace(",", ".")
    elif _ENGLISH.fullmatch(bare):
        bare = bare.replace(",", "")
    elif _PLAIN.fullmatch(bare):
        bare = bare.replace(",", ".")
    else:
        return None
    amount = Decimal(bare)
    return amount if amount < MAX_AMOUNT else None


def split_search(text: str) -> tuple[str, Decimal | None]:
    """Words, and the amount among them: a number alone, or one that is written as an amount."""
    whole = read_typed_amount(text)
    if whole is not None:
        return "", whole
    words: list[str] = []
    amount = None
    for word in _SPACED_CURRENCY.sub(r"\1", text).split():
        found = read_typed_amount(word) if amount is None and _AMOUNT_WORD.fullmatch(word) else None
        if found is None:
            words.append(word)
        amount = amount if found is None else found
    return " ".join(words), amount


def link_entries(
    *,
    accounts: Iterable[str] = (),
    search: str = "",
    category: str = "",
    keyword: str = "",
    direction: str = "",
    month: str = "",
    since: date | str = "",
    until: date | str = "",
    figure: Any = None,
) -> str:
    """The address of the list of transactions that make up a figure.

    All that is given must hold. `accounts` are ids of products, `category` is a system name (a main category includes
    those below it, and an own one is possible), `direction` is `in` or `out`, `month` is `2026-11`; `since` and `until`
    are days, both included. With `figure`, the list says so where its total differs from it.
    """
    chosen = EntryFilter(
        tuple(accounts), search, "text" if search else "", category, keyword, direction, month, str(since), str(until)
    )
    query = chosen.write() | ({} if figure is None else {"figure": str(figure)})
    return f"{PAGE}?{urlencode(query)}" if query else PAGE


def step_month(first: date, months: int) -> str:
    """The month so many months later, as an address has it."""
    number = first.year * 12 + first.month - 1 + months
    return f"{number // 12:04}-{number % 12 + 1:02}"
