"""Bookings of camt documents: an entry is one booking, or a batch of several."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from kontor.connectors.statements.booking_texts import find_booking_text
from kontor.connectors.statements.results import AccountIdentification, IssueKind, StatementError, StatementIssue
from kontor.connectors.statements.values import (
    add_national_account,
    clean_bic,
    clean_iban,
    drop_noise,
    find_iso_midnight,
    is_tagged,
    join_lines,
)
from kontor.connectors.statements.xml_trees import EMPTY, Tree, find_deep_text, find_text, find_tree, list_trees
from kontor.domain.cleaning import CENT, MAX_TEXT_LENGTH
from kontor.domain.transactions import Transaction

USTRD_WIDTH = 140
MAX_USUAL = 18  # characters of an amount that needs no look at its size
PENDING = frozenset(("PDNG", "FUTR"))
NO_REFERENCE = frozenset(("NONREF", "NOTPROVIDED", "NOTAVAILABLE", "NONE"))
CHARGES = "Entgelte"
PARTS_SEPARATOR = " | "
PARTS_LEFT_OUT = "und {} weitere"
_REFERENCES = (("EREF", "EndToEndId"), ("KREF", "InstrId"), ("MREF", "MndtId"))
# The schema allows 18 digits, 5 of them decimals. More decimals are the noise of binary fractions.
_AMOUNT = re.compile(r"[0-9]{0,20}(?:\.[0-9]{0,30})?")
_CURRENCY = re.compile(r"[A-Z]{3}")
# SWIFT key, GV code, prima nota: `NTRF+166+9310`; some banks send the GV code alone.
_GERMAN_CODE = re.compile(r"(?:[A-Z][A-Z0-9]{3}\+)?([0-9]{3})?(?:\+([A-Za-z0-9]{1,10}))?(?:\+.*)?")


def parse_amount(tree: Tree, account: AccountIdentification | None) -> tuple[Decimal, str]:
    """Signed amount and currency of an entry or a balance. Banks may leave out a currency that is the account's."""
    take = tree.get
    text, mark = take("Amt"), take("CdtDbtInd")
    currency = take("Amt@Ccy") or (account and account.currency) or ""
    if type(text) is not str or not _AMOUNT.fullmatch(text) or text in ("", "."):
        raise StatementError("The amount cannot be read.", field="Amt")
    if not _CURRENCY.fullmatch(currency):
        raise StatementError("The amount has no currency.", field="Amt")
    if mark not in ("CRDT", "DBIT"):
        raise StatementError("Credit or debit is not said.", field="CdtDbtInd")
    amount = _read_amount(text)
    return (-amount if mark == "DBIT" else amount), currency


def _read_amount(text: str) -> Decimal:
    amount = Decimal(text)
    if amount.same_quantum(CENT) and len(text) < MAX_USUAL:
        return amount
    try:
        return drop_noise(amount)
    except ValueError as error:
        raise StatementError(f"The amount cannot be read: {error}.", field="Amt") from error


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


class _Party(NamedTuple):
    """The other side. `ultimate` is for whom it was paid; an old account number and bank code stand beside no IBAN."""

    name: str | None = None
    iban: str | None = None
    bic: str | None = None
    ultimate: str | None = None
    number: str | None = None
    bank_code: str | None = None


NOBODY = _Party()


