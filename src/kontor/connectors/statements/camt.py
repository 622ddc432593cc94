"""ISO 20022 account reports (camt.052), statements (camt.053) and notifications (camt.054), in any version."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from kontor.connectors.statements.camt_entries import EntryReader, parse_amount
from kontor.connectors.statements.results import (
    LIMITS,
    AccountIdentification,
    Balance,
    Limits,
    RejectedRow,
    Statement,
    StatementError,
    StatementIssue,
    StatementKind,
    TooManyEntriesError,
    check_amounts,
    check_balances,
    check_rejected,
    refuse_unreadable,
)
from kontor.connectors.statements.values import clean_bic, clean_iban, parse_iso_day
from kontor.connectors.statements.xml_trees import (
    ElementLines,
    Tree,
    find_deep_text,
    find_text,
    find_tree,
    list_trees,
    read_elements,
)
from kontor.domain.transactions import Transaction

KINDS = {"Rpt": StatementKind.CAMT_052, "Stmt": StatementKind.CAMT_053, "Ntfctn": StatementKind.CAMT_054}
MESSAGES = ("BkToCstmrAcctRpt", "BkToCstmrStmt", "BkToCstmrDbtCdtNtfctn")
HEAD_BYTES = 2000
_NAMESPACE = re.compile(rb"<(?:\w+:)?Document\s[^>]*xmlns(?::\w+)?=[\"'][^\"']*camt\.05[234]")
OPENING_CODES = ("OPBD", "PRCD")
CLOSING_CODES = ("CLBD", "ITBD")


def read_camt(data: bytes, limits: Limits = LIMITS) -> tuple[Statement, ...]:
    """All statements of a document. Entries that cannot be read are told by their statement.

    A document without any statement is one of an account without bookings: banks send such pages.
    """
    statements = tuple(_Reader(data, limits).read())
    refuse_unreadable(statements)
    return statements


def read_camt_pages(pages: Iterable[bytes], limits: Limits = LIMITS) -> tuple[Statement, ...]:
    """All statements of documents that are one answer of a bank. Empty ones among them say nothing."""
    statements = tuple(statement for page in pages if page.strip() for statement in _Reader(page, limits).read())
    refuse_unreadable(statements)
    return statements


class _Reader:
    """Takes element after element. Each statement ends with its own element, after its entries."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._data = data
        self._limits = limits
        self._count = 0
        self._rejected_count = 0
        self._lines: ElementLines | None = None
        self._begin()

    def _begin(self) -> None:
        self._entry_reader = EntryReader()
        self._entries: list[Transaction] = []
        self._issues: list[StatementIssue] = []
        self._rejected: list[RejectedRow] = []

    def read(self) -> list[Statement]:
        statements: list[Statement] = []
        limits, is_camt = self._limits, False
        for name, tree in read_elements(self._data, ("Ntry", "Acct", *KINDS, *MESSAGES), limits):
            if name == "Ntry":
                self._take_entry(tree)
            elif name == "Acct":
                # The account comes before its entries, which need to know whose side is whose.
                self._entry_reader.account = self._entry_reader.account or _parse_account(tree)
            elif name in MESSAGES:
                is_camt = True
            else:
                statements.append(self._make_statement(KINDS[name], tree))
                self._begin()
                if len(statements) > limits.statements:
                    raise StatementError(f"There are more than {limits.statements} statements.")
        if not statements and not is_camt and not _NAMESPACE.search(self._data[:HEAD_BYTES]):
            raise StatementError("This is no camt.052, camt.053 or camt.054: there are no statements in it.")
        return statements

    def _take_entry(self, tree: Tree) -> None:
        self._count += 1
        try:
            rows, issues = self._entry_reader.read(tree)
        except StatementError as error:
            # Documents often have one line only, so the entry is counted too.
            self._lines = self._lines or ElementLines(self._data, "Ntry")
            self._reject(self._lines.find(self._count), f"Entry {self._count}: {error}", error.field)
            return
        self._entries += rows
        self._issues += issues
        if max(self._count, len(self._entries)) > self._limits.entries:
            raise TooManyEntriesError(f"There are more than {self._limits.entries} bookings.")

    def _reject(self, line: int | None, reason: str, field: str | None) -> None:
        self._rejected_count += 1
        check_rejected(self._rejected_count, self._limits)
        self._rejected.append(RejectedRow(line, reason, field))

    def _make_statement(self, kind: StatementKind, tree: Tree) -> Statement:
        account = self._entry_reader.account or AccountIdentification()
        opening = self._find_balance(tree, OPENING_CODES, account.currency)
        closing = self._find_balance(tree, CLOSING_CODES, account.currency)
        currency = account.currency or (closing or opening or Balance(Decimal(0), "", None)).currency or None
        rows = _drop_repeated_ids(_drop_repetitions(tuple(self._entries), opening, closing))
        return Statement(
            kind,
            replace(account, currency=currency),
            rows,
            opening,
            closing,
            find_text(tree, "ElctrncSeqNb") or find_text(tree, "LglSeqNb") or find_text(tree, "Id"),
            kind is StatementKind.CAMT_052,
            (*self._issues, *check_balances(opening, closing, rows), *check_amounts(rows)),
            tuple(self._rejected),
        )

    def _find_balance(self, tree: Tree, codes: tuple[str, ...], currency: str | None) -> Balance | None:
        """The first balance of the first code there is; that of the account's currency goes before others."""
        candidates: list[tuple[int, int, Balance]] = []
        for balance_tree in list_trees(tree, "Bal"):
            code = find_deep_text(balance_tree, "Tp", "CdOrPrtry", "Cd")
            if code not in codes:
                continue
            try:
                balance = _parse_balance(balance_tree, self._entry_reader.account)
            except StatementError as error:
                self._reject(None, f"Balance {code}: {error}", error.field)
                continue
            candidates.append((0 if currency in (None, balance.currency) else 1, codes.index(code), balance))
        return min(candidates, key=lambda candidate: candidate[:2])[2] if candidates else None


