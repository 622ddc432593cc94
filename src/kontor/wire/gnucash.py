"""A book as a file of GnuCash: XML, uncompressed. An account of GnuCash has one currency."""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import escape

from kontor.domain.products import ProductCategory
from kontor.services.statements import Ledger
from kontor.wire.bookkeeping import BookHead, Entry, describe_category, fit_line, name_category

SPACES = ("gnc", "act", "book", "cd", "cmdty", "split", "slot", "trn", "ts")
# The account types of GnuCash, by the first part of a name.
TYPES = {"Assets": "ASSET", "Liabilities": "LIABILITY", "Expenses": "EXPENSE", "Income": "INCOME", "Equity": "EQUITY"}
CARDS = (ProductCategory.CREDIT_CARD, ProductCategory.OTHER_CARD)
MIN_SCALE = 2
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _make_guid(*parts: str) -> str:
    """The same for the same account of every export."""
    return uuid5(NAMESPACE_URL, "kontor:" + ":".join(parts)).hex


def _fit(text: str | None) -> str:
    """A text of XML, in one line."""
    return escape(_FORBIDDEN.sub("", fit_line(text)))


def write_fraction(amount: Decimal) -> str:
    """`-12.34` is `-1234/100`."""
    exponent = amount.as_tuple().exponent
    scale = max(MIN_SCALE, -exponent if isinstance(exponent, int) else MIN_SCALE)
    return f"{int(amount.scaleb(scale))}/{10**scale}"


def _write_commodity(tag: str, currency: str) -> str:
    return f"<{tag}><cmdty:space>CURRENCY</cmdty:space><cmdty:id>{currency}</cmdty:id></{tag}>"


def _write_slot(key: str, text: str) -> str:
    return f'<slot><slot:key>{key}</slot:key><slot:value type="string">{text}</slot:value></slot>'