class EntryReader:
    """Reads entries of one account."""

    def __init__(self) -> None:
        self.account: AccountIdentification | None = None

    def read(self, tree: Tree) -> tuple[list[Transaction], list[StatementIssue]]:
        """The bookings of an entry. What is for information only (`INFO`) was never booked, and is left out."""
        status = tree.get("Sts")
        if type(status) is not str:
            status = find_deep_text(tree, "Sts", "Cd") or find_deep_text(tree, "Sts", "Prtry")
        if status == "INFO":
            return [], [StatementIssue(IssueKind.INFORMATION_LEFT_OUT, detail=find_text(tree, "AcctSvcrRef"))]
        head = self._read_head(tree, is_pending=status in PENDING)
        details = [detail for group in list_trees(tree, "NtryDtls") for detail in list_trees(group, "TxDtls")]
        if len(details) > 1:
            return self._read_batch(tree, head, details)
        return [self._make(head, tree, details[0] if details else EMPTY, head.amount, head.reference)], []

    def _read_head(self, tree: Tree, *, is_pending: bool) -> _Head:
        amount, currency = parse_amount(tree, self.account)
        booked_at, value_at = _find_day(tree, "BookgDt"), _find_day(tree, "ValDt")
        if booked_at is None and value_at is None:
            raise StatementError("The booking has no date.", field="BookgDt")
        return _Head(
            amount,
            currency,
            booked_at or value_at,
            value_at,
            is_pending,
            tree.get("RvslInd") in ("true", "1"),
            _clean_reference(find_text(tree, "AcctSvcrRef")),
            find_text(tree, "AddtlNtryInf"),
        )

    def _read_batch(
        self, tree: Tree, head: _Head, details: Sequence[Tree]
    ) -> tuple[list[Transaction], list[StatementIssue]]:
        """One booking each, if their amounts make up the entry's; what is missing may be the charges."""
        amounts = [_find_part_amount(detail, head) for detail in details]
        known = [amount for amount in amounts if amount is not None]
        rest = head.amount - sum(known, Decimal(0))
        if len(known) != len(details) or (rest and abs(rest) != _sum_charges(tree, details)):
            row = self._make_whole(head, tree, details)
            if not known:  # nothing that could contradict
                return [row], []
            issue = StatementIssue(
                IssueKind.BATCH_MISMATCH, head.amount - rest, head.amount, f"{len(details)} bookings in one entry"
            )
            return [row], [issue]
        rows = []
        for number, (detail, amount) in enumerate(zip(details, known, strict=True), 1):
            reference = _clean_reference(find_deep_text(detail, "Refs", "AcctSvcrRef"))
            if head.reference is not None and reference in (None, head.reference):
                reference = f"{head.reference}/{number}"
            rows.append(self._make(head, tree, detail, amount, reference))
        if rest:
            rows.append(Transaction(rest, head.currency, head.booked_at, head.value_at, CHARGES))
        return rows, []

    def _make_whole(self, head: _Head, tree: Tree, details: Sequence[Tree]) -> Transaction:
        """One booking of a batch whose parts have no amounts to book: it tells what all of them tell."""
        parts = [self._make(head, tree, detail, head.amount, head.reference) for detail in details]
        texts = [" ".join(text for text in (part.counterparty_name, part.purpose) if text) for part in parts]
        # What all parts agree on is true of the whole.
        shared = {
            name: getattr(parts[0], name)
            for name in ("counterparty_name", "counterparty_iban", "counterparty_bic", "ultimate_counterparty")
            if len({getattr(part, name) for part in parts}) == 1
        }
        if "counterparty_name" in shared:
            texts = [part.purpose or "" for part in parts]
        whole = self._make(head, tree, EMPTY, head.amount, head.reference)
        return replace(whole, purpose=_join_parts(texts), **shared)

    def _make(self, head: _Head, tree: Tree, details: Tree, amount: Decimal, reference: str | None) -> Transaction:
        gv_code, prima_nota = _find_german_code(details, tree)
        purpose_code = find_deep_text(details, "Purp", "Cd") if "Purp" in details else None
        refs, parties = find_tree(details, "Refs"), find_tree(details, "RltdPties")
        party = self._find_other_side(details, parties, is_debit=amount < 0, is_reversal=head.is_reversal)
        purpose = _make_purpose(details, refs, parties)
        if party.number or party.bank_code:
            purpose = add_national_account(purpose, party.number, party.bank_code)
        return Transaction(
            amount,
            head.currency,
            head.booked_at,
            head.value_at,
            purpose,
            head.text or find_text(details, "AddtlTxInf") or find_booking_text(gv_code, purpose_code),
            gv_code,
            prima_nota,
            party.name,
            party.iban,
            party.bic,
            party.ultimate,
            reference or _clean_reference(find_text(refs, "AcctSvcrRef")),
            head.is_pending,
        )

    def _find_other_side(self, details: Tree, parties: Tree, *, is_debit: bool, is_reversal: bool) -> _Party:
        """A reversal names the parties of what is reversed."""
        agents = find_tree(details, "RltdAgts")
        if not parties and not agents:
            return NOBODY
        side, other = ("Cdtr", "Dbtr") if is_debit != is_reversal else ("Dbtr", "Cdtr")
        own = None if self.account is None else self.account.iban
        iban = _find_account(parties, side)
        is_own = iban is not None and iban == own
        is_missing = is_reversal and iban is None and _find_name(parties, side) is None
        if is_own or is_missing:
            side, iban = other, _find_account(parties, other)
            if iban is not None and iban == own and not is_own:
                return NOBODY
        agent = find_tree(find_tree(agents, f"{side}Agt"), "FinInstnId")
        bic = clean_bic(find_text(agent, "BICFI") or find_text(agent, "BIC"))
        name, ultimate = _find_name(parties, side), _find_name(parties, f"Ultmt{side}")
        if iban is not None:
            return _Party(name, iban, bic, ultimate)
        number = find_deep_text(parties, f"{side}Acct", "Id", "Othr", "Id")
        return _Party(name, None, bic, ultimate, number, find_deep_text(agent, "ClrSysMmbId", "MmbId"))


