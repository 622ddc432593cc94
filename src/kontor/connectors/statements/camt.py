"""ISO 20022 account reports (camt.052), statements (camt.053) and notifications (camt.054), in any version."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal

from kontor.connectors.statements.camt_entries import EntryReader, parse_amount
from kontor.connectors.statements.results import (
    LIMITS,
    AccountIdentification,
    Balance,
    Limits,
    Statement,
    StatementError,
    StatementIssue,
    StatementKind,
    check_balances,
)
from kontor.connectors.statements.values import clean_bic, clean_iban, parse_iso_day
from kontor.connectors.statements.xml_trees import Tree, find_deep_text, find_text, find_tree, list_trees, read_elements
from kontor.domain.transactions import Transaction

KINDS = {"Rpt": StatementKind.CAMT_052, "Stmt": StatementKind.CAMT_053, "Ntfctn": StatementKind.CAMT_054}
OPENING_CODES = ("OPBD", "PRCD")
CLOSING_CODES = ("CLBD", "ITBD")


def read_camt(data: bytes, limits: Limits = LIMITS) -> tuple[Statement, ...]:
    """All statements of a document."""
    statements: list[Statement] = []
    reader, entries, issues, count = EntryReader(), list[Transaction](), list[StatementIssue](), 0
    for name, tree in read_elements(data, ("Ntry", "Acct", *KINDS), limits):
        if name == "Ntry":
            count += 1
            rows, found = reader.read(tree)
            entries += rows
            issues += found
            if max(count, len(entries)) > limits.entries:
                raise StatementError(f"There are more than {limits.entries} bookings.")
        elif name == "Acct":
            # The account comes before its entries, which need to know whose side is whose.
            reader.account = reader.account or _parse_account(tree)
        else:
            account = reader.account or AccountIdentification()
            statements.append(_make_statement(KINDS[name], account, tree, tuple(entries), issues))
            reader, entries, issues = EntryReader(), [], []
            if len(statements) > limits.statements:
                raise StatementError(f"There are more than {limits.statements} statements.")
    if not statements:
        raise StatementError("This is no camt.052, camt.053 or camt.054: there are no statements in it.")
    return tuple(statements)


def _make_statement(
    kind: StatementKind,
    account: AccountIdentification,
    tree: Tree,
    entries: tuple[Transaction, ...],
    issues: list[StatementIssue],
) -> Statement:
    opening = _find_balance(tree, OPENING_CODES, account.currency)
    closing = _find_balance(tree, CLOSING_CODES, account.currency)
    currency = account.currency or (closing or opening or Balance(Decimal(0), "", None)).currency or None
    rows = _drop_repeated_ids(entries)
    return Statement(
        kind,
        replace(account, currency=currency),
        rows,
        opening,
        closing,
        find_text(tree, "ElctrncSeqNb") or find_text(tree, "LglSeqNb") or find_text(tree, "Id"),
        kind is StatementKind.CAMT_052,
        (*issues, *check_balances(opening, closing, rows)),
    )


def _drop_repeated_ids(entries: tuple[Transaction, ...]) -> tuple[Transaction, ...]:
    """A reference that several bookings share is the name of none of them."""
    counts = Counter(one.bank_id for one in entries if one.bank_id is not None)
    if len(counts) == counts.total():
        return entries
    return tuple(
        replace(one, bank_id=None) if one.bank_id is not None and counts[one.bank_id] > 1 else one for one in entries
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


def _find_balance(tree: Tree, codes: tuple[str, ...], currency: str | None) -> Balance | None:
    """The first balance of the first code there is; that of the account's currency goes before others."""
    found: list[tuple[int, int, Balance]] = []
    for one in list_trees(tree, "Bal"):
        code = find_deep_text(one, "Tp", "CdOrPrtry", "Cd")
        if code in codes:
            balance = _parse_balance(one)
            found.append((0 if currency in (None, balance.currency) else 1, codes.index(code), balance))
    return min(found, key=lambda one: one[:2])[2] if found else None


def _parse_balance(tree: Tree) -> Balance:
    amount, currency = parse_amount(tree)
    text = find_deep_text(tree, "Dt", "Dt") or find_deep_text(tree, "Dt", "DtTm")
    try:
        day = None if text is None else parse_iso_day(text)
    except ValueError as error:
        raise StatementError(f"The balance has a wrong date: {error}.", field="Bal/Dt") from error
    return Balance(amount, currency, day)
