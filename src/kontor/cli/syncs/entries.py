"""What a ledger is to have: accounts and entries, and what every ledger can do."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from decimal import Decimal
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Account:
    """An account of the user. Products with the same IBAN and currency, of several accesses, are one account."""

    key: str
    name: str
    currency: str
    products: tuple[str, ...]
    balance: Decimal | None = None
    iban: str | None = None
    is_savings: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A booking. `category` is the ledger's name of it; an opening makes the balance agree with the bank's."""

    id: str
    account: str
    day: date
    amount: Decimal
    payee: str
    category: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    is_pending: bool = False
    is_opening: bool = False

    def find_changes(self, other: "Entry") -> frozenset[str]:
        """Names of the fields that are not the same in the other one."""
        return frozenset(each.name for each in fields(self) if getattr(self, each.name) != getattr(other, each.name))

    def store(self) -> dict[str, Any]:
        return asdict(self) | {"day": self.day.isoformat(), "amount": str(self.amount)}


def restore(stored: Mapping[str, Any]) -> Entry:
    """What `store` has made; fields of earlier versions that are gone are ignored."""
    known = {each.name: stored[each.name] for each in fields(Entry) if each.name in stored}
    known |= {"day": date.fromisoformat(stored["day"]), "amount": Decimal(stored["amount"])}
    return Entry(**known | {"tags": tuple(stored.get("tags", ()))})


@dataclass(frozen=True, slots=True)
class Found:
    """An entry that the ledger has. `entry` as far as the ledger tells; what is only known there is left as it is."""

    ledger_id: str
    entry: Entry


# What only the bank knows. The rest may have been edited in the ledger.
OF_THE_BANK = frozenset({"account", "day", "amount", "is_pending"})


def merge_found(found: Entry, target: Entry) -> Entry:
    """What is to be there where an entry was found in the ledger: the bank's facts, a category where it has none."""
    kept = replace(found, **{name: getattr(target, name) for name in OF_THE_BANK})
    return kept if kept.category else replace(kept, category=target.category)


class Ledger(Protocol):
    """A program's side. Every method may raise `LedgerError`."""

    @property
    def name(self) -> str: ...

    @property
    def holds_pending(self) -> bool:
        """Whether entries that are not booked can be told apart there."""
        ...

    @property
    def currencies(self) -> frozenset[str] | None:
        """Of accounts that it can hold; None: any."""
        ...

    def find_accounts(self, accounts: Sequence[Account], known: Mapping[str, str]) -> dict[str, str]:
        """Ids of the accounts that are there, by key: by the id known before, or by their names."""
        ...

    def create_account(self, account: Account) -> str: ...

    def find(self, entries: Sequence[Entry], known: Mapping[str, str], accounts: Mapping[str, str]) -> dict[str, Found]:
        """Which of the entries are there, by Kontor's id. `known` has the ledger's ids that were stored before.

        `accounts` has the ledger's ids of accounts by key, here and below.
        """
        ...

    def add(self, entries: Sequence[Entry], accounts: Mapping[str, str]) -> dict[str, str]:
        """Returns the ledger's ids. Adding the same again adds nothing."""
        ...

    def change(self, ledger_id: str, entry: Entry, names: Collection[str], accounts: Mapping[str, str]) -> None: ...

    def remove(self, ledger_id: str, entry: Entry, accounts: Mapping[str, str]) -> None: ...

    def save(self) -> None:
        """Called after each batch: from then on it is the server's."""
        ...

    def read_balance(self, account_id: str) -> Decimal: ...

    def close(self) -> None: ...


class LedgerError(Exception):
    """Why a ledger cannot be brought up to date, for the person at the keyboard."""
