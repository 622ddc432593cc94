"""Files of our own making, one or several for each parser: what mutations begin with."""

import json
import sys
import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from kontor.connectors.demo.people import person_for
from kontor.connectors.pain001 import Batch, write_pain001
from kontor.connectors.pain008 import DebitBatch, write_pain008
from kontor.connectors.pain_messages import Party
from kontor.demobank.statements import write_camt052, write_camt053, write_mt535, write_mt940, write_mt942
from kontor.domain.mandates import DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.payments import Order

ROOT = Path(__file__).parents[2]
TODAY = date(2026, 11, 13)
NOON = datetime(2026, 11, 13, 11, tzinfo=UTC)
IBAN = "DE89370400440532013000"
OFX_ROW = (
    "<STMTTRN>\n<TRNTYPE>DEBIT\n<DTPOSTED>2026110{day}120000.000[0:GMT]\n<TRNAMT>-{day}.50\n<FITID>a-{day}\n"
    "<NAME>Laden &amp; Co\n<MEMO>Einkauf &lt;{day}\n</STMTTRN>\n"
)
OFX = (
    "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nENCODING:USASCII\nCHARSET:1252\n\n<OFX>\n<STMTRS>\n<CURDEF>EUR\n"
    "<BANKACCTFROM>\n<BANKID>50010517\n<ACCTID>0137075030\n</BANKACCTFROM>\n<BANKTRANLIST>\n<DTSTART>20261101\n"
    "<DTEND>20261130\n{rows}</BANKTRANLIST>\n<LEDGERBAL>\n<BALAMT>1600.00\n<DTASOF>20261105\n</LEDGERBAL>\n"
    "</STMTRS>\n</OFX>\n"
)
QIF = (
    "!Account\nNGirokonto\nTBank\n^\n!Type:Bank\n"
    + "".join(f"D0{day}.11.2026\nT-{day},50\nPLaden {day}\nMEinkauf\nLEssen\n^\n" for day in range(1, 6))
    + "D06.11.2026\nT1.500,00\nPArbeit AG\nSTeil\n$1.000,00\nSRest\n$500,00\n^\n"
)


@cache
def list_samples() -> dict[str, tuple[bytes, ...]]:
    """By parser."""
    statements = _write_statements()
    csv = tuple(file.read_bytes() for file in sorted((ROOT / "tests/connectors/statements/downloads").glob("*.csv")))
    ofx = OFX.format(rows="".join(OFX_ROW.format(day=day) for day in range(1, 5))).encode("cp1252")
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, sample in enumerate((statements["camt"][0], statements["MT940"][0])):
            archive.writestr(f"{number}.txt", sample)
    return statements | {
        "CSV": csv,
        "OFX": (ofx, ofx.replace(b"OFXHEADER:100", b'<?xml version="1.0"?>')),
        "QIF": (QIF.encode("cp1252"), QIF.encode()),
        "PDF": _write_pdfs(),
        "zip": (packed.getvalue(),),
        "pain.001": _write_transfers(),
        "pain.008": _write_debits(),
        "FinTS": tuple(_read_answers("demo-fints")),
        "XS2A": tuple(_read_answers("demo-xs2a")),
    }


def _write_statements() -> dict[str, tuple[bytes, ...]]:
    person = person_for("vermoegend", TODAY)
    assert person is not None
    account = person.accounts[0]
    depot = next(candidate for candidate in person.accounts if candidate.positions)
    rows = [entry.transaction for entry in account.entries]
    some, opening = [*rows[100:103], *rows[-3:]], Decimal("1.00")
    return {
        "MT940": (
            write_mt940(account.product, some, opening, day=TODAY),
            write_mt942(account.product, some, day=TODAY),
        ),
        "camt": (
            write_camt052(account.product, some, opening, day=TODAY),
            write_camt053(account.product, some[:3], opening, day=TODAY, version="08"),
        ),
        "MT535": (write_mt535(depot.product, depot.positions[:3], day=TODAY),),
    }


def _write_pdfs() -> tuple[bytes, ...]:
    """By the writers of the tests."""
    folder = str(ROOT / "tests/connectors/statements")
    sys.path.insert(0, folder)
    try:
        import pdf_statements
        import test_statement_pdf as cases
        from pdf_writing import write_pdf
    finally:
        sys.path.remove(folder)
    makers = {
        pdf_statements.make_ing: cases.ING_ROWS,
        pdf_statements.make_dkb: cases.DKB_ROWS,
        pdf_statements.make_dkb_card: cases.DKB_CARD_ROWS,
        pdf_statements.make_old_dkb: cases.OLD_DKB_ROWS,
        pdf_statements.make_trade_republic: cases.TRADE_REPUBLIC_ROWS,
    }
    pages = [make(rows) for make, rows in makers.items()]
    return tuple(write_pdf(*page, is_compressed=packed) for page in pages for packed in (False, True))


def _make_orders() -> tuple[Order, ...]:
    return tuple(
        Order(f"Laden {number}", IBAN, Decimal(number) / 4, purpose=f"Rechnung {number}", bic="COBADEFFXXX")
        for number in range(1, 4)
    )


def _write_transfers() -> tuple[bytes, ...]:
    party = Party("Anna Muster", IBAN, "COBADEFFXXX")
    return (
        write_pain001(party, Batch("1", _make_orders(), TODAY, is_bulk=True), NOON),
        write_pain001(party, Batch("2", _make_orders()[:1], TODAY, is_instant=True), NOON),
    )


def _write_debits() -> tuple[bytes, ...]:
    orders = _make_orders()
    mandates = tuple(Mandate(f"M{number}", date(2025, 1, number + 1)) for number in range(len(orders)))
    debit = DebitInstruction(DebitScheme.CORE, "DE98ZZZ09999999999", SequenceType.RCUR, mandates)
    return (write_pain008(Party("Verein", IBAN, "COBADEFFXXX"), DebitBatch("3", orders, debit, TODAY), NOON),)


@cache
def load_trace(name: str) -> dict[str, Any]:
    trace: dict[str, Any] = json.loads((ROOT / f"tests/traces/recorded/{name}.json").read_text())
    return trace


@cache
def _read_answers(name: str) -> list[bytes]:
    """Of a recorded dialogue, in their order."""
    from kontor.connectors.traces.fints_messages import read_message

    answers = [exchange["answer"] for exchange in load_trace(name)["exchanges"]]
    if name == "demo-fints":
        return [read_message(answer) for answer in answers]
    bodies = (answer.get("body", "") for answer in answers)
    return [(body if isinstance(body, str) else json.dumps(body)).encode() for body in bodies]
