"""Bookings of camt documents: an entry is one booking, or a batch of several."""

import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from kontor.connectors.statements.booking_texts import find_booking_text
from kontor.connectors.statements.results import AccountIdentification, IssueKind, StatementError, StatementIssue
from kontor.connectors.statements.values import (
    clean_bic,
    clean_iban,
    find_midnight,
    is_tagged,
    join_lines,
    parse_iso_day,
)
from kontor.connectors.statements.xml_trees import Tree, find_text, find_tree
from kontor.domain.transactions import Transaction

USTRD_WIDTH = 140
PENDING = frozenset(("PDNG", "FUTR"))
NO_REFERENCE = frozenset(("NONREF", "NOTPROVIDED", "NOTAVAILABLE", "NONE"))
CHARGES = "Entgelte"
_AMOUNT = re.compile(r"[0-9]{0,20}(?:\.[0-9]{0,10})?")
_CURRENCY = re.compile(r"[A-Z]{3}")
# SWIFT key, GV code, prima nota: `NTRF+166+9310`; some banks send the GV code alone.
_GERMAN_CODE = re.compile(r"(?:[A-Z][A-Z0-9]{3}\+)?([0-9]{3})?(?:\+([A-Za-z0-9]{1,10}))?(?:\+.*)?")


def parse_amount(tree: Tree) -> tuple[Decimal, str]:
    """Signed amount and currency of an entry or a balance."""
    text, currency = find_text(tree, "Amt"), (tree.get("Amt@Ccy") or [""])[0]
    mark = find_text(tree, "CdtDbtInd")
    if text is None or not _AMOUNT.fullmatch(text) or text == ".":
        raise StatementError("The amount cannot be read.", field="Amt")
    if not _CURRENCY.fullmatch(currency):
        raise StatementError("The amount has no currency.", field="Amt")
    if mark not in ("CRDT", "DBIT"):
        raise StatementError("Credit or debit is not said.", field="CdtDbtInd")
    amount = Decimal(text)
    return (-amount if mark == "DBIT" else amount), currency


class _Head(NamedTuple):
    """What all bookings of an entry have in common."""

    amount: Decimal
    currency: str
    booked_at: datetime | None
    value_at: datetime | None
    is_pending: bool
    is_reversal: bool
    reference: str | None
    text: str | None