class GnuCash:
    """See `BookFormat`. GnuCash asserts no balances."""

    def __init__(self) -> None:
        self._guids: dict[tuple[str, str], str] = {}  # of accounts, by name and currency

    def write_head(self, head: BookHead) -> Iterable[str]:
        spaces = "".join(f' xmlns:{name}="http://www.gnucash.org/XML/{name}"' for name in SPACES)
        yield f'<?xml version="1.0" encoding="utf-8" ?>\n<gnc-v2{spaces}>\n'
        yield '<gnc:count-data cd:type="book">1</gnc:count-data>\n<gnc:book version="2.0.0">\n'
        yield f'<book:id type="guid">{_make_guid("book")}</book:id>\n'
        for currency in head.currencies:
            yield (
                '<gnc:commodity version="2.0.0"><cmdty:space>CURRENCY</cmdty:space>'
                f"<cmdty:id>{currency}</cmdty:id></gnc:commodity>\n"
            )
        root = _make_guid("root")
        yield (
            '<gnc:account version="2.0.0"><act:name>Root Account</act:name>'
            f'<act:id type="guid">{root}</act:id><act:type>ROOT</act:type></gnc:account>\n'
        )
        yield from self._write_accounts(head, root)

    def _write_accounts(self, head: BookHead, root: str) -> Iterable[str]:
        """Parents before their children. Another currency than the account's is an account below it."""
        ledgers = dict(head.ledgers)
        names = {name_category(category): describe_category(category) for category in head.categories}
        guids = {"": root}
        for name in sorted({name for name, _ in head.used}):
            parts = name.split(":")
            ledger = ledgers.get(name)
            main = head.main_currency if ledger is None else ledger.currency
            for depth in range(1, len(parts)):
                parent = ":".join(parts[:depth])
                if parent not in guids:
                    guids[parent] = _make_guid(parent)
                    yield _write_account(parent, guids, head.main_currency, is_placeholder=True)
            guids[name] = _make_guid(name) if ledger is None else ledger.product.id.hex
            description = names.get(name, "") if ledger is None else ledger.product.product.name or ""
            yield _write_account(name, guids, main, ledger, description)
            self._guids[name, main] = guids[name]
            for currency in sorted(currency for used, currency in head.used if used == name and currency != main):
                below = f"{name}:{currency}"
                guids[below] = self._guids[name, currency] = _make_guid(guids[name], currency)
                yield _write_account(below, guids, currency, ledger)

    def begin_account(self, name: str, ledger: Ledger) -> str:
        return ""

    def write_entry(self, entry: Entry) -> str:
        currency = entry.postings[0].currency
        payee, narration = _fit(entry.payee), _fit(entry.narration)
        facts = "; ".join(f"{key}: {text}" for key, text in entry.facts.items() if text)
        notes = f"<trn:slots>{_write_slot('notes', _fit(facts))}</trn:slots>" if facts else ""
        memo = narration if payee else ""
        splits = "".join(self._write_split(entry, number, memo) for number in range(len(entry.postings)))
        return (
            f'<gnc:transaction version="2.0.0"><trn:id type="guid">{_make_guid("transaction", entry.id.hex)}</trn:id>'
            f"{_write_commodity('trn:currency', currency)}"
            f"<trn:date-posted>{_write_day(entry.day)}</trn:date-posted>"
            f"<trn:date-entered>{_write_day(entry.day)}</trn:date-entered>"
            f"<trn:description>{payee or narration}</trn:description>{notes}<trn:splits>{splits}</trn:splits>"
            "</gnc:transaction>\n"
        )

    def _write_split(self, entry: Entry, number: int, memo: str) -> str:
        """The bank's side is cleared, and has the id by which GnuCash's imports know what they have imported."""
        posting = entry.postings[number]
        value = write_fraction(posting.amount)
        state, slots = "n", ""
        if posting.account.startswith(("Assets:", "Liabilities:")):
            id = entry.facts.get("kontor-id-received" if number else "kontor-id", "")
            state, slots = "c", f"<split:slots>{_write_slot('online_id', id)}</split:slots>" if id else ""
        return (
            f'<trn:split><split:id type="guid">{_make_guid("split", entry.id.hex, str(number))}</split:id>'
            + (f"<split:memo>{memo}</split:memo>" if memo else "")
            + f"<split:reconciled-state>{state}</split:reconciled-state>"
            f"<split:value>{value}</split:value><split:quantity>{value}</split:quantity>"
            f'<split:account type="guid">{self._guids[posting.account, posting.currency]}</split:account>'
            f"{slots}</trn:split>"
        )

    def end_account(self, name: str, ledger: Ledger, closed_on: date) -> str:
        return ""

    def write_end(self) -> str:
        return "</gnc:book>\n</gnc-v2>\n"


def _write_day(day: date) -> str:
    """The hour that GnuCash itself writes: the same day in nearly all time zones."""
    return f"<ts:date>{day} 10:59:00 +0000</ts:date>"


def _write_account(
    name: str,
    guids: dict[str, str],
    currency: str,
    ledger: Ledger | None = None,
    description: str = "",
    *,
    is_placeholder: bool = False,
) -> str:
    parent, _, last = name.rpartition(":")
    kind = TYPES[name.partition(":")[0]]
    if ledger is not None and not ledger.product.product.category.is_depot:
        kind = "BANK" if kind == "ASSET" else "CREDIT" if ledger.product.product.category in CARDS else kind
    slots = f"<act:slots>{_write_slot('placeholder', 'true')}</act:slots>" if is_placeholder else ""
    return (
        f'<gnc:account version="2.0.0"><act:name>{_fit(last)}</act:name><act:id type="guid">{guids[name]}</act:id>'
        f"<act:type>{kind}</act:type>{_write_commodity('act:commodity', currency)}"
        "<act:commodity-scu>100</act:commodity-scu>"
        + (f"<act:description>{_fit(description)}</act:description>" if description else "")
        + f'{slots}<act:parent type="guid">{guids[parent]}</act:parent></gnc:account>\n'
    )
