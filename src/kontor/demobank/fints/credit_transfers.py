"""Orders as XML: reads pain.001, writes pain.002 for what the payees' banks say about names."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from uuid import UUID, uuid4, uuid5
from xml.sax.saxutils import escape

from kontor.domain.payments import Order, PayeeMatch, PayeeResult

MAX_ORDERS = 1000
NOT_BEFORE = date(2000, 1, 1)  # an older day says: at once
RESULTS = {
    PayeeMatch.MATCH: "RCVC",
    PayeeMatch.CLOSE_MATCH: "RVMC",
    PayeeMatch.NO_MATCH: "RVNM",
    PayeeMatch.NOT_POSSIBLE: "RVNA",
}
_UNNAMED = frozenset(("", "NOTPROVIDED"))
_NAMESPACE = UUID("6f0f4b0c-6a3e-5d1c-9d6b-2a6f0f1b7c11")
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}")


class TransferError(Exception):
    """The order cannot be read; the text is for its sender."""


@dataclass(frozen=True, slots=True)
class TransferDocument:
    message_id: str
    debtor_iban: str
    orders: tuple[Order, ...]
    execution_date: date | None = None

    def find_payment_id(self, login: str) -> UUID:
        """The same message is the same payment, however often it comes. One that is a UUID keeps it."""
        if self.message_id in _UNNAMED:
            return uuid4()
        try:
            return UUID(self.message_id)
        except ValueError:
            return uuid5(_NAMESPACE, f"{login} {self.message_id}")


def read_transfer(data: bytes) -> TransferDocument:
    """A pain.001 of any version: element names are the same in those that count."""
    if b"<!" in data:  # no document type, so no entities that grow
        raise TransferError("Die SEPA-Nachricht darf keine Dokumenttypdefinition enthalten.")
    try:
        root = ElementTree.fromstring(data)  # noqa: S314 (document types are refused above)
    except (ElementTree.ParseError, ValueError, LookupError):
        raise TransferError("Die SEPA-Nachricht ist kein lesbares XML.") from None
    blocks = list(_find_all(root, "PmtInf"))
    if len(blocks) != 1:
        raise TransferError("Die SEPA-Nachricht muss genau einen Auftragsblock enthalten.")
    block = blocks[0]
    orders = tuple(_read_order(element) for element in _find_all(block, "CdtTrfTxInf"))
    if not 0 < len(orders) <= MAX_ORDERS:
        raise TransferError("Die SEPA-Nachricht enthält keine oder zu viele Aufträge.")
    return TransferDocument(
        message_id=_read(root, "GrpHdr", "MsgId"),
        debtor_iban=_read(block, "DbtrAcct", "Id", "IBAN"),
        orders=orders,
        execution_date=_read_day(_read(block, "ReqdExctnDt", "Dt") or _read(block, "ReqdExctnDt")),
    )


def _read_order(element: ElementTree.Element) -> Order:
    amount = next(_find_all(element, "InstdAmt"), None)
    text = "" if amount is None else (amount.text or "").strip()
    iban = _read(element, "CdtrAcct", "Id", "IBAN")
    name = _read(element, "Cdtr", "Nm")
    if not _AMOUNT.fullmatch(text) or amount is None:
        raise TransferError("Der Betrag ist ungültig.")
    if not _IBAN.fullmatch(iban) or not name:
        raise TransferError("IBAN oder Name des Empfängers fehlen.")
    end_to_end = _read(element, "PmtId", "EndToEndId")
    agent = _read(element, "CdtrAgt", "FinInstnId", "BICFI") or _read(element, "CdtrAgt", "FinInstnId", "BIC")
    return Order(
        recipient=name,
        iban=iban,
        amount=_read_amount(text),
        currency=amount.get("Ccy", ""),
        purpose=_read(element, "RmtInf", "Ustrd"),
        bic=agent or None,
        end_to_end_id=None if end_to_end in _UNNAMED else end_to_end,
        purpose_code=_read(element, "Purp", "Cd") or None,
        ultimate_debtor=_read(element, "UltmtDbtr", "Nm") or None,
        ultimate_creditor=_read(element, "UltmtCdtr", "Nm") or None,
    )


def _read_amount(text: str) -> Decimal:
    try:
        return Decimal(text).quantize(Decimal("0.01"))
    except InvalidOperation:
        raise TransferError("Der Betrag ist ungültig.") from None


def _read_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        return None
    return day if day >= NOT_BEFORE else None


def _find_all(element: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    """Descendants of that name, in whatever namespace."""
    return (
        descendant
        for descendant in element.iter()
        if isinstance(descendant.tag, str) and descendant.tag.rpartition("}")[2] == name
    )


def _read(element: ElementTree.Element, *path: str) -> str:
    """The text at the end of a path of children."""
    found: ElementTree.Element | None = element
    for position, name in enumerate(path):
        below = found if found is not None else element
        if position == 0 and name == "GrpHdr":
            found = next(_find_all(below, name), None)
        else:
            found = next((child for child in below if child.tag.rpartition("}")[2] == name), None)
        if found is None:
            return ""
    return "" if found is None else (found.text or "").strip()


def write_report(document: TransferDocument, results: Sequence[PayeeResult], *, has_rows: bool = True) -> bytes:
    """A pain.002 with the result for each payee, or for the block only."""
    counts = {code: sum(RESULTS[result.match] == code for result in results) for code in RESULTS.values()}
    # The whole is as good as its worst part.
    whole = next((code for code in ("RVNM", "RVNA", "RVMC") if counts[code]), "RCVC")
    totals = "".join(
        f"<NbOfTxsPerSts><DtldNbOfTxs>{count}</DtldNbOfTxs><DtldSts>{code}</DtldSts></NbOfTxsPerSts>"
        for code, count in counts.items()
    )
    rows = "".join(
        f"<TxInfAndSts><OrgnlEndToEndId>{escape(order.end_to_end_id or 'NOTPROVIDED')}</OrgnlEndToEndId>"
        f"<TxSts>{RESULTS[result.match]}</TxSts>{_write_suggestion(result)}<OrgnlTxRef>"
        f"<Cdtr><Pty><Nm>{escape(order.recipient)}</Nm></Pty></Cdtr>"
        f"<CdtrAcct><Id><IBAN>{escape(order.iban)}</IBAN></Id></CdtrAcct></OrgnlTxRef></TxInfAndSts>"
        for order, result in zip(document.orders, results, strict=True)
    )
    group_status, block_status = (f"<GrpSts>{whole}</GrpSts>{totals}", rows)
    if not has_rows:
        group_status, block_status = "", f"<PmtInfSts>{whole}</PmtInfSts>"
    number = len(document.orders)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt><GrpHdr>'
        f"<MsgId>VOP{uuid4().hex[:24]}</MsgId></GrpHdr><OrgnlGrpInfAndSts>"
        f"<OrgnlMsgId>{escape(document.message_id)}</OrgnlMsgId><OrgnlMsgNmId>pain.001</OrgnlMsgNmId>"
        f"<OrgnlNbOfTxs>{number}</OrgnlNbOfTxs>{group_status}</OrgnlGrpInfAndSts>"
        f"<OrgnlPmtInfAndSts><OrgnlPmtInfId>{escape(document.message_id)}</OrgnlPmtInfId>{block_status}"
        "</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>"
    ).encode()


def _write_suggestion(result: PayeeResult) -> str:
    if result.suggested_name is None:
        return ""
    return f"<StsRsnInf><AddtlInf>{escape(result.suggested_name)}</AddtlInf></StsRsnInf>"