def _find_day(tree: Tree, name: str) -> datetime | None:
    day = find_tree(tree, name)
    text = find_text(day, "Dt") or find_text(day, "DtTm")
    if text is None:
        return None
    try:
        return find_iso_midnight(text)
    except ValueError as error:
        raise StatementError(f"The date cannot be read: {error}.", field=name) from error


def _clean_reference(text: str | None) -> str | None:
    return None if text is None or text.upper() in NO_REFERENCE or not text.strip("0- ") else text


def _find_name(parties: Tree, side: str) -> str | None:
    party = find_tree(parties, side)
    return None if party is EMPTY else find_text(party, "Nm") or find_deep_text(party, "Pty", "Nm")


def _find_account(parties: Tree, side: str) -> str | None:
    number = find_tree(find_tree(parties, f"{side}Acct"), "Id")
    if number is EMPTY:
        return None
    return clean_iban(find_text(number, "IBAN")) or clean_iban(find_deep_text(number, "Othr", "Id"))


def _join_parts(texts: Sequence[str]) -> str | None:
    """Texts of a batch's parts, as many as have room; how many have none is said."""
    kept: list[str] = []
    room = MAX_TEXT_LENGTH - len(PARTS_LEFT_OUT) - 10
    for number, text in enumerate(texts):
        room -= len(text) + len(PARTS_SEPARATOR)
        if room < 0:
            return PARTS_SEPARATOR.join([*kept, PARTS_LEFT_OUT.format(len(texts) - number)])
        if text:
            kept.append(text)
    return PARTS_SEPARATOR.join(kept) or None


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
        if text is None or place.get("Amt@Ccy", head.currency) != head.currency:
            continue
        if not _AMOUNT.fullmatch(text) or text == ".":
            raise StatementError("The amount cannot be read.", field="TxDtls/Amt")
        mark = find_text(details, "CdtDbtInd")
        is_debit = mark == "DBIT" if mark in ("CRDT", "DBIT") else head.amount < 0
        return -_read_amount(text) if is_debit else _read_amount(text)
    return None


def _sum_charges(tree: Tree, details: Sequence[Tree]) -> Decimal:
    """All charges, whether named for the entry or for its parts."""
    total = Decimal(0)
    for place in (tree, *details):
        for charges in list_trees(place, "Chrgs"):
            for record in list_trees(charges, "Rcrd") or [charges]:
                text = find_text(record, "Amt") or find_text(record, "TtlChrgsAndTaxAmt")
                if text is not None and _AMOUNT.fullmatch(text) and text != ".":
                    total += _read_amount(text)
    return total


def _find_german_code(details: Tree, tree: Tree) -> tuple[str | None, str | None]:
    """GV code and prima nota, of the single booking or else of the entry."""
    for place in (details, tree):
        if "BkTxCd" in place:
            code = find_deep_text(place, "BkTxCd", "Prtry", "Cd")
            if code is not None and (found := _split_german_code(code)) is not None:
                return found
    return None, None


@lru_cache(maxsize=1000)
def _split_german_code(code: str) -> tuple[str | None, str | None] | None:
    match = _GERMAN_CODE.fullmatch(code)
    return None if match is None else (match[1], match[2])


def _make_purpose(details: Tree, refs: Tree, parties: Tree) -> str | None:
    """Remittance information, with references under the tags that MT940 gives them."""
    remittance = find_tree(details, "RmtInf")
    lines = [line for line in remittance.get("Ustrd", ()) if line and type(line) is str]
    text = join_lines(lines, USTRD_WIDTH) if lines else ""
    if not text:
        text = _read_structured(remittance)
    if "RtrInf" in details:
        reason = find_deep_text(details, "RtrInf", "AddtlInf") or find_deep_text(details, "RtrInf", "Rsn", "Cd")
        text = text if reason is None else f"{text} Rückgabegrund: {reason}".lstrip()
    named = [f"{tag}+{value}" for tag, name in _REFERENCES if (value := find_text(refs, name))] if refs else []
    creditor = find_tree(parties, "Cdtr")
    creditor = find_tree(creditor, "Pty") or creditor
    if "Id" in creditor and (value := find_deep_text(creditor, "Id", "PrvtId", "Othr", "Id")):
        named.append(f"CRED+{value}")
    if not named or is_tagged(text):
        return text or None
    return " ".join([*named, *([f"SVWZ+{text}"] if text else [])])


def _read_structured(remittance: Tree) -> str:
    words: list[str] = []
    for block in list_trees(remittance, "Strd"):
        texts = (
            find_deep_text(block, "CdtrRefInf", "Ref"),
            find_deep_text(block, "RfrdDocInf", "Nb"),
            *(text.strip() for text in block.get("AddtlRmtInf", ()) if type(text) is str),
        )
        words += [word for word in texts if word]
    return " ".join(words)
