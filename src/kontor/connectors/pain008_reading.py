"""Reads pain.008 documents: direct debits that a bank lists, and files of a customer's program."""

from dataclasses import dataclass
from datetime import date

from kontor.connectors.pain001_reading import read_day, read_order
from kontor.connectors.statements import LIMITS, StatementError
from kontor.connectors.statements.xml_trees import Tree, find_deep_text, find_text, find_tree, read_elements
from kontor.domain.mandates import DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.payments import Order


@dataclass(frozen=True, slots=True)
class DebitBlock:
    """One PmtInf. `day` is None where the document names no day."""

    message_id: str
    id: str
    creditor_iban: str
    orders: tuple[Order, ...]
    debit: DebitInstruction
    day: date | None = None


def read_pain008(data: bytes) -> tuple[DebitBlock, ...]:
    """Every block of a pain.008 of any version. Raises StatementError for what is none."""
    message_id = ""
    blocks: list[DebitBlock] = []
    debits: list[tuple[Order, Mandate]] = []
    creditors: list[str] = []  # as each debit names it, empty where it does not
    for name, tree in read_elements(data, ("GrpHdr", "DrctDbtTxInf", "PmtInf"), LIMITS):
        if name == "GrpHdr":
            message_id = find_text(tree, "MsgId") or ""
        elif name == "DrctDbtTxInf":
            debits.append((read_order(tree, tree, "Dbtr"), _read_mandate(tree)))
            creditors.append(_find_creditor(find_tree(tree, "DrctDbtTx")))
        else:
            blocks.append(_read_block(tree, message_id, debits, _choose_creditor(_find_creditor(tree), creditors)))
            debits, creditors = [], []
    if not blocks:
        raise StatementError("The document has no PmtInf.")
    return tuple(blocks)


def _find_creditor(tree: Tree) -> str:
    """The creditor identifier, for all debits of a block or for one of them; empty where it is not named here."""
    return find_deep_text(tree, "CdtrSchmeId", "Id", "PrvtId", "Othr", "Id") or ""


def _choose_creditor(of_block: str, of_debits: list[str]) -> str:
    """That of the block, or the same of each debit; a debit without any is not given that of its neighbours."""
    named = {of_block, *of_debits} - {""}
    if len(named) > 1:
        raise StatementError("A PmtInf has several creditor identifiers.", field="CdtrSchmeId")
    if named and not of_block and "" in of_debits:
        raise StatementError("A direct debit has no creditor identifier.", field="CdtrSchmeId")
    return next(iter(named), "")


def _read_block(tree: Tree, message_id: str, debits: list[tuple[Order, Mandate]], creditor_id: str) -> DebitBlock:
    iban = find_deep_text(tree, "CdtrAcct", "Id", "IBAN")
    if not iban or not debits:
        raise StatementError("A PmtInf has no creditor's IBAN or no direct debits.")
    kind = find_tree(tree, "PmtTpInf")
    try:
        scheme = DebitScheme(find_deep_text(kind, "LclInstrm", "Cd") or "")
    except ValueError:
        raise StatementError("Only CORE and B2B are known.", field="LclInstrm") from None
    try:
        sequence = SequenceType(find_text(kind, "SeqTp") or "")
    except ValueError:
        raise StatementError("Only FRST, RCUR, OOFF and FNAL are known.", field="SeqTp") from None
    return DebitBlock(
        message_id=message_id,
        id=find_text(tree, "PmtInfId") or "",
        creditor_iban=iban,
        orders=tuple(order for order, _ in debits),
        debit=DebitInstruction(scheme, creditor_id, sequence, tuple(mandate for _, mandate in debits)),
        day=read_day(find_text(tree, "ReqdColltnDt"), "ReqdColltnDt"),
    )


def _read_mandate(tree: Tree) -> Mandate:
    signed = find_tree(find_tree(tree, "DrctDbtTx"), "MndtRltdInf")
    day = read_day(find_text(signed, "DtOfSgntr"), "DtOfSgntr")
    if day is None:
        raise StatementError("A mandate has no date.", field="DtOfSgntr")
    return Mandate(find_text(signed, "MndtId") or "", day)
