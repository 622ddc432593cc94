"""Which bookings have the same partner. Everyday purchases and cash are left out before any closer look."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date

from kontor.analysis.contracts.numbers import Numbers, read_numbers
from kontor.analysis.contracts.payments import Method, Payment, find_method, sort_key
from kontor.analysis.contracts.texts import (
    is_by_wallet,
    read_creditor,
    read_merchant,
    read_purpose,
    read_signature,
    simplify_name,
    squeeze_text,
)
from kontor.analysis.records import NO_PARTNER, Account, Record
from kontor.domain.products import ProductCategory

NEVER = frozenset(
    {
        "BANKFINANCE_ATMDEPOSIT",
        "BANKFINANCE_ATMWITHDRAWAL",
        "BANKFINANCE_CASHDEPOSIT",
        "BANKFINANCE_CASHWITHDRAWAL",
        "BANKFINANCE_TRANSFER",
    }
)
# What people buy again and again without an agreement. It needs more than a rhythm to be a contract.
EVERYDAY = frozenset(
    {
        "LIVING_GROCERIES",
        "LIVING_DRUGSTORE",
        "LIVING_CONSUMABLES",
        "LIVING_OTHER",
        "HEALTH_CONSUMABLES",
        "MOBILITY_FUEL",
        "MOBILITY_TAXI",
        "RECREATION_ENTERTAINMENTFOOD",
        "SHOPPING_CLOTHINGACCESSORIES",
        "SHOPPING_BEAUTY",
        "SHOPPING_ELECTRONICS",
        "SHOPPING_OTHER",
        "TRAVEL_ACCOMMODATION",
        "TRAVEL_TRANSPORT",
        "TRAVEL_ACTIVITIES",
        "TRAVEL_OTHER",
    }
)
# Bookings on these mirror what is paid elsewhere, or are the product's own.
_PASSIVE = frozenset({ProductCategory.LOAN, ProductCategory.DEPOT})
_SAVING = frozenset(
    {
        ProductCategory.SAVINGS,
        ProductCategory.CALL_MONEY,
        ProductCategory.FIXED_TERM,
        ProductCategory.HOME_SAVINGS,
        ProductCategory.DEPOT,
        ProductCategory.OTHER_ACCOUNT,
    }
)
# Receipts and payment services number every purchase anew.
MIN_CARD_BOOKINGS = 3
_TELLING_LENGTH = 7
_NUMBERLESS = (Method.CARD, Method.WALLET)
_BINDING = (Method.DEBIT, Method.STANDING)


def select_records(records: Iterable[Record], accounts: Sequence[Account], today: date) -> list[tuple[Record, Method]]:
    """Booked, not zero, not in the future, and possibly part of a contract."""
    passive = {account.id for account in accounts if account.category in _PASSIVE}
    cards = {account.id for account in accounts if account.category.is_card}
    savings = {account.iban.replace(" ", "") for account in accounts if account.category in _SAVING and account.iban}
    selected = []
    for record in records:
        category = record.category
        if record.is_pending or record.day > today or category in NEVER or record.account in passive:
            continue
        if not record.amount or not record.amount.is_finite():
            continue
        if category.startswith("TRANSFER") and not (
            record.amount < 0 and record.counterparty_iban and record.counterparty_iban in savings
        ):
            continue
        method = Method.CARD if record.account in cards else find_method(record)
        if category in EVERYDAY and method not in _BINDING and record.amount < 0:
            continue
        selected.append((record, method))
    return _drop_chance_purchases(selected)


def _drop_chance_purchases(selected: list[tuple[Record, Method]]) -> list[tuple[Record, Method]]:
    """Without card payments whose amount never comes again at that shop: only the same price is a subscription."""
    prices = Counter((_name_shop(record), record.amount) for record, method in selected if method is Method.CARD)
    return [
        (record, method)
        for record, method in selected
        if method is not Method.CARD or prices[_name_shop(record), record.amount] >= MIN_CARD_BOOKINGS
    ]


def _name_shop(record: Record) -> str:
    return record.counterparty_name or record.purpose[:10] if record.partner == NO_PARTNER else record.partner


class _Links:
    """Names, IBANs and creditor ids that belong together (disjoint sets)."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._parents

    def find(self, key: str) -> str:
        parents = self._parents
        root = key
        while (parent := parents.setdefault(root, root)) != root:
            root = parent
        while parents[key] != root:
            parents[key], key = root, parents[key]
        return root

    def join(self, keys: Sequence[str]) -> str:
        first = self.find(keys[0])
        for key in keys[1:]:
            other = self.find(key)
            # The smaller name leads, so that the order of bookings does not matter.
            first, other = min(first, other), max(first, other)
            self._parents[other] = first
        return first


