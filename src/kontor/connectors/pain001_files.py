"""Files of orders that a customer's program has written: pain.001.001.03 and .09.

What Kontor could not pass on to a bank as it was written is refused, not left out.
"""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from kontor.connectors.pain001_reading import PaymentBlock, read_pain001
from kontor.connectors.statements import LIMITS, StatementError
from kontor.connectors.statements.xml_trees import Tree, find_text, find_tree, prepare_xml, read_elements
from kontor.domain.payments import Order

FORMS = ("pain.001.001.03", "pain.001.001.09")
_NAMESPACE = re.compile(rb"<(?:[\w.-]+:)?Document\b[^>]*?\bxmlns(?::[\w.-]+)?\s*=\s*[\"']([^\"']{1,200})[\"']")


def read_payment_file(data: bytes) -> tuple[PaymentBlock, ...]:
    """One block per PmtInf. Raises StatementError, which says what is wrong."""
    blocks = read_pain001(data)
    orders = [order for block in blocks for order in block.orders]
    for name, tree in read_elements(data, ("GrpHdr", "CdtTrfTxInf", "PmtInf"), LIMITS):
        if name == "GrpHdr":
            check_totals(tree, orders)
        elif name == "CdtTrfTxInf":
            _check_transfer(tree)
        else:
            _check_block(tree)
    return blocks


def find_form(data: bytes) -> str | None:
    """The last part of the document's namespace, such as `pain.001.001.09`."""
    found = _NAMESPACE.search(prepare_xml(data, LIMITS))
    return None if found is None else found[1].decode("utf-8", "replace").rpartition(":")[2]


def check_totals(header: Tree, orders: Sequence[Order]) -> None:
    if find_text(header, "NbOfTxs") != str(len(orders)):
        raise StatementError("The number of orders is another one.", field="NbOfTxs")
    total = find_text(header, "CtrlSum")
    try:
        is_right = total is None or Decimal(total) == sum(order.amount for order in orders)
    except InvalidOperation:
        is_right = False
    if not is_right:
        raise StatementError("The sum of the orders is another one.", field="CtrlSum")


def _check_block(tree: Tree) -> None:
    if find_text(tree, "PmtMtd") != "TRF":
        raise StatementError("Only transfers (TRF) can be ordered.", field="PmtMtd")
    check_charges(tree)


def _check_transfer(tree: Tree) -> None:
    check_purpose(tree)
    check_charges(tree)


def check_purpose(tree: Tree) -> None:
    remittance = find_tree(tree, "RmtInf")
    if "Strd" in remittance:
        raise StatementError("A structured purpose cannot be passed on.", field="Strd")
    if len(remittance.get("Ustrd", ())) > 1:
        raise StatementError("Only one line of purpose can be passed on.", field="Ustrd")


def check_charges(tree: Tree) -> None:
    if (find_text(tree, "ChrgBr") or "SLEV") != "SLEV":
        raise StatementError("Charges can only be shared (SLEV).", field="ChrgBr")
