"""One run: read Kontor, compare with what the ledger was given, and give it the difference.

Nothing in here depends on how far an earlier run came: what a killed run has added is found by its id.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TypeVar

from kontor.cli.syncs.entries import Account, Entry, Ledger, LedgerError, merge_found
from kontor.cli.syncs.mappings import ACCOUNTS, CATEGORIES, OPENING, Names, name_accounts, name_categories
from kontor.cli.syncs.mirror import Mirror, Row, Written
from kontor.cli.syncs.reading import read_kontor
from kontor_client import Kontor

STATE = "state.sqlite"
BATCH = 500
# More removals than these in one run look like another user's data, and want to be confirmed.
MANY_REMOVALS, REMOVED_SHARE = 20, 0.5
MAX_TEXT = 60
T = TypeVar("T")


@dataclass
class Report:
    """What a run has done, or would do."""

    is_dry: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def note(self, kind: str, entry: Entry, names: Iterable[str] = ()) -> None:
        self.counts[kind] += 1
        fields = f" ({', '.join(sorted(names))})" if names else ""
        self.lines.append(f"{kind}: {entry.day} {entry.amount:.2f} {entry.payee}{fields}")


def run_sync(
    kontor: Kontor,
    open_ledger: Callable[[], Ledger],
    folder: Path,
    *,
    is_dry: bool = False,
    may_remove_many: bool = False,
) -> Report:
    mirror = Mirror(folder / STATE, is_dry=is_dry)
    try:
        read = read_kontor(kontor, mirror)
        categories = Names(folder / CATEGORIES, is_dry=is_dry)
        categories.add(name_categories(kontor.list_tag_tree_items("CATEGORIES")))
        names = Names(folder / ACCOUNTS, is_dry=is_dry)
        names.add(name_accounts(read))
        ledger = open_ledger()
        try:
            report = Report(is_dry)
            run = _Run(mirror, ledger, report, categories.names)
            run.bring_up_to_date([replace(each, name=names.names[each.key]) for each in read], may_remove_many)
        finally:
            ledger.close()
        return report
    finally:
        mirror.close()


class _Run:
    def __init__(self, mirror: Mirror, ledger: Ledger, report: Report, categories: dict[str, str]) -> None:
        self.mirror = mirror
        self.ledger = ledger
        self.report = report
        self.categories = categories
        self.accounts: dict[str, str] = {}  # the ledger's ids, by key

    def bring_up_to_date(self, read: Sequence[Account], may_remove_many: bool) -> None:
        accounts = self._open_accounts(self._choose_accounts(read))
        targets = {entry.id: entry for entry in self._make_entries(accounts)}
        written = self.mirror.list_written()
        gone = {id: each for id, each in written.items() if id not in targets}
        if len(gone) > max(MANY_REMOVALS, REMOVED_SHARE * len(written)) and not may_remove_many:
            raise LedgerError(
                f"{len(gone)} of {len(written)} entries would be removed. If this is the right user of Kontor, and"
                " the accounts were left out or deleted on purpose, repeat with --allow-removals."
            )
        new = [entry for id, entry in targets.items() if id not in written]
        stale = [entry for id, entry in targets.items() if id in written and written[id].entry != entry]
        for batch in _split(new):
            self._add(batch)
        for batch in _split(stale):
            self._change(batch, written)
        for gone_batch in _split(list(gone.values())):
            self._remove(gone_batch)
        self._compare_balances(accounts)

    def _choose_accounts(self, read: Sequence[Account]) -> Iterator[Account]:
        for account in read:
            if not account.name:
                continue
            if self.ledger.currencies is not None and account.currency not in self.ledger.currencies:
                self.report.remarks.append(f"{account.name} is left out: its currency is {account.currency}.")
            else:
                yield account

    def _open_accounts(self, chosen: Iterable[Account]) -> list[Account]:
        accounts = list(chosen)
        known = self.mirror.list_accounts()
        self.accounts = self.ledger.find_accounts(accounts, known)
        opened = []
        for account in accounts:
            if account.key in known and account.key not in self.accounts:
                self.report.remarks.append(
                    f"{account.name} was deleted in {self.ledger.name}. To leave it out, give it the name"
                    f' "" in {ACCOUNTS}; to have it again, remove {STATE}.'
                )
                continue
            if account.key not in self.accounts:
                self.report.counts["new account"] += 1
                self.report.lines.append(f"new account: {account.name}")
                self.accounts[account.key] = "" if self.report.is_dry else self.ledger.create_account(account)
            if self.accounts[account.key]:
                self.mirror.keep_account(account.key, self.accounts[account.key])
            opened.append(account)
        return opened

    # What is to be there

    def _make_entries(self, accounts: Sequence[Account]) -> Iterator[Entry]:
        by_product = {product: account for account in accounts for product in account.products}
        rows: dict[str, list[Row]] = {account.key: [] for account in accounts}
        others: Counter[str] = Counter()
        for row in self.mirror.list_rows():
            account = by_product.get(row.product)
            if account is None:
                continue
            if row.currency == account.currency:
                rows[account.key].append(row)
            else:
                others[f"{account.name} in {row.currency}"] += 1
        for name, count in others.items():
            self.report.remarks.append(f"{count} bookings of {name} are left out: the account has another currency.")
        for account in accounts:
            found = sorted(rows[account.key], key=lambda row: row.day)
            yield from self._make_opening(account, [row for row in found if not row.is_pending])
            for row in found:
                if Decimal(row.amount) and (not row.is_pending or self.ledger.holds_pending):
                    yield self._make_entry(row, account)

    def _make_opening(self, account: Account, booked: Sequence[Row]) -> Iterator[Entry]:
        """What was there before the first booking, so that the sum is the bank's balance."""
        if account.balance is None:
            return
        amount = account.balance - sum((Decimal(row.amount) for row in booked), Decimal(0))
        if amount:
            day = date.fromisoformat(booked[0].day) if booked else date.today()  # noqa: DTZ011 the user's own day
            known = self.mirror.list_written().get(f"opening-{account.key}")
            if known is not None and not booked:
                day = known.entry.day
            yield Entry(
                f"opening-{account.key}",
                account.key,
                day,
                amount,
                "Starting Balance",
                self.categories.get(OPENING, ""),
                is_opening=True,
            )

    def _make_entry(self, row: Row, account: Account) -> Entry:
        return Entry(
            row.id,
            account.key,
            date.fromisoformat(row.day),
            Decimal(row.amount),
            row.partner or row.counterparty or row.purpose[:MAX_TEXT] or "-",
            self.categories.get(row.category, ""),
            " | ".join(" ".join(text.split()) for text in (row.note, row.purpose) if text.strip()),
            row.keywords,
            row.is_pending,
        )

    # What is done

    def _add(self, batch: Sequence[Entry]) -> None:
        found = self.ledger.find(batch, {}, self.accounts)
        adopted = [entry for entry in batch if entry.id in found]
        missing = [entry for entry in batch if entry.id not in found]
        for entry in missing:
            self.report.note("new", entry)
        if not self.report.is_dry:
            ids = self.ledger.add(missing, self.accounts)
            self.ledger.save()
            self.mirror.keep_written(missing, ids)
        self._write_changes(
            [(found[e.id].ledger_id, found[e.id].entry, merge_found(found[e.id].entry, e), e) for e in adopted]
        )

    def _change(self, batch: Sequence[Entry], written: dict[str, Written]) -> None:
        found = self.ledger.find(batch, {e.id: written[e.id].ledger_id for e in batch}, self.accounts)
        for entry in batch:
            if entry.id not in found:
                self.report.remarks.append(f"Removed in {self.ledger.name}, and left so: {entry.day} {entry.payee}.")
        self.mirror.keep_written(
            [entry for entry in batch if entry.id not in found], {e.id: written[e.id].ledger_id for e in batch}
        )
        self._write_changes([(found[e.id].ledger_id, written[e.id].entry, e, e) for e in batch if e.id in found])

    def _write_changes(self, changes: Sequence[tuple[str, Entry, Entry, Entry]]) -> None:
        """(the ledger's id, what is known to be there, what is to be there, what is to be remembered)."""
        for ledger_id, before, after, _ in changes:
            names = after.find_changes(before)
            if names:
                self.report.note("changed", after, names)
                if not self.report.is_dry:
                    self.ledger.change(ledger_id, after, names, self.accounts)
        if not self.report.is_dry and changes:
            self.ledger.save()
            self.mirror.keep_written([kept for *_, kept in changes], {kept.id: id for id, _, _, kept in changes})

    def _remove(self, batch: Sequence[Written]) -> None:
        entries = [each.entry for each in batch]
        found = self.ledger.find(entries, {each.entry.id: each.ledger_id for each in batch}, self.accounts)
        for entry in entries:
            if entry.id in found:
                self.report.note("removed", entry)
                if not self.report.is_dry:
                    self.ledger.remove(found[entry.id].ledger_id, entry, self.accounts)
        if not self.report.is_dry:
            self.ledger.save()
            self.mirror.drop_written([entry.id for entry in entries])

    def _compare_balances(self, accounts: Sequence[Account]) -> None:
        for account in accounts:
            if self.report.is_dry or account.balance is None:
                continue
            balance = self.ledger.read_balance(self.accounts[account.key])
            if balance != account.balance:
                self.report.remarks.append(
                    f"{account.name} has {balance:.2f} in {self.ledger.name}, and {account.balance:.2f} at the bank:"
                    " entries were changed, added or removed there."
                )


def _split(items: Sequence[T]) -> Iterator[list[T]]:
    left = iter(items)
    while batch := list(islice(left, BATCH)):
        yield batch
