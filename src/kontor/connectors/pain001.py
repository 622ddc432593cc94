"""Credit transfers as a pain.001 document, the form in which banks take orders.

Written here and not by `sepaxml`, which knows neither instant transfers, purpose codes nor ultimate parties, and puts
the wall clock and names of its own into the document; its copy of the schema is what the tests check this against.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from lxml import etree

from kontor.connectors import pain_messages
from kontor.connectors.pain_messages import Party, add_element, add_party, add_purpose, begin_message
from kontor.domain.payments import Order

SCHEMA = "pain.001.001.09"
NAMESPACE = f"urn:iso:std:iso:20022:tech:xsd:{SCHEMA}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Orders that are sent together. `id` (at most 35 characters) becomes the message's and the block's id."""

    id: str
    orders: Sequence[Order]
    day: date
    is_bulk: bool = False
    is_instant: bool = False


def name_order(batch: Batch, number: int) -> str:
    return pain_messages.name_order(batch.id, batch.orders, number)


def write_pain001(debtor: Party, batch: Batch, created_at: datetime) -> bytes:
    root = etree.Element("Document", nsmap={None: NAMESPACE})  # type: ignore[dict-item]  # as lxml wants it
    block = begin_message(
        root, "CstmrCdtTrfInitn", "TRF", batch.id, batch.orders, debtor, created_at, is_bulk=batch.is_bulk
    )
    kind = etree.SubElement(block, "PmtTpInf")
    add_element(kind, "SvcLvl/Cd", "SEPA")
    if batch.is_instant:
        add_element(kind, "LclInstrm/Cd", "INST")
    add_element(block, "ReqdExctnDt/Dt", batch.day.isoformat())
    add_party(block, "Dbtr", debtor, "BICFI")
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
    add_purpose(element, order)
