"""Account reports (camt.052) and statements (camt.053) in the versions German banks send: 001.02 and 001.08."""

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from xml.sax.saxutils import escape

from kontor.domain.clocks import BERLIN
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:"
USTRD_WIDTH = 140
NAME_WIDTH = 140
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAG = re.compile(r"(?:^| )(EREF|KREF|MREF|CRED|SVWZ)\+")
_DIRECT_DEBITS = frozenset(("104", "105", "107", "108", "109", "171", "174", "181", "184", "193", "195", "197"))


def write_camt052(
    product: Product,
    transactions: Sequence[Transaction],
    opening: Decimal,
    *,
    day: date,
    version: str = "02",
    sequence: int = 1,
    closing: Decimal | None = None,
) -> bytes:
    """An account report up to `day`. Pending transactions are in it, marked as such; no balance counts them.

    `closing` is the balance at the end, if it does not follow from the transactions.
    """
    return _write_document("052", version, product, transactions, opening, day, sequence, closing)


def write_camt053(
    product: Product,
    transactions: Sequence[Transaction],
    opening: Decimal,
    *,
    day: date,
    version: str = "02",
    sequence: int = 1,
) -> bytes:
    """An account statement up to `day`. It knows bookings only: what is pending is left out."""
    booked = [transaction for transaction in transactions if not transaction.is_pending]
    return _write_document("053", version, product, booked, opening, day, sequence)


def _write_document(
    kind: str,
    version: str,
    product: Product,
    rows: Sequence[Transaction],
    opening: Decimal,
    day: date,
    sequence: int,
    closing: Decimal | None = None,
) -> bytes:
    root, name = ("BkToCstmrAcctRpt", "Rpt") if kind == "052" else ("BkToCstmrStmt", "Stmt")
    booked = [row for row in rows if not row.is_pending]
    if closing is None:
        closing = opening + sum((row.amount for row in booked), Decimal(0))
    first = min((find_day(row) or day for row in booked), default=day)
    currency = product.currency or "EUR"
    at = datetime(day.year, day.month, day.day, tzinfo=BERLIN).isoformat()
    message = f"{kind}D{day:%Y%m%d}N{sequence:06d}"
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<Document xmlns="{NAMESPACE}camt.{kind}.001.{version}"><{root}>',
        f"<GrpHdr><MsgId>{message}</MsgId><CreDtTm>{at}</CreDtTm></GrpHdr>",
        f"<{name}><Id>{message}</Id><ElctrncSeqNb>{sequence}</ElctrncSeqNb><CreDtTm>{at}</CreDtTm>",
        _write_account(product, currency, version),
        _write_balance("PRCD" if kind == "052" else "OPBD", opening, currency, first),
        _write_balance("CLBD", closing, currency, day),
        *(_write_entry(row, day, version) for row in rows),
        f"</{name}></{root}></Document>",
    ]
    return "".join(parts).encode()


def _clean(text: str) -> str:
    return escape(_INVALID.sub("", text))


def _element(name: str, text: str | None) -> str:
    return f"<{name}>{_clean(text)}</{name}>" if text else ""


def _write_account(product: Product, currency: str, version: str) -> str:
    number = _element("IBAN", product.iban)
    if not product.iban:
        number = f"<Othr>{_element('Id', (product.account_number or product.key)[:34])}</Othr>"
    bank = _write_bank(product.bic, version)
    if product.bank_code:
        code = f"<ClrSysId><Cd>DEBLZ</Cd></ClrSysId><MmbId>{_clean(product.bank_code)}</MmbId>"
        bank += f"<ClrSysMmbId>{code}</ClrSysMmbId>"
    bank += _element("Nm", product.institution)
    holder = _element("Nm", product.holder[:NAME_WIDTH])
    return (
        f"<Acct><Id>{number}</Id><Ccy>{currency}</Ccy><Ownr>{holder}</Ownr>"
        f"<Svcr><FinInstnId>{bank}</FinInstnId></Svcr></Acct>"
    )


def _write_bank(bic: str | None, version: str) -> str:
    return _element("BIC" if version == "02" else "BICFI", bic)


def _write_amount(amount: Decimal, currency: str) -> str:
    mark = "DBIT" if amount < 0 else "CRDT"
    return f'<Amt Ccy="{currency}">{abs(amount):f}</Amt><CdtDbtInd>{mark}</CdtDbtInd>'


def _write_balance(code: str, amount: Decimal, currency: str, day: date) -> str:
    return (
        f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{_write_amount(amount, currency)}"
        f"<Dt><Dt>{day}</Dt></Dt></Bal>"
    )


