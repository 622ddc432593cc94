"""Statement files of a demo person's account, as banks would write them."""

import io
import zipfile
from dataclasses import replace
from datetime import date
from decimal import Decimal

from kontor.connectors.demo.people import person_for
from kontor.demobank.statements import write_camt052, write_camt053, write_mt940
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day

DAY = date(2026, 11, 13)
CSV_HEAD = (
    "Auftragskonto;Buchungstag;Valutadatum;Buchungstext;Verwendungszweck;Glaeubiger ID;Mandatsreferenz;"
    "Kundenreferenz (End-to-End);Sammlerreferenz;Lastschrift Ursprungsbetrag;Auslagenersatz Ruecklastschrift;"
    "Beguenstigter/Zahlungspflichtiger;Kontonummer/IBAN;BIC (SWIFT-Code);Betrag;Waehrung;Info"
)


def find_account(name: str = "student") -> tuple[Product, list[Transaction]]:
    """The first account, with what it has booked."""
    person = person_for(name, DAY)
    assert person is not None
    account = person.accounts[0]
    rows = [entry.transaction for entry in account.entries if not entry.transaction.is_pending]
    return account.product, rows


def take(rows: list[Transaction], since: date, until: date) -> list[Transaction]:
    return [row for row in rows if since <= (find_day(row) or date.min) <= until]


def write(form: str, product: Product, rows: list[Transaction]) -> bytes:
    writers = {"mt940": write_mt940, "camt.052": write_camt052, "camt.053": write_camt053}
    return writers[form](product, rows, Decimal("100.00"), day=DAY)


def write_csv(product: Product, *rows: tuple[str, str, str]) -> bytes:
    """As Sparkassen export it: day, payee, amount."""
    lines = [
        f'"{product.iban}";"{day}";"{day}";"LASTSCHRIFT";"SVWZ+Rechnung {number}";"";"";"";"";"";"";"{payee}";'
        f'"DE89370400440532013000";"COBADEFFXXX";"{amount}";"EUR";"Umsatz gebucht"'
        for number, (day, payee, amount) in enumerate(rows)
    ]
    return "\r\n".join([CSV_HEAD.replace(";", '";"').join(['"', '"']), *lines, ""]).encode("cp1252")


def write_bank_csv(bank: str, payee: str, amount: str, day: str = "02.11.2026") -> bytes:
    """A download that names no account, of DKB, N26 or comdirect: one booking."""
    heads = {
        "dkb": '"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";'
        '"Verwendungszweck";"Umsatztyp";"IBAN";"Betrag (€)";"Gläubiger-ID";"Mandatsreferenz";"Kundenreferenz"',
        "n26": '"Booking Date","Value Date","Partner Name","Partner Iban","Type","Payment Reference","Amount (EUR)"',
        "comdirect": '"Buchungstag";"Wertstellung (Valuta)";"Vorgang";"Buchungstext";"Umsatz in EUR";',
    }
    iso = "-".join(reversed(day.split(".")))
    rows = {
        "dkb": f'"{day}";"{day}";"Gebucht";"Ich";"{payee}";"Kauf";"Ausgang";"";"{amount}";"";"";""',
        "n26": f'"{iso}","{iso}","{payee}","","Presentment","Kauf","{amount.replace(".", "").replace(",", ".")}"',
        "comdirect": f'"{day}";"{day}";"Lastschrift";"Auftraggeber: {payee} Buchungstext: Kauf";"{amount}";',
    }
    return f"{heads[bank]}\n{rows[bank]}\n".encode()


def pack(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def of_another_account(product: Product) -> Product:
    return replace(product, iban="DE89370400440532013000", account_number="532013000", bank_code="37040044")
