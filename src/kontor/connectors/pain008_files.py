"""Files of direct debits that a customer's program has written: pain.008.001.02 and .08.

What Kontor could not pass on to a bank as it was written is refused, not left out.
"""

from kontor.connectors.pain001_files import check_charges, check_purpose, check_totals
from kontor.connectors.pain008_reading import DebitBlock, read_pain008
from kontor.connectors.statements import LIMITS, StatementError
from kontor.connectors.statements.xml_trees import Tree, find_text, find_tree, read_elements

FORMS = ("pain.008.001.02", "pain.008.001.08")


def read_debit_file(data: bytes) -> tuple[DebitBlock, ...]:
    """One block per PmtInf. Raises StatementError, which says what is wrong."""
    blocks = read_pain008(data)
    orders = [order for block in blocks for order in block.orders]
    for name, tree in read_elements(data, ("GrpHdr", "DrctDbtTxInf", "PmtInf"), LIMITS):
        if name == "GrpHdr":
            check_totals(tree, orders)
        elif name == "DrctDbtTxInf":
            _check_debit(tree)
        else:
            _check_block(tree)
    return blocks


def _check_block(tree: Tree) -> None:
    if find_text(tree, "PmtMtd") != "DD":
        raise StatementError("Only direct debits (DD) can be ordered.", field="PmtMtd")
    check_charges(tree)
    if "UltmtCdtr" in tree:
        raise StatementError("An ultimate creditor of all direct debits cannot be passed on.", field="UltmtCdtr")


def _check_debit(tree: Tree) -> None:
    check_purpose(tree)
    check_charges(tree)
    if "PmtTpInf" in tree:
        raise StatementError("A kind of payment for a single direct debit cannot be passed on.", field="PmtTpInf")
    mandate = find_tree(find_tree(tree, "DrctDbtTx"), "MndtRltdInf")
    if find_text(mandate, "AmdmntInd") in ("true", "1") or "AmdmntInfDtls" in mandate:
        raise StatementError("A changed mandate cannot be passed on.", field="AmdmntInd")
