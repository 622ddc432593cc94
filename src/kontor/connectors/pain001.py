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
    _add(head, "MsgId", batch.id)
    _add(head, "CreDtTm", created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    _add(head, "NbOfTxs", str(len(batch.orders)))
    _add(head, "CtrlSum", total)
    _add(head, "InitgPty/Nm", debtor.name[:70])
    block = etree.SubElement(message, "PmtInf")
    _add(block, "PmtInfId", batch.id)
    _add(block, "PmtMtd", "TRF")
    _add(block, "BtchBookg", "true" if batch.is_bulk else "false")
    _add(block, "NbOfTxs", str(len(batch.orders)))
    _add(block, "CtrlSum", total)
    kind = etree.SubElement(block, "PmtTpInf")
    _add(kind, "SvcLvl/Cd", "SEPA")
    if batch.is_instant:
        _add(kind, "LclInstrm/Cd", "INST")
    _add(block, "ReqdExctnDt/Dt", batch.day.isoformat())
    _add(block, "Dbtr/Nm", debtor.name[:70])
    account = etree.SubElement(block, "DbtrAcct")
    _add(account, "Id/IBAN", debtor.iban)
    _add(account, "Ccy", "EUR")  # optional, but some banks refuse the document without it
    if debtor.bic:
        _add(block, "DbtrAgt/FinInstnId/BICFI", debtor.bic)
    else:
        _add(block, "DbtrAgt/FinInstnId/Othr/Id", NOT_PROVIDED)
    _add(block, "ChrgBr", "SLEV")
    for number, order in enumerate(batch.orders):
        _add_order(block, order, name_order(batch, number))
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))


def _add_order(block: etree._Element, order: Order, end_to_end_id: str) -> None:
    element = etree.SubElement(block, "CdtTrfTxInf")
    _add(element, "PmtId/EndToEndId", end_to_end_id)
    amount = _add(element, "Amt/InstdAmt", format(order.amount, ".2f"))
    amount.set("Ccy", order.currency)
    if order.ultimate_debtor:
        _add(element, "UltmtDbtr/Nm", order.ultimate_debtor[:70])
    if order.bic:
        _add(element, "CdtrAgt/FinInstnId/BICFI", order.bic)
    _add(element, "Cdtr/Nm", order.recipient[:70])
    _add(element, "CdtrAcct/Id/IBAN", order.iban)
    if order.ultimate_creditor:
        _add(element, "UltmtCdtr/Nm", order.ultimate_creditor[:70])
    if order.purpose_code:
        _add(element, "Purp/Cd", order.purpose_code)
    if order.purpose:
        _add(element, "RmtInf/Ustrd", order.purpose[:140])


def _add(parent: etree._Element, path: str, text: str) -> etree._Element:
    """A new element at the end of a path of new elements."""
    for name in path.split("/"):
        parent = etree.SubElement(parent, name)
    parent.text = text
    return parent
