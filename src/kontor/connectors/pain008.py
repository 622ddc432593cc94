"""Direct debits as a pain.008 document, the form in which banks take them.

Written here for the reasons in `pain001`; the tests check it against the copies of the schemas that `sepaxml` has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from lxml import etree

from kontor.connectors.pain001 import NOT_PROVIDED, Batch, add_element, name_order
from kontor.domain.mandates import DebitInstruction, Mandate
from kontor.domain.payments import Order

NEWEST, OLDEST = "pain.008.001.08", "pain.008.001.02"
SCHEMAS = (NEWEST, OLDEST)
NAMESPACES = {schema: f"urn:iso:std:iso:20022:tech:xsd:{schema}" for schema in SCHEMAS}


@dataclass(frozen=True, slots=True)
class Creditor:
    name: str
    iban: str
    bic: str | None = None


@dataclass(frozen=True, slots=True)
class DebitBatch:
    """Direct debits that are sent together. `id` (at most 35 characters) becomes the message's and the block's id."""

    id: str
    orders: Sequence[Order]
    debit: DebitInstruction
    day: date

    def name_order(self, number: int) -> str:
        return name_order(Batch(self.id, self.orders, self.day), number)


def write_pain008(creditor: Creditor, batch: DebitBatch, created_at: datetime, schema: str = NEWEST) -> bytes:
    bic_name = "BIC" if schema == OLDEST else "BICFI"
    root = etree.Element("Document", nsmap={None: NAMESPACES[schema]})  # type: ignore[dict-item]  # as lxml wants it
    message = etree.SubElement(root, "CstmrDrctDbtInitn")
    total = format(sum((order.amount for order in batch.orders), Decimal(0)), ".2f")
    head = etree.SubElement(message, "GrpHdr")
    add_element(head, "MsgId", batch.id)
    add_element(head, "CreDtTm", created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    add_element(head, "NbOfTxs", str(len(batch.orders)))
    add_element(head, "CtrlSum", total)
    add_element(head, "InitgPty/Nm", creditor.name[:70])
    block = etree.SubElement(message, "PmtInf")
    add_element(block, "PmtInfId", batch.id)
    add_element(block, "PmtMtd", "DD")
    add_element(block, "BtchBookg", "true" if len(batch.orders) > 1 else "false")
    add_element(block, "NbOfTxs", str(len(batch.orders)))
    add_element(block, "CtrlSum", total)
    kind = etree.SubElement(block, "PmtTpInf")
    add_element(kind, "SvcLvl/Cd", "SEPA")
    add_element(kind, "LclInstrm/Cd", batch.debit.scheme)
    add_element(kind, "SeqTp", batch.debit.sequence)
    add_element(block, "ReqdColltnDt", batch.day.isoformat())
    add_element(block, "Cdtr/Nm", creditor.name[:70])
    account = etree.SubElement(block, "CdtrAcct")
    add_element(account, "Id/IBAN", creditor.iban)
    add_element(account, "Ccy", "EUR")
    _add_agent(block, "CdtrAgt", creditor.bic, bic_name)
    add_element(block, "ChrgBr", "SLEV")
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
    _add_agent(element, "DbtrAgt", order.bic, bic_name)
    add_element(element, "Dbtr/Nm", order.recipient[:70])
    add_element(element, "DbtrAcct/Id/IBAN", order.iban)
    if order.ultimate_debtor:
        add_element(element, "UltmtDbtr/Nm", order.ultimate_debtor[:70])
    if order.purpose_code:
        add_element(element, "Purp/Cd", order.purpose_code)
    if order.purpose:
        add_element(element, "RmtInf/Ustrd", order.purpose[:140])


def _add_agent(parent: etree._Element, name: str, bic: str | None, bic_name: str) -> None:
    """The schema wants an agent, also where nobody knows its BIC."""
    if bic:
        add_element(parent, f"{name}/FinInstnId/{bic_name}", bic)
    else:
        add_element(parent, f"{name}/FinInstnId/Othr/Id", NOT_PROVIDED)