def _name_nameless(record: Record) -> str:
    """Mostly the bank's own bookings: one partner for each account and kind."""
    return f"A:{record.account}:{record.main_category}"


def _name_keys(record: Record, squeezed: str) -> list[str]:
    """All that identifies the partner of a booking without a known one, the best first."""
    name = simplify_name(record.counterparty_name)
    if is_by_wallet(record.counterparty_name, squeezed):
        return [f"M:{read_merchant(squeezed) or name}"]
    keys = []
    if creditor := read_creditor(squeezed):
        keys.append(f"C:{creditor}")
    if record.counterparty_iban:
        keys.append(f"I:{record.counterparty_iban}")
    if name:
        keys.append(f"N:{name}")
    return keys or [_name_nameless(record)]


def _link_known(record: Record, squeezed: str, links: _Links) -> str:
    """The key of a booking with a known partner, linked to bookings of the same name where it was not recognised."""
    key = f"P:{record.partner}"
    name = simplify_name(record.counterparty_name)
    if is_by_wallet(record.counterparty_name, squeezed):
        others = [f"M:{read_merchant(squeezed) or name}"]
    elif name or record.counterparty_iban:
        others = [f"I:{record.counterparty_iban}", f"N:{name}"]
    else:
        others = [_name_nameless(record)]
    for other in others:
        if other in links:
            links.join([key, other])
    return key


def _prepare(record: Record, method: Method, squeezed: str) -> Payment:
    purpose = read_purpose(squeezed)
    day = record.day
    if method is Method.DEBIT and is_by_wallet(record.counterparty_name, squeezed):
        method = Method.WALLET
    return Payment(
        record=record,
        day=day.toordinal(),
        month=day.year * 12 + day.month - 1 + (day.day - 1) / 30.5,
        cents=int(record.amount.scaleb(2)),
        method=method,
        purpose=purpose,
        signature=read_signature(purpose),
        squeezed=squeezed,
        numbers=Numbers() if method in _NUMBERLESS else read_numbers(purpose, day.year),
    )


def _name_all(selected: list[tuple[Record, Method]]) -> list[tuple[str, Record, Method, str]]:
    """Each booking with the name of its partner's group."""
    links = _Links()
    named = []
    known = []
    for record, method in selected:
        squeezed = squeeze_text(record.purpose)
        if record.partner not in (NO_PARTNER, ""):
            known.append((record, method, squeezed))
            continue
        keys = _name_keys(record, squeezed)
        links.join(keys)
        named.append((keys[0], record, method, squeezed))
    for record, method, squeezed in known:
        key = _link_known(record, squeezed, links) if named else f"P:{record.partner}"
        named.append((key, record, method, squeezed))
    return [(links.find(key), record, method, squeezed) for key, record, method, squeezed in named]


def _join_by_numbers(groups: dict[str, list[Payment]]) -> dict[str, list[Payment]]:
    """One policy is one partner's, whatever the partner is called and wherever its account is."""
    links = _Links()
    for key, group in groups.items():
        for number in {number for payment in group for number in payment.numbers.contract}:
            if len(number) >= _TELLING_LENGTH:
                links.join([key, f"#:{number}"])
    joined: dict[str, list[Payment]] = {}
    for key, group in groups.items():
        joined.setdefault(links.find(key), []).extend(group)
    return joined


def group_payments(records: Iterable[Record], accounts: Sequence[Account], today: date) -> list[list[Payment]]:
    """Payments by partner and currency, each group in order of days."""
    rough: dict[str, dict[str, list[Payment]]] = {}
    for key, record, method, squeezed in _name_all(select_records(records, accounts, today)):
        rough.setdefault(record.currency, {}).setdefault(key, []).append(_prepare(record, method, squeezed))
    groups = []
    for _, of_currency in sorted(rough.items()):
        groups += [group for _, group in sorted(_join_by_numbers(of_currency).items())]
    for group in groups:
        group.sort(key=sort_key)
    return groups
