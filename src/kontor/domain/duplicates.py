"""One account in several accesses: which products are the same account, and which of their bookings are the same.

A customer may add a bank twice, or import files of an account that an access fetches as well. The account then has
several products. A booking that several of them report counts once; a booking that only one of them reports counts too.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from kontor.domain.clocks import BERLIN
from kontor.domain.merging import pair_transactions
from kontor.domain.products import Product
from kontor.domain.tags import fold_iban
from kontor.domain.transactions import Transaction

DEFAULT_CURRENCY = "EUR"


@dataclass(frozen=True, slots=True)
class Source:
    """A product, and the access that reports it. `iban` may be derived from bank code and account number."""

    id: str
    access_id: str
    provider_id: str
    updated_at: datetime
    product: Product
    iban: str


def name_account(source: Source) -> Hashable | None:
    """What identifies the account. None where nothing does.

    Cards often carry the IBAN of the account that pays for them, so they go by provider and number. So does every
    other product without an IBAN.
    """
    product = source.product
    kind = "card" if product.category.is_card else "depot" if product.category.is_depot else "account"
    currency = product.currency or DEFAULT_CURRENCY
    if source.iban and kind != "card":
        return kind, fold_iban(source.iban), currency
    number = "".join((product.account_number or "").split())
    if not any(character.isdigit() for character in number):
        return None
    return kind, source.provider_id, number, currency


def group_sources(sources: Iterable[Source]) -> list[tuple[Source, ...]]:
    """Accounts that several accesses report: their products, the freshest first.

    A bank that lists two products in one access says that they are two. Where they share a key (sub-accounts, cards
    with the same masked number), the key does not identify the account, and nothing is grouped by it.
    """
    by_key: dict[Hashable, list[Source]] = {}
    for source in sources:
        key = name_account(source)
        if key is not None:
            by_key.setdefault(key, []).append(source)
    return [
        tuple(sorted(group, key=lambda source: (source.updated_at, source.id), reverse=True))
        for group in by_key.values()
        if len(group) > 1 and len({source.access_id for source in group}) == len(group)
    ]


def pick_balance(sources: Sequence[Source]) -> Source:
    """Whose balance is the account's: that of the latest day, then that of the freshest access.

    A file that was imported just now can end with a balance of last year.
    """
    return max(
        sources, key=lambda source: (source.product.balance is not None, _find_balance_day(source), source.updated_at)
    )


def _find_balance_day(source: Source) -> date:
    return (source.product.balance_at or source.updated_at).astimezone(BERLIN).date()


def find_repeated(ledgers: Sequence[Mapping[str, Transaction]]) -> dict[str, str]:
    """Rows that repeat another row, by the id of the row that counts in their place.

    `ledgers` are the rows of one account by id, in the bank's order, the freshest ledger first. Of the rows that are
    one booking the freshest counts, except that a booked row counts before a pending one: booked is final.
    """
    booking_of: dict[str, str] = {}  # a row's booking goes by its freshest row
    for number, ledger in enumerate(ledgers):
        rest = dict(ledger)
        found: set[str] = set()
        for fresher in ledgers[:number]:
            others = {key: row for key, row in fresher.items() if booking_of[key] not in found}
            for key, other in _pair_both_ways(rest, others).items():
                booking_of[key] = booking_of[other]
                found.add(booking_of[other])
                del rest[key]
        booking_of |= {key: key for key in rest}
    return _choose_rows(booking_of, {key: row for ledger in ledgers for key, row in ledger.items()})


def _choose_rows(booking_of: Mapping[str, str], rows: Mapping[str, Transaction]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for key, booking in booking_of.items():  # the freshest first
        if booking not in chosen or (rows[chosen[booking]].is_pending and not rows[key].is_pending):
            chosen[booking] = key
    return {key: chosen[booking] for key, booking in booking_of.items() if chosen[booking] != key}


def _pair_both_ways(stale: Mapping[str, Transaction], fresh: Mapping[str, Transaction]) -> dict[str, str]:
    """As `_pair`; the stale ledger may also have the final booking of a row that is pending in the fresh one."""
    pairs = _pair(stale, fresh)
    taken = set(pairs.values())
    pending = {key: row for key, row in fresh.items() if row.is_pending and key not in taken}
    booked = {key: row for key, row in stale.items() if not row.is_pending and key not in pairs}
    return pairs | {key: other for other, key in _pair(pending, booked).items()}


def _pair(older: Mapping[str, Transaction], newer: Mapping[str, Transaction]) -> dict[str, str]:
    """Ids of rows of `older` and of the rows of `newer` that are the same bookings."""
    if not older or not newer:
        return {}
    left, right = list(older.values()), list(newer.values())
    # Two channels of a bank number bookings independently. Numbers are compared only where both use the same ones.
    if not _list_numbers(left) & _list_numbers(right):
        left, right = _forget_numbers(left), _forget_numbers(right)
    left_keys, right_keys = list(older), list(newer)
    pairs = pair_transactions(left, right)
    return {left_keys[left_index]: right_keys[right_index] for right_index, left_index in pairs.items()}


def _list_numbers(rows: Iterable[Transaction]) -> set[str]:
    return {row.bank_id for row in rows if row.bank_id is not None}


def _forget_numbers(rows: Iterable[Transaction]) -> list[Transaction]:
    return [row if row.bank_id is None else replace(row, bank_id=None) for row in rows]