def _write_entry(transaction: Transaction, day: date, version: str) -> str:
    status = "PDNG" if transaction.is_pending else "BOOK"
    booked_on = find_day(transaction) or day
    value = (
        ""
        if transaction.value_at is None
        else f"<ValDt><Dt>{transaction.value_at.astimezone(BERLIN).date()}</Dt></ValDt>"
    )
    return (
        f"<Ntry>{_write_amount(transaction.amount, transaction.currency)}"
        f"<Sts>{status if version == '02' else f'<Cd>{status}</Cd>'}</Sts>"
        f"<BookgDt><Dt>{booked_on}</Dt></BookgDt>{value}{_element('AcctSvcrRef', transaction.bank_id)}"
        f"<BkTxCd>{_write_code(transaction)}</BkTxCd>"
        f"<NtryDtls><TxDtls>{_write_details(transaction, version)}</TxDtls></NtryDtls>"
        f"{_element('AddtlNtryInf', transaction.booking_text)}</Ntry>"
    )


def _write_code(transaction: Transaction) -> str:
    """The bank transaction code of ISO, and the German one: SWIFT key, GV code, prima nota."""
    is_debit_note = transaction.gv_code in _DIRECT_DEBITS
    if is_debit_note:
        domain = ("RDDT", "ESDD") if transaction.amount < 0 else ("IDDT", "ESDD")
    else:
        domain = ("ICDT", "ESCT") if transaction.amount < 0 else ("RCDT", "ESCT")
    code = (
        f"<Domn><Cd>PMNT</Cd><Fmly><Cd>{domain[0]}</Cd><SubFmlyCd>{domain[1]}</SubFmlyCd></Fmly></Domn>"
        if transaction.gv_code
        else ""
    )
    if transaction.gv_code or transaction.prima_nota:
        key = "NDDT" if is_debit_note else "NTRF"
        words = "+".join(
            (key, transaction.gv_code or "", *([transaction.prima_nota] if transaction.prima_nota else []))
        )
        code += f"<Prtry><Cd>{_clean(words)}</Cd><Issr>DK</Issr></Prtry>"
    return code


def _split_purpose(purpose: str) -> dict[str, str]:
    """The text by its SEPA tags; untagged text is the remittance information (`SVWZ`)."""
    pieces = _TAG.split(purpose)
    tags = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    if len(tags) != len(pieces) // 2 or pieces[0]:
        return {"SVWZ": purpose}
    return tags


def _write_details(transaction: Transaction, version: str) -> str:
    tags = _split_purpose(transaction.purpose) if transaction.purpose else {}
    refs = _element("EndToEndId", tags.get("EREF")) + _element("MndtId", tags.get("MREF"))
    refs = _element("InstrId", tags.get("KREF")) + refs
    text = tags.get("SVWZ", "")
    chunks = [text[start : start + USTRD_WIDTH] for start in range(0, len(text), USTRD_WIDTH)]
    remittance = "".join(f"<Ustrd>{_clean(chunk)}</Ustrd>" for chunk in chunks)
    amount = f'<Amt Ccy="{transaction.currency}">{abs(transaction.amount):f}</Amt>'
    if version == "02":
        amount = f"<AmtDtls><TxAmt>{amount}</TxAmt></AmtDtls>"
    else:
        amount += f"<CdtDbtInd>{'DBIT' if transaction.amount < 0 else 'CRDT'}</CdtDbtInd>"
    parties, agents = _write_parties(transaction, tags, version)
    return (
        (f"<Refs>{refs}</Refs>" if refs else "")
        + amount
        + parties
        + agents
        + (f"<RmtInf>{remittance}</RmtInf>" if remittance else "")
    )


def _write_parties(transaction: Transaction, tags: dict[str, str], version: str) -> tuple[str, str]:
    """The other side is the creditor of a debit and the debtor of a credit."""
    is_debit = transaction.amount < 0
    name = _element("Nm", (transaction.counterparty_name or "")[:NAME_WIDTH])
    creditor_id = tags.get("CRED")
    identity = ""
    if creditor_id:
        scheme = "<SchmeNm><Prtry>SEPA</Prtry></SchmeNm>"
        identity = f"<Id><PrvtId><Othr>{_element('Id', creditor_id)}{scheme}</Othr></PrvtId></Id>"
    creditor = (name if is_debit else "") + identity
    debtor = "" if is_debit else name
    ultimate = _element("Nm", (transaction.ultimate_counterparty or "")[:NAME_WIDTH])
    account = f"<Id>{_element('IBAN', transaction.counterparty_iban)}</Id>" if transaction.counterparty_iban else ""
    other = "Cdtr" if is_debit else "Dbtr"
    parts = {"Dbtr": _wrap_party(debtor, version), "Cdtr": _wrap_party(creditor, version)}
    parts |= {f"{other}Acct": account, f"Ultmt{other}": _wrap_party(ultimate, version)}
    order = ("Dbtr", "DbtrAcct", "UltmtDbtr", "Cdtr", "CdtrAcct", "UltmtCdtr")
    parties = "".join(f"<{name}>{parts[name]}</{name}>" for name in order if parts.get(name))
    bic = _write_bank(transaction.counterparty_bic, version)
    agents = f"<RltdAgts><{other}Agt><FinInstnId>{bic}</FinInstnId></{other}Agt></RltdAgts>" if bic else ""
    return (f"<RltdPties>{parties}</RltdPties>" if parties else ""), agents


def _wrap_party(content: str, version: str) -> str:
    return content if version == "02" or not content else f"<Pty>{content}</Pty>"
