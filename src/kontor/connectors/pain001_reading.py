"""Reads pain.001 documents: orders that a bank lists, and files of a customer's program."""

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from kontor.connectors.pain_messages import NOT_PROVIDED
from kontor.connectors.statements import LIMITS, StatementError
from kontor.connectors.statements.xml_trees import Tree, find_deep_text, find_text, find_tree, read_elements
from kontor.domain.payments import Order

_AMOUNT = re.compile(r"[0-9]{1,13}(\.[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class PaymentBlock:
    """One PmtInf. `day` is None where the document names no day."""

    message_id: str
    id: str
    debtor_iban: str
    orders: tuple[Order, ...]
    day: date | None = None
    is_instant: bool = False


def read_pain001(data: bytes) -> tuple[PaymentBlock, ...]:
    """Every block of a pain.001 of any version. Raises StatementError for what is none."""
    message_id = ""
    blocks: list[PaymentBlock] = []
    orders: list[Order] = []
    for name, tree in read_elements(data, ("GrpHdr", "CdtTrfTxInf", "PmtInf"), LIMITS):
        if name == "GrpHdr":
            message_id = find_text(tree, "MsgId") or ""
        elif name == "CdtTrfTxInf":
            orders.append(read_order(tree, find_tree(tree, "Amt"), "Cdtr"))
        else:
            blocks.append(_read_block(tree, message_id, tuple(orders)))
            orders = []
    if not blocks:
        raise StatementError("The document has no PmtInf.")
    return tuple(blocks)


def _read_block(tree: Tree, message_id: str, orders: tuple[Order, ...]) -> PaymentBlock:
    iban = find_deep_text(tree, "DbtrAcct", "Id", "IBAN")
    if not iban or not orders:
        raise StatementError("A PmtInf has no debtor's IBAN or no transfers.")
    is_instant = find_deep_text(tree, "PmtTpInf", "LclInstrm", "Cd") == "INST"
    return PaymentBlock(message_id, find_text(tree, "PmtInfId") or "", iban, orders, _read_day(tree), is_instant)


def _read_day(tree: Tree) -> date | None:
    """A date (.03), or one within the element (.09)."""
    return read_day(find_text(tree, "ReqdExctnDt") or find_deep_text(tree, "ReqdExctnDt", "Dt"), "ReqdExctnDt")


def read_day(text: str | None, field: str) -> date | None:
    """None where there is none. Raises StatementError for what is no date."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        raise StatementError("This is no date.", field=field) from None


def read_amount(tree: Tree) -> tuple[Decimal, str]:
    """Amount and currency of an `InstdAmt`. Raises StatementError."""
    text, currency = find_text(tree, "InstdAmt") or "", find_text(tree, "InstdAmt@Ccy")
    if not _AMOUNT.fullmatch(text) or currency is None:
        raise StatementError("This is no amount.", field="InstdAmt")
    return Decimal(text), currency


def read_order(tree: Tree, amounts: Tree, other: str) -> Order:
    """`amounts` holds InstdAmt; `other` is the other side, Cdtr or Dbtr."""
    amount, currency = read_amount(amounts)
    reference = find_deep_text(tree, "PmtId", "EndToEndId")
    remittance = find_tree(tree, "RmtInf").get("Ustrd") or ()
    agent = find_tree(find_tree(tree, f"{other}Agt"), "FinInstnId")
    return Order(
        recipient=find_deep_text(tree, other, "Nm") or "",
        iban=find_deep_text(tree, f"{other}Acct", "Id", "IBAN") or "",
        amount=amount,
        currency=currency,
        purpose=" ".join(part.strip() for part in remittance if isinstance(part, str)),
        bic=find_text(agent, "BICFI") or find_text(agent, "BIC"),
        end_to_end_id=None if reference in (None, NOT_PROVIDED) else reference,
        purpose_code=find_deep_text(tree, "Purp", "Cd"),
        ultimate_debtor=find_deep_text(tree, "UltmtDbtr", "Nm"),
        ultimate_creditor=find_deep_text(tree, "UltmtCdtr", "Nm"),
    )