class EntryReader:
    """Reads entries of one account."""

    def __init__(self) -> None:
        self.account: AccountIdentification | None = None

    def read(self, tree: Tree) -> tuple[list[Transaction], list[StatementIssue]]:
        """The bookings of an entry. What is for information only (`INFO`) was never booked, and is left out."""
        status = find_text(tree, "Sts") or find_text(tree, "Sts", "Cd") or find_text(tree, "Sts", "Prtry") or "BOOK"
        if status == "INFO":
            return [], [StatementIssue(IssueKind.INFORMATION_LEFT_OUT, detail=find_text(tree, "AcctSvcrRef"))]
        head = self._read_head(tree, is_pending=status in PENDING)
        details = [
            one
            for group in tree.get("NtryDtls", ())
            if isinstance(group, dict)
            for one in group.get("TxDtls", ())
            if isinstance(one, dict)
        ]
        if len(details) > 1:
            return self._read_batch(tree, head, details)
        return [self._make(head, tree, details[0] if details else {}, head.amount, head.reference)], []

    def _read_head(self, tree: Tree, *, is_pending: bool) -> _Head:
        amount, currency = parse_amount(tree)
        booked_at, value_at = _find_day(tree, "BookgDt"), _find_day(tree, "ValDt")
        if booked_at is None and value_at is None and not is_pending:
            raise StatementError("The booking has no date.", field="BookgDt")
        return _Head(
            amount,
            currency,
            booked_at or value_at,
            value_at,
            is_pending,
            find_text(tree, "RvslInd") in ("true", "1"),
            _clean_reference(find_text(tree, "AcctSvcrRef")),
            find_text(tree, "AddtlNtryInf"),
        )

    def _read_batch(
        self, tree: Tree, head: _Head, details: Sequence[Tree]
    ) -> tuple[list[Transaction], list[StatementIssue]]:
        """One booking each, if their amounts make up the entry's; what is missing may be the charges."""
        amounts = [_find_part_amount(one, head) for one in details]
        known = [one for one in amounts if one is not None]
        rest = head.amount - sum(known, Decimal(0))
        if len(known) != len(details) or (rest and abs(rest) != _sum_charges(tree, details)):
            issue = StatementIssue(
                IssueKind.BATCH_MISMATCH, head.amount - rest, head.amount, f"{len(details)} bookings in one entry"
            )
            return [self._make(head, tree, {}, head.amount, head.reference)], [issue]
        rows = []
        for number, (one, amount) in enumerate(zip(details, known, strict=True), 1):
            reference = _clean_reference(find_text(one, "Refs", "AcctSvcrRef"))
            if head.reference is not None and reference in (None, head.reference):
                reference = f"{head.reference}/{number}"
            rows.append(self._make(head, tree, one, amount, reference))
        if rest:
            rows.append(Transaction(rest, head.currency, head.booked_at, head.value_at, CHARGES))
        return rows, []

    def _make(self, head: _Head, tree: Tree, details: Tree, amount: Decimal, reference: str | None) -> Transaction:
        gv_code, prima_nota = _find_german_code(details, tree)
        purpose_code = find_text(details, "Purp", "Cd")
        name, iban, bic, ultimate = self._find_other_side(details, is_debit=amount < 0, is_reversal=head.is_reversal)
        return Transaction(
            amount,
            head.currency,
            head.booked_at,
            head.value_at,
            _make_purpose(details),
            head.text or find_text(details, "AddtlTxInf") or find_booking_text(gv_code, purpose_code),
            gv_code,
            prima_nota,
            name,
            iban,
            bic,
            ultimate,
            reference or _clean_reference(find_text(details, "Refs", "AcctSvcrRef")),
            head.is_pending,
        )

    def _find_other_side(
        self, details: Tree, *, is_debit: bool, is_reversal: bool
    ) -> tuple[str | None, str | None, str | None, str | None]:
        """Name, IBAN, BIC, and for whom in truth. A reversal names the parties of what is reversed."""
        parties = find_tree(details, "RltdPties")
        side = "Cdtr" if is_debit != is_reversal else "Dbtr"
        other = "Dbtr" if side == "Cdtr" else "Cdtr"
        own = None if self.account is None else self.account.iban
        iban = _find_account(parties, side)
        is_own = iban is not None and iban == own
        is_missing = is_reversal and iban is None and _find_name(parties, side) is None
        if is_own or is_missing:
            side, iban = other, _find_account(parties, other)
            if iban is not None and iban == own and not is_own:
                return None, None, None, None
        agent = find_tree(details, "RltdAgts", f"{side}Agt", "FinInstnId")
        bic = clean_bic(find_text(agent, "BICFI") or find_text(agent, "BIC"))
        return _find_name(parties, side), iban, bic, _find_name(parties, f"Ultmt{side}")


def _find_day(tree: Tree, name: str) -> datetime | None:
    text = find_text(tree, name, "Dt") or find_text(tree, name, "DtTm")
    if text is None:
        return None
    try:
        return find_midnight(parse_iso_day(text))
    except ValueError as error:
        raise StatementError(f"The date cannot be read: {error}.", field=name) from error


def _clean_reference(text: str | None) -> str | None:
    return None if text is None or text.upper() in NO_REFERENCE or not text.strip("0- ") else text


def _find_name(parties: Tree | None, side: str) -> str | None:
    return find_text(parties, side, "Nm") or find_text(parties, side, "Pty", "Nm")