def _drop_repetitions(
    entries: tuple[Transaction, ...], opening: Balance | None, closing: Balance | None
) -> tuple[Transaction, ...]:
    """Without entries that repeat another one, reference included, where the balances prove that they were sent twice.

    Two equal purchases on one day are two entries: without that proof all stay.
    """
    if opening is None or closing is None or opening.currency != closing.currency:
        return entries
    once = _list_once(entries)
    booked = closing.amount - opening.amount
    is_proven = _sum_booked(entries, opening.currency) != booked == _sum_booked(once, opening.currency)
    return once if is_proven else entries


def _list_once(entries: tuple[Transaction, ...]) -> tuple[Transaction, ...]:
    """Each entry that has a reference once, in the order in which they came."""
    seen: set[Transaction] = set()
    once = []
    for entry in entries:
        if entry in seen:
            continue
        if entry.bank_id is not None and not entry.is_pending:
            seen.add(entry)
        once.append(entry)
    return tuple(once)


def _sum_booked(entries: Iterable[Transaction], currency: str) -> Decimal:
    return sum((entry.amount for entry in entries if not entry.is_pending and entry.currency == currency), Decimal(0))


def _drop_repeated_ids(entries: tuple[Transaction, ...]) -> tuple[Transaction, ...]:
    """A reference that several bookings share is the name of none of them."""
    counts = Counter(entry.bank_id for entry in entries if entry.bank_id is not None)
    if len(counts) == counts.total():
        return entries
    return tuple(
        replace(entry, bank_id=None) if entry.bank_id is not None and counts[entry.bank_id] > 1 else entry
        for entry in entries
    )


def _parse_account(tree: Tree) -> AccountIdentification:
    other = find_deep_text(tree, "Id", "Othr", "Id")
    iban = clean_iban(find_deep_text(tree, "Id", "IBAN")) or clean_iban(other)
    bank = find_tree(find_tree(tree, "Svcr"), "FinInstnId")
    code = find_deep_text(bank, "ClrSysMmbId", "MmbId") or find_deep_text(bank, "Othr", "Id")
    return AccountIdentification(
        iban=iban,
        account_number=None if iban else other,
        bank_code=code if code and code.isdigit() and len(code) == 8 else None,
        bic=clean_bic(find_text(bank, "BICFI") or find_text(bank, "BIC")),
        currency=find_text(tree, "Ccy"),
        holder=find_deep_text(tree, "Ownr", "Nm") or find_deep_text(tree, "Ownr", "Pty", "Nm"),
    )


def _parse_balance(tree: Tree, account: AccountIdentification | None) -> Balance:
    amount, currency = parse_amount(tree, account)
    text = find_deep_text(tree, "Dt", "Dt") or find_deep_text(tree, "Dt", "DtTm")
    try:
        day = None if text is None else parse_iso_day(text)
    except ValueError as error:
        raise StatementError(f"The balance has a wrong date: {error}.", field="Bal/Dt") from error
    return Balance(amount, currency, day)
