"""What pain.001 and pain.008 have in common: the customer's own account, the head of a message, and its orders."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from lxml import etree

from kontor.domain.payments import Order

NOT_PROVIDED = "NOTPROVIDED"


@dataclass(frozen=True, slots=True)
class Party:
    """The customer with the account that is debited or credited."""

    name: str
    iban: str
    bic: str | None = None


def name_order(batch_id: str, orders: Sequence[Order], number: int) -> str:
    """The end-to-end id of an order: its own, or one by which it is found again in a statement."""
    own = orders[number].end_to_end_id
    if own:
        return own
    return batch_id if len(orders) == 1 else f"{batch_id[:29]}-{number + 1}"


def begin_message(
    root: etree._Element, name: str, method: str, batch_id: str, orders: Sequence[Order], party: Party,
    created_at: datetime, *, is_bulk: bool,
) -> etree._Element:  # fmt: skip
    """The group header, and the PmtInf up to its sums, which is returned."""
    message = etree.SubElement(root, name)
    total = format(sum((order.amount for order in orders), Decimal(0)), ".2f")
    head = etree.SubElement(message, "GrpHdr")
    add_element(head, "MsgId", batch_id)
    add_element(head, "CreDtTm", created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    add_element(head, "NbOfTxs", str(len(orders)))
    add_element(head, "CtrlSum", total)
    add_element(head, "InitgPty/Nm", party.name[:70])
    block = etree.SubElement(message, "PmtInf")
    add_element(block, "PmtInfId", batch_id)
    add_element(block, "PmtMtd", method)
    add_element(block, "BtchBookg", "true" if is_bulk else "false")
    add_element(block, "NbOfTxs", str(len(orders)))
    add_element(block, "CtrlSum", total)
    return block


def add_party(block: etree._Element, prefix: str, party: Party, bic_name: str) -> None:
    """`prefix` is Dbtr or Cdtr."""
    add_element(block, f"{prefix}/Nm", party.name[:70])
    account = etree.SubElement(block, f"{prefix}Acct")
    add_element(account, "Id/IBAN", party.iban)
    add_element(account, "Ccy", "EUR")  # optional, but some banks refuse the document without it
    add_agent(block, f"{prefix}Agt", party.bic, bic_name)
    add_element(block, "ChrgBr", "SLEV")


def add_agent(parent: etree._Element, name: str, bic: str | None, bic_name: str) -> None:
    """The schema wants an agent, also where nobody knows its BIC."""
    if bic:
        add_element(parent, f"{name}/FinInstnId/{bic_name}", bic)
    else:
        add_element(parent, f"{name}/FinInstnId/Othr/Id", NOT_PROVIDED)


def add_purpose(element: etree._Element, order: Order) -> None:
    if order.purpose_code:
        add_element(element, "Purp/Cd", order.purpose_code)
    if order.purpose:
        add_element(element, "RmtInf/Ustrd", order.purpose[:140])


def add_element(parent: etree._Element, path: str, text: str) -> etree._Element:
    """A new element at the end of a path of new elements."""
    for name in path.split("/"):
        parent = etree.SubElement(parent, name)
    parent.text = text
    return parent
