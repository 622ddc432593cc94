"""Direct debits as a pain.008 document, the form in which banks take them.

Written here for the reasons in `pain001`; the tests check it against the copies of the schemas that `sepaxml` has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from lxml import etree

from kontor.connectors.pain_messages import (
    Party,
    add_agent,
    add_element,
    add_party,
    add_purpose,
    begin_message,
    name_order,
)
from kontor.domain.mandates import DebitInstruction, Mandate
from kontor.domain.payments import Order

NEWEST, OLDEST = "pain.008.001.08", "pain.008.001.02"
SCHEMAS = (NEWEST, OLDEST)
NAMESPACES = {schema: f"urn:iso:std:iso:20022:tech:xsd:{schema}" for schema in SCHEMAS}


@dataclass(frozen=True, slots=True)
class DebitBatch:
    """Direct debits that are sent together. `id` (at most 35 characters) becomes the message's and the block's id."""

    id: str
    orders: Sequence[Order]
    debit: DebitInstruction
    day: date

    def name_order(self, number: int) -> str:
        return name_order(self.id, self.orders, number)


def write_pain008(creditor: Party, batch: DebitBatch, created_at: datetime, schema: str = NEWEST) -> bytes:
    bic_name = "BIC" if schema == OLDEST else "BICFI"
    root = etree.Element("Document", nsmap={None: NAMESPACES[schema]})  # type: ignore[dict-item]  # as lxml wants it
    is_bulk = len(batch.orders) > 1
    block = begin_message(
        root, "CstmrDrctDbtInitn", "DD", batch.id, batch.orders, creditor, created_at, is_bulk=is_bulk
    )
    kind = etree.SubElement(block, "PmtTpInf")
    add_element(kind, "SvcLvl/Cd", "SEPA")
    add_element(kind, "LclInstrm/Cd", batch.debit.scheme)
    add_element(kind, "SeqTp", batch.debit.sequence)
    add_element(block, "ReqdColltnDt", batch.day.isoformat())
    add_party(block, "Cdtr", creditor, bic_name)
    scheme = etree.SubElement(etree.SubElement(etree.SubElement(block, "CdtrSchmeId"), "Id"), "PrvtId")
    other = etree.SubElement(scheme, "Othr")
    add_element(other, "Id", batch.debit.creditor_id)
    add_element(other, "SchmeNm/Prtry", "SEPA")
    for number, (order, mandate) in enumerate(zip(batch.orders, batch.debit.mandates, strict=True)):
        _add_debit(block, order, mandate, batch.name_order(number), bic_name)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))


def _add_debit(block: etree._Element, order: Order, mandate: Mandate, end_to_end_id: str, bic_name: str) -> None:
    element = etree.SubElement(block, "DrctDbtTxInf")
    add_element(element, "PmtId/EndToEndId", end_to_end_id)
    amount = add_element(element, "InstdAmt", format(order.amount, ".2f"))
    amount.set("Ccy", order.currency)
    signed = etree.SubElement(etree.SubElement(element, "DrctDbtTx"), "MndtRltdInf")
    add_element(signed, "MndtId", mandate.id)
    add_element(signed, "DtOfSgntr", mandate.signed_on.isoformat())
    if order.ultimate_creditor:
        add_element(element, "UltmtCdtr/Nm", order.ultimate_creditor[:70])
    add_agent(element, "DbtrAgt", order.bic, bic_name)
    add_element(element, "Dbtr/Nm", order.recipient[:70])
    add_element(element, "DbtrAcct/Id/IBAN", order.iban)
    if order.ultimate_debtor:
        add_element(element, "UltmtDbtr/Nm", order.ultimate_debtor[:70])
    add_purpose(element, order)