def _find_account(parties: Tree | None, side: str) -> str | None:
    number = find_tree(parties, f"{side}Acct", "Id")
    return clean_iban(find_text(number, "IBAN")) or clean_iban(find_text(number, "Othr", "Id"))


def _find_part_amount(details: Tree, head: _Head) -> Decimal | None:
    """The share of one booking in the entry's currency, with the entry's sign unless it has its own."""
    amounts = find_tree(details, "AmtDtls")
    for place in (
        details,
        find_tree(amounts, "TxAmt"),
        find_tree(amounts, "CntrValAmt"),
        find_tree(amounts, "InstdAmt"),
    ):
        text = find_text(place, "Amt")
        if place is None or text is None or (place.get("Amt@Ccy") or [""])[0] != head.currency:
            continue
        if not _AMOUNT.fullmatch(text) or text == ".":
            raise StatementError("The amount cannot be read.", field="TxDtls/Amt")
        mark = find_text(details, "CdtDbtInd")
        is_debit = mark == "DBIT" if mark in ("CRDT", "DBIT") else head.amount < 0
        return -Decimal(text) if is_debit else Decimal(text)
    return None


def _sum_charges(tree: Tree, details: Sequence[Tree]) -> Decimal:
    """All charges, whether named for the entry or for its parts."""
    total = Decimal(0)
    for place in (tree, *details):
        for one in place.get("Chrgs", ()):
            if not isinstance(one, dict):
                continue
            records = [record for record in one.get("Rcrd", ()) if isinstance(record, dict)]
            for record in records or [one]:
                text = find_text(record, "Amt") or find_text(record, "TtlChrgsAndTaxAmt")
                if text is not None and _AMOUNT.fullmatch(text) and text != ".":
                    total += Decimal(text)
    return total


def _find_german_code(details: Tree, tree: Tree) -> tuple[str | None, str | None]:
    """GV code and prima nota, of the single booking or else of the entry."""
    for place in (details, tree):
        code = find_text(place, "BkTxCd", "Prtry", "Cd")
        if code is not None and (found := _GERMAN_CODE.fullmatch(code)):
            return found[1], found[2]
    return None, None


def _make_purpose(details: Tree) -> str | None:
    """Remittance information, with references under the tags that MT940 gives them."""
    remittance = find_tree(details, "RmtInf")
    lines = [] if remittance is None else [one for one in remittance.get("Ustrd", ()) if isinstance(one, str) and one]
    text = join_lines(lines, USTRD_WIDTH) if lines else ""
    if not text and remittance is not None:
        text = _read_structured(remittance)
    reason = find_text(details, "RtrInf", "AddtlInf") or find_text(details, "RtrInf", "Rsn", "Cd")
    if reason is not None:
        text = f"{text} Rückgabegrund: {reason}".lstrip()
    refs = find_tree(details, "Refs")
    creditor = find_tree(details, "RltdPties", "Cdtr")
    creditor = find_tree(creditor, "Pty") or creditor
    tags = (
        ("EREF", find_text(refs, "EndToEndId")),
        ("KREF", find_text(refs, "InstrId")),
        ("MREF", find_text(refs, "MndtId")),
        ("CRED", find_text(creditor, "Id", "PrvtId", "Othr", "Id")),
    )
    named = [f"{tag}+{value}" for tag, value in tags if value is not None]
    if not named or is_tagged(text):
        return text or None
    return " ".join([*named, *([f"SVWZ+{text}"] if text else [])])


def _read_structured(remittance: Tree) -> str:
    words: list[str] = []
    for one in remittance.get("Strd", ()):
        if isinstance(one, dict):
            found = (
                find_text(one, "CdtrRefInf", "Ref"),
                find_text(one, "RfrdDocInf", "Nb"),
                *(text.strip() for text in one.get("AddtlRmtInf", ()) if isinstance(text, str)),
            )
            words += [word for word in found if word]
    return " ".join(words)
