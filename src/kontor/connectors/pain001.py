"""Credit transfers as a pain.001 document, the form in which banks take orders.

Written here and not by `sepaxml`, which knows neither instant transfers, purpose codes nor ultimate parties, and puts
the wall clock and names of its own into the document; its copy of the schema is what the tests check this against.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from lxml import etree

from kontor.domain.payments import Order

SCHEMA = "pain.001.001.09"
NAMESPACE = f"urn:iso:std:iso:20022:tech:xsd:{SCHEMA}"
NOT_PROVIDED = "NOTPROVIDED"


@dataclass(frozen=True, slots=True)
class Debtor:
    name: str
    iban: str
    bic: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Orders that are sent together. `id` (at most 35 characters) becomes the message's and the block's id."""

    id: str
    orders: Sequence[Order]
    day: date
    is_bulk: bool = False
    is_instant: bool = False


def name_order(batch: Batch, number: int) -> str:
    """The end-to-end id of an order: its own, or one by which it is found again in a statement."""
    own = batch.orders[number].end_to_end_id
    if own:
        return own
    return batch.id if len(batch.orders) == 1 else f"{batch.id[:29]}-{number + 1}"


def write_pain001(debtor: Debtor, batch: Batch, created_at: datetime) -> bytes:
    root = etree.Element("Document", nsmap={None: NAMESPACE})  # type: ignore[dict-item]  # as lxml wants it
    message = etree.SubElement(root, "CstmrCdtTrfInitn")
    total = format(sum((order.amount for order in batch.orders), Decimal(0)), ".2f")
    head = etree.SubElement(message, "GrpHdr")
    add_element(head, "MsgId", batch.id)
    add_element(head, "CreDtTm", created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    add_element(head, "NbOfTxs", str(len(batch.orders)))
    add_element(head, "CtrlSum", total)
    add_element(head, "InitgPty/Nm", debtor.name[:70])
    block = etree.SubElement(message, "PmtInf")
    add_element(block, "PmtInfId", batch.id)
    add_element(block, "PmtMtd", "TRF")
    add_element(block, "BtchBookg", "true" if batch.is_bulk else "false")
    add_element(block, "NbOfTxs", str(len(batch.orders)))
    add_element(block, "CtrlSum", total)
    kind = etree.SubElement(block, "PmtTpInf")
    add_element(kind, "SvcLvl/Cd", "SEPA")
    if batch.is_instant:
        add_element(kind, "LclInstrm/Cd", "INST")
    add_element(block, "ReqdExctnDt/Dt", batch.day.isoformat())
    add_element(block, "Dbtr/Nm", debtor.name[:70])
    account = etree.SubElement(block, "DbtrAcct")
    add_element(account, "Id/IBAN", debtor.iban)
    add_element(account, "Ccy", "EUR")  # optional, but some banks refuse the document without it
    if debtor.bic:
        add_element(block, "DbtrAgt/FinInstnId/BICFI", debtor.bic)
    else:
        add_element(block, "DbtrAgt/FinInstnId/Othr/Id", NOT_PROVIDED)
    add_element(block, "ChrgBr", "SLEV")
    for number, order in enumerate(batch.orders):
        _add_order(block, order, name_order(batch, number))
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))


def _add_order(block: etree._Element, order: Order, end_to_end_id: str) -> None:
    element = etree.SubElement(block, "CdtTrfTxInf")
    add_element(element, "PmtId/EndToEndId", end_to_end_id)
    amount = add_element(element, "Amt/InstdAmt", format(order.amount, ".2f"))
    amount.set("Ccy", order.currency)
    if order.ultimate_debtor:
        add_element(element, "UltmtDbtr/Nm", order.ultimate_debtor[:70])
    if order.bic:
        add_element(element, "CdtrAgt/FinInstnId/BICFI", order.bic)
    add_element(element, "Cdtr/Nm", order.recipient[:70])
    add_element(element, "CdtrAcct/Id/IBAN", order.iban)
    if order.ultimate_creditor:
        add_element(element, "UltmtCdtr/Nm", order.ultimate_creditor[:70])
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
